import type {
  JournalAppendResult,
  JournalCallOptions,
  JournalEntry,
  JournalPosition,
} from "../../src/session/journal.ts";
import { MemoryJournal } from "../../src/session/memory.ts";

/** A journal in memory that counts what is asked of it and can be held up. */
export class CountingJournal extends MemoryJournal {
  /** Lines given out so far. */
  lineCount = 0;
  /** Calls of `read` so far. */
  readCount = 0;
  /** Calls of `append` so far. */
  appendCount = 0;
  /** Awaited before an append reaches the journal. */
  beforeAppend: (entry: JournalEntry) => void | Promise<void> = () => {};
  /** Awaited before a read begins. */
  beforeRead: () => void | Promise<void> = () => {};

  override async *read(
    sessionId: string,
    after: JournalPosition | null,
    options?: JournalCallOptions,
  ): AsyncGenerator<readonly string[]> {
    this.readCount++;
    await this.beforeRead();
    for await (const lines of super.read(sessionId, after, options)) {
      this.lineCount += lines.length;
      yield lines;
    }
  }

  override async append(
    sessionId: string,
    entry: JournalEntry,
    options?: JournalCallOptions,
  ): Promise<JournalAppendResult> {
    this.appendCount++;
    await this.beforeAppend(entry);
    return await super.append(sessionId, entry, options);
  }
}
