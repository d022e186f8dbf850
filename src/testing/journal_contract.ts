import { AgentCancelledError } from "../base/abort.ts";
import {
  JournalReplacedError,
  SessionStorageError,
} from "../session/errors.ts";
import type {
  JournalAppendResult,
  JournalBackend,
  JournalEntry,
  JournalPosition,
} from "../session/journal.ts";
import {
  type ContractCase,
  expect,
  expectEqual,
  expectRejection,
} from "./contract.ts";

/** A backend on a fresh, empty medium, and what can be done to it. */
export interface JournalUnderTest {
  /** The backend. */
  readonly backend: JournalBackend;
  /**
   * Another client of the same medium, as another program would open it.
   * Omit it for media that nobody else can reach.
   */
  reopen?(): JournalBackend | Promise<JournalBackend>;
  /**
   * Begins to append an entry and dies in the middle of it, as a killed program
   * does. Omit it if that cannot be arranged.
   */
  dieWhileAppending?(
    sessionId: string,
    entry: JournalEntry,
  ): void | Promise<void>;
  /** Releases the medium. */
  close?(): void | Promise<void>;
}

/**
 * The promises of {@linkcode JournalBackend}, as cases for any test runner.
 *
 * @param make Makes a backend on a fresh medium, once per case.
 *
 * @example Register the cases with a runner
 * ```ts ignore
 * import { MemoryJournal } from "@ejagent/core";
 * import { journalContract } from "@ejagent/core/testing";
 * import test from "node:test";
 *
 * for (const { name, run } of journalContract(() => ({ backend: new MemoryJournal() }))) {
 *   test(`memory: ${name}`, run);
 * }
 * ```
 */
export function journalContract(
  make: () => JournalUnderTest | Promise<JournalUnderTest>,
): readonly ContractCase[] {
  return Object.entries(promises).map(([name, check]) => ({
    name,
    async run() {
      const journal = await make();
      try {
        await check(journal);
      } finally {
        await journal.close?.();
      }
    },
  }));
}

type Check = (journal: JournalUnderTest) => Promise<void>;

const s = "contract-session";

