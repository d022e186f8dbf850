import { OpenJournal, type OpenJournalOptions } from "./open_journal.ts";

/** The journals that a storage holds in memory; the least recently used leave first. */
export class JournalCache {
  readonly #options: OpenJournalOptions;
  readonly #capacity: number;
  readonly #journals = new Map<string, OpenJournal>();

  /** @param capacity How many idle journals stay; 0 for none. */
  constructor(options: OpenJournalOptions, capacity: number) {
    this.#options = options;
    this.#capacity = capacity;
  }

  /** The journal of a session, opened if need be. */
  get(sessionId: string): OpenJournal {
    const known = this.#journals.get(sessionId);
    const stays = known !== undefined && (known.busy || this.#capacity > 0);
    const journal = stays ? known : new OpenJournal(sessionId, this.#options);
    this.#journals.delete(sessionId);
    this.#journals.set(sessionId, journal);
    this.#dropIdle();
    return journal;
  }

  /** Forgets all journals. */
  clear(): void {
    this.#journals.clear();
  }

  // A journal in use stays, so that its operations keep following one another.
  #dropIdle(): void {
    for (const [sessionId, journal] of this.#journals) {
      if (this.#journals.size <= Math.max(1, this.#capacity)) return;
      if (!journal.busy) this.#journals.delete(sessionId);
    }
  }
}
