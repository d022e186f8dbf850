import { throwIfAborted } from "../base/abort.ts";
import { frozen } from "../base/freeze.ts";
import {
  isSamePosition,
  type JournalAppendResult,
  type JournalBackend,
  type JournalCallOptions,
  type JournalCapabilities,
  type JournalEntry,
  type JournalLine,
  type JournalPosition,
} from "./journal.ts";
import { JournalReplacedError } from "./errors.ts";
import type { JournalStorageOptions } from "./storage.ts";
import { JournalTreeStorage } from "./tree_storage.ts";

interface StoredLine {
  readonly recordId: string;
  readonly line: string;
}

interface StoredJournal {
  readonly lines: StoredLine[];
  checkpoint: JournalLine | null;
}

/**
 * Journals in the memory of this program; several storages may share one.
 *
 * @example Two storages that see each other's records
 * ```ts
 * import { AgentSession, JournalTreeStorage, MemoryJournal } from "@ejagent/core";
 * import { equal } from "node:assert/strict";
 *
 * const journal = new MemoryJournal();
 * await new JournalTreeStorage(journal).save(new AgentSession("s1", "helper"));
 * const session = await new JournalTreeStorage(journal).load("s1");
 * equal(session?.agentId, "helper");
 * ```
 */
export class MemoryJournal implements JournalBackend {
  /** Lines last as long as the object. */
  readonly capabilities: JournalCapabilities = frozen({
    conditionalAppend: "strict",
    durability: "process",
    sharedWriters: "object",
    maxRecordBytes: null,
  });
  readonly #journals = new Map<string, StoredJournal>();

  /** Reads the lines behind a known one. */
  async *read(
    sessionId: string,
    after: JournalPosition | null,
    options: JournalCallOptions = {},
  ): AsyncGenerator<readonly string[]> {
    throwIfAborted(options.signal);
    const lines = this.#journals.get(sessionId)?.lines ?? [];
    if (
      after !== null && lines[after.revision - 1]?.recordId !== after.recordId
    ) {
      throw new JournalReplacedError(sessionId);
    }
    const found = lines.slice(after?.revision ?? 0).map(({ line }) => line);
    if (found.length > 0) yield found;
  }

  /** Stores a line if the journal still ends where the writer thinks. */
  async append(
    sessionId: string,
    entry: JournalEntry,
    options: JournalCallOptions = {},
  ): Promise<JournalAppendResult> {
    throwIfAborted(options.signal);
    const journal = this.#journals.get(sessionId) ??
      { lines: [], checkpoint: null };
    const last = lastOf(journal);
    if (!isSamePosition(last, entry.after)) {
      return await Promise.resolve({ ok: false, last });
    }
    const { revision, recordId, line } = entry;
    journal.lines.push({ recordId, line });
    if (entry.checkpoint) journal.checkpoint = { revision, line };
    this.#journals.set(sessionId, journal);
    return { ok: true };
  }

  /** Finds the newest checkpoint of `main`. */
  async findCheckpoint(
    sessionId: string,
    options: JournalCallOptions = {},
  ): Promise<JournalLine | null> {
    throwIfAborted(options.signal);
    return await Promise.resolve(
      this.#journals.get(sessionId)?.checkpoint ?? null,
    );
  }

  /** Drops a journal. @returns False if there was none. */
  delete(sessionId: string): boolean {
    return this.#journals.delete(sessionId);
  }
}

/**
 * Sessions in the memory of this program, with everything that a durable
 * storage can do but last.
 *
 * @example
 * ```ts
 * import { AgentSession, MemorySessionStorage } from "@ejagent/core";
 * import { equal } from "node:assert/strict";
 *
 * const storage = new MemorySessionStorage();
 * await storage.save(new AgentSession("s1", "helper"));
 * equal((await storage.load("s1"))?.agentId, "helper");
 * equal(await storage.load("s2"), null);
 * ```
 */
export class MemorySessionStorage extends JournalTreeStorage {
  /** Makes an empty storage. @param options As for every storage over a journal. */
  constructor(options: JournalStorageOptions = {}) {
    super(new MemoryJournal(), options);
  }
}

function lastOf({ lines }: StoredJournal): JournalPosition | null {
  const last = lines.at(-1);
  return last === undefined
    ? null
    : { revision: lines.length, recordId: last.recordId };
}