const promises: Readonly<Record<string, Check>> = {
  async "a session that was never written has no lines"({ backend }) {
    expectEqual(await linesOf(backend, s), [], "lines");
    expectEqual(await linesOf(backend, s), [], "lines after reading");
  },

  async "the first line is stored and read back"({ backend }) {
    const first = entryAfter(null, "a");
    expectEqual(await backend.append(s, first), { ok: true }, "append");
    expectEqual(await linesOf(backend, s), [first.line], "lines");
  },

  async "lines are read in order from any line on"({ backend }) {
    const entries = await fill(backend, s, 5);
    for (const [index, entry] of entries.entries()) {
      const expected = entries.slice(index + 1).map(({ line }) => line);
      expectEqual(
        await linesOf(backend, s, positionOf(entry)),
        expected,
        `after ${index + 1}`,
      );
    }
  },

  async "a line that leaves a gap is refused"({ backend }) {
    const [first] = await fill(backend, s, 1);
    const stray = entryAfter({ revision: 4, recordId: "d" }, "e");
    expectEqual(await backend.append(s, stray), refusal(first), "append");
    expectEqual((await linesOf(backend, s)).length, 1, "number of lines");
  },

  async "a revision is given once"({ backend }) {
    const entries = await fill(backend, s, 2);
    const late = entryAfter(positionOf(entries[0]!), "late");
    expectEqual(await backend.append(s, late), refusal(entries[1]), "append");
    const again = await backend.append(s, entryAfter(null, "again"));
    expectEqual(again, refusal(entries[1]), "append to an empty journal");
    expectEqual(
      await linesOf(backend, s),
      entries.map(({ line }) => line),
      "lines",
    );
  },

  async "the last line must be the very record that the writer knows"(
    { backend },
  ) {
    const [first] = await fill(backend, s, 1);
    const stranger = entryAfter({ revision: 1, recordId: "stranger" }, "b");
    expectEqual(await backend.append(s, stranger), refusal(first), "append");
  },

  async "a reader is told that its last line is gone"({ backend }) {
    const [first, second] = await fill(backend, s, 2);
    const gone: readonly JournalPosition[] = [
      { revision: 2, recordId: "stranger" },
      { revision: 3, recordId: second!.recordId },
      { revision: 1, recordId: second!.recordId },
    ];
    for (const after of gone) {
      await expectRejection(
        () => linesOf(backend, s, after),
        JournalReplacedError,
      );
    }
    expectEqual(
      await linesOf(backend, s, positionOf(first!)),
      [second!.line],
      "lines",
    );
  },

  async "of two writers that want the same place one wins"(journal) {
    const [one, other] = await clients(journal, 2);
    const [first] = await fill(one!, s, 1);
    const answers = await Promise.all([
      one!.append(s, entryAfter(positionOf(first!), "mine")),
      other!.append(s, entryAfter(positionOf(first!), "yours")),
    ]);
    expectEqual(answers.filter(({ ok }) => ok).length, 1, "number of winners");
    const winner = answers[0]!.ok ? "mine" : "yours";
    const loser = answers.find(({ ok }) => !ok);
    expectEqual(
      loser,
      { ok: false, last: { revision: 2, recordId: winner } },
      "loser's answer",
    );
    expectEqual((await linesOf(one!, s)).length, 2, "number of lines");
  },

  async "fifty writes of five clients at once lose nothing"(journal) {
    const writers = await clients(journal, 5);
    await Promise.all(writers.map(async (writer, index) => {
      for (let count = 0; count < 10; count++) {
        await insist(writer, `${index}-${count}`);
      }
    }));
    for (const writer of writers) {
      const ids = (await linesOf(writer, s)).map((line) =>
        JSON.parse(line).record_id as string
      );
      expectEqual(ids.length, 50, "number of lines");
      expectEqual(new Set(ids).size, 50, "number of different records");
    }
  },

  async "clients see each other's lines at once"(journal) {
    const [one, other] = await clients(journal, 2);
    const first = entryAfter(null, "a");
    await one!.append(s, first);
    expectEqual(await linesOf(other!, s), [first.line], "lines of the other");
    const second = entryAfter(positionOf(first), "b");
    expectEqual(
      await other!.append(s, second),
      { ok: true },
      "append of the other",
    );
    expectEqual(
      await linesOf(one!, s, positionOf(first)),
      [second.line],
      "new lines",
    );
    expectEqual(
      await one!.append(s, entryAfter(positionOf(second), "c")),
      { ok: true },
      "append of the first",
    );
  },

  async "lines outlive the client"(journal) {
    if (journal.reopen === undefined) return;
    const entries = await fill(journal.backend, s, 3);
    const reopened = await journal.reopen();
    expectEqual(
      await linesOf(reopened, s),
      entries.map(({ line }) => line),
      "lines",
    );
    const next = entryAfter(positionOf(entries[2]!), "next");
    expectEqual(await reopened.append(s, next), { ok: true }, "append");
  },

  async "every text comes back unit by unit"({ backend }) {
    let last: JournalPosition | null = null;
    const written: string[] = [];
    for (const text of awkwardTexts) {
      const entry = entryAfter(last, `r${written.length}`, text);
      expectEqual(await backend.append(s, entry), { ok: true }, "append");
      last = positionOf(entry);
      written.push(entry.line);
    }
    const found = await linesOf(backend, s);
    expectEqual(found.length, written.length, "number of lines");
    found.forEach((line, index) =>
      expect(line === written[index], `Line ${index + 1} changed`)
    );
  },

  async "a line of three mebibytes comes back"({ backend }) {
    const { maxRecordBytes } = backend.capabilities;
    const before = entryAfter(null, "a");
    const long = entryAfter(
      positionOf(before),
      "b",
      "0123456789abcdef".repeat(196_608),
    );
    const after = entryAfter(positionOf(long), "c");
    if (maxRecordBytes !== null && maxRecordBytes < long.line.length) return;
    for (const entry of [before, long, after]) await backend.append(s, entry);
    const found = await linesOf(backend, s);
    expectEqual(found.length, 3, "number of lines");
    expect(found[1] === long.line, "The long line changed");
  },

  async "a line that is too long is refused and leaves nothing"({ backend }) {
    const { maxRecordBytes } = backend.capabilities;
    if (maxRecordBytes === null || maxRecordBytes > 2 ** 26) return;
    const long = entryAfter(null, "a", "x".repeat(maxRecordBytes + 1));
    await expectRejection(() => backend.append(s, long), SessionStorageError);
    expectEqual(await linesOf(backend, s), [], "lines");
  },

  async "more than a thousand lines are read in order, without repetition"(
    { backend },
  ) {
    const entries = await fill(backend, s, 1100);
    const found = await linesOf(backend, s);
    expectEqual(found.length, entries.length, "number of lines");
    const places = found.map((line) => JSON.parse(line).revision as number);
    expect(
      places.every((place, index) => place === index + 1),
      "Lines are out of order",
    );
  },

  async "a reader that waits holds nobody up, and may leave"({ backend }) {
    const entries = await fill(backend, s, 3);
    const reading = backend.read(s, null)[Symbol.asyncIterator]();
    const { value } = await reading.next();
    expectEqual(value?.[0], entries[0]!.line, "first line");
    const next = entryAfter(positionOf(entries[2]!), "next");
    expectEqual(
      await backend.append(s, next),
      { ok: true },
      "append while reading",
    );
    await reading.return?.();
    expectEqual((await linesOf(backend, s)).length, 4, "number of lines");
  },

  async "sessions do not touch each other, whatever their ids"({ backend }) {
    for (const id of awkwardIds) await fill(backend, id, 1, id);
    for (const id of awkwardIds) {
      const [line, ...more] = await linesOf(backend, id);
      expectEqual(JSON.parse(line!).text, id, "text of the line");
      expectEqual(more, [], "further lines");
    }
  },

  async "a call with an aborted signal stores and reads nothing"({ backend }) {
    const signal = AbortSignal.abort(new Error("enough"));
    const first = entryAfter(null, "a");
    await expectRejection(
      () => backend.append(s, first, { signal }),
      AgentCancelledError,
    );
    expectEqual(await linesOf(backend, s), [], "lines");
    await backend.append(s, first);
    await expectRejection(
      () => linesOf(backend, s, null, signal),
      AgentCancelledError,
    );
  },

  async "the newest checkpoint is found"({ backend }) {
    if (backend.findCheckpoint === undefined) return;
    expectEqual(await backend.findCheckpoint(s), null, "checkpoint of nothing");
    const entries = await fill(backend, s, 2);
    expectEqual(
      await backend.findCheckpoint(s),
      null,
      "checkpoint of plain lines",
    );
    let last = positionOf(entries[1]!);
    for (const recordId of ["first", "second"]) {
      const checkpoint = checkpointAfter(last, recordId);
      await backend.append(s, checkpoint);
      await backend.append(
        s,
        entryAfter(positionOf(checkpoint), `${recordId}-next`),
      );
      last = {
        revision: checkpoint.revision + 1,
        recordId: `${recordId}-next`,
      };
      const { revision, line } = checkpoint;
      expectEqual(
        await backend.findCheckpoint(s),
        { revision, line },
        "checkpoint",
      );
    }
  },

  async "a writer that dies in the middle of a line leaves nothing of it"(
    journal,
  ) {
    if (journal.dieWhileAppending === undefined) return;
    const [first] = await fill(journal.backend, s, 1);
    const lost = entryAfter(positionOf(first!), "lost");
    await journal.dieWhileAppending(s, lost);
    const reopened = await journal.reopen?.() ?? journal.backend;
    expectEqual(await linesOf(reopened, s), [first!.line], "lines");
    const next = entryAfter(positionOf(first!), "next");
    expectEqual(await reopened.append(s, next), { ok: true }, "append");
    expectEqual(
      await linesOf(reopened, s),
      [first!.line, next.line],
      "lines afterwards",
    );
  },
};

