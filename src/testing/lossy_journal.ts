import type {
  JournalAppendResult,
  JournalBackend,
  JournalCallOptions,
  JournalCapabilities,
  JournalEntry,
  JournalPosition,
} from "../session/journal.ts";

/**
 * A journal behind a bad line: every other append fails, and nobody is told
 * whether the line was stored.
 */
export class LossyJournal implements JournalBackend {
  /** As the journal behind it. */
  readonly capabilities: JournalCapabilities;
  readonly #journal: JournalBackend;
  readonly #moment: "before" | "after";
  #appendCount = 0;

  /**
   * Makes the line bad.
   *
   * @param moment When the line breaks: before the append reaches the journal,
   * or after it was stored.
   */
  constructor(journal: JournalBackend, moment: "before" | "after") {
    this.capabilities = journal.capabilities;
    this.#journal = journal;
    this.#moment = moment;
  }

  /** Reads from the journal; this always works. */
  read(
    sessionId: string,
    after: JournalPosition | null,
    options?: JournalCallOptions,
  ): AsyncIterable<readonly string[]> {
    return this.#journal.read(sessionId, after, options);
  }

  /** Appends to the journal, or fails. */
  async append(
    sessionId: string,
    entry: JournalEntry,
    options?: JournalCallOptions,
  ): Promise<JournalAppendResult> {
    const isBroken = ++this.#appendCount % 2 === 1;
    if (isBroken && this.#moment === "before") {
      throw new Error("The connection was lost");
    }
    const answer = await this.#journal.append(sessionId, entry, options);
    if (isBroken) throw new Error("The connection was lost");
    return answer;
  }
}
