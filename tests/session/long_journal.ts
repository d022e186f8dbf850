import type {
  JournalAppendResult,
  JournalBackend,
  JournalCapabilities,
  JournalEntry,
} from "../../src/session/journal.ts";
import { MemoryJournal } from "../../src/session/memory.ts";
import { JournalTreeStorage } from "../../src/session/tree_storage.ts";
import { linesOf } from "../../src/testing/journal_subject.ts";
import { answered, s, started } from "../../src/testing/session_drafts.ts";

/** A journal that makes its lines up while it is read: a run with one long answer after the other, the same each time. */
export class LongJournal implements JournalBackend {
  /** Lines that are given out together. */
  static readonly pageLength = 8;
  readonly capabilities: JournalCapabilities = new MemoryJournal().capabilities;
  /** Lines given out so far. */
  givenCount = 0;
  readonly #lineCount: number;
  readonly #answerLength: number;
  readonly #beginning: Promise<readonly string[]> = beginning();

  constructor(lineCount: number, answerLength: number) {
    this.#lineCount = lineCount;
    this.#answerLength = answerLength;
  }

  async *read(): AsyncGenerator<readonly string[]> {
    const [first, second] = await this.#beginning;
    const record = JSON.parse(second!);
    let parentId = JSON.parse(first!).record_id;
    let page = [first!];
    for (let revision = 2; revision <= this.#lineCount; revision++) {
      const recordId = `record-${revision}`;
      const content = `${revision} `.padEnd(this.#answerLength, "x");
      record.data.message.content = content;
      const place = { revision, record_id: recordId, parent_id: parentId };
      page.push(JSON.stringify({ ...record, ...place }));
      parentId = recordId;
      if (page.length < LongJournal.pageLength) continue;
      this.givenCount += page.length;
      yield page;
      page = [];
    }
    this.givenCount += page.length;
    yield page;
  }

  append(): Promise<JournalAppendResult> {
    throw new TypeError("A journal that is made up takes no lines");
  }
}

/** A journal that takes every line and keeps none. */
export function forgetfulJournal(
  see: (entry: JournalEntry) => void | Promise<void>,
): JournalBackend {
  return {
    capabilities: new MemoryJournal().capabilities,
    async *read() {},
    async append(_sessionId, entry) {
      await see(entry);
      return { ok: true };
    },
  };
}

async function beginning(): Promise<readonly string[]> {
  const backend = new MemoryJournal();
  const storage = new JournalTreeStorage(backend);
  await storage.append(started("r1"));
  await storage.append(answered("r1", 2, "…"));
  return await linesOf(backend, null, { sessionId: s });
}