const awkwardTexts: readonly string[] = [
  "",
  'tab\t line\n return\r quote" backslash\\ bell\u0007 null\u0000 delete\u007f',
  "line separator \u2028 paragraph separator \u2029 next line \u0085",
  "天气晴朗 👩‍👩‍👧‍👦🚀 𠜎 e\u0301 é",
  "byte order mark \ufeff in the middle",
  "half a pair \ud83d alone, the other half \udc00",
  "'single', `back`, $1, %s, -- comment; DROP TABLE journal",
  "x".repeat(70_000),
  "界".repeat(400_000),
];

const awkwardIds: readonly string[] = [
  "plain",
  "Plain",
  "../../outside",
  "a/b",
  "a",
  "a\u0000b",
  "caf\u00e9",
  "cafe\u0301",
  "🚀 and 'quotes'",
  "con",
  "x".repeat(1000),
];

/** An entry whose line is what a backend may meet: canonical JSON with the usual members. */
function entryAfter(
  after: JournalPosition | null,
  recordId: string,
  text = "",
): JournalEntry {
  const revision = (after?.revision ?? 0) + 1;
  const line = JSON.stringify({
    agent_id: "contract",
    branch_id: "main",
    record_id: recordId,
    revision,
    text,
    type: "run_started",
  });
  return { after, revision, recordId, line, checkpoint: false };
}

function checkpointAfter(
  after: JournalPosition,
  recordId: string,
): JournalEntry {
  const entry = entryAfter(after, recordId);
  const line = entry.line.replace("run_started", "checkpoint");
  return { ...entry, line, checkpoint: true };
}

function positionOf({ revision, recordId }: JournalEntry): JournalPosition {
  return { revision, recordId };
}

function refusal(last: JournalEntry | undefined): JournalAppendResult {
  return { ok: false, last: last === undefined ? null : positionOf(last) };
}

async function linesOf(
  backend: JournalBackend,
  sessionId: string,
  after: JournalPosition | null = null,
  signal?: AbortSignal,
): Promise<string[]> {
  const found: string[] = [];
  for await (const lines of backend.read(sessionId, after, { signal })) {
    found.push(...lines);
  }
  return found;
}

/** Stores a number of lines. */
async function fill(
  backend: JournalBackend,
  sessionId: string,
  count: number,
  text = "",
): Promise<JournalEntry[]> {
  const entries: JournalEntry[] = [];
  while (entries.length < count) {
    const last = entries.at(-1);
    const after = last === undefined ? null : positionOf(last);
    const entry = entryAfter(after, `record-${entries.length + 1}`, text);
    expectEqual(await backend.append(sessionId, entry), { ok: true }, "append");
    entries.push(entry);
  }
  return entries;
}

/** Appends a record, reading on for as long as others are faster. */
async function insist(
  backend: JournalBackend,
  recordId: string,
): Promise<void> {
  let last: JournalPosition | null = null;
  for (;;) {
    const answer = await backend.append(s, entryAfter(last, recordId));
    if (answer.ok) return;
    for await (const lines of backend.read(s, last)) {
      for (const line of lines) {
        const revision: number = (last?.revision ?? 0) + 1;
        last = { revision, recordId: JSON.parse(line).record_id };
      }
    }
  }
}

async function clients(
  journal: JournalUnderTest,
  count: number,
): Promise<JournalBackend[]> {
  const found = [journal.backend];
  while (found.length < count) {
    found.push(await journal.reopen?.() ?? journal.backend);
  }
  return found;
}
