import { AgentCancelledError } from "../base/abort.ts";
import {
  JournalReplacedError,
  SessionStorageError,
} from "../session/errors.ts";
import type { JournalPosition } from "../session/journal.ts";
import { expect, expectEqual, expectRejection } from "./contract.ts";
import {
  awkwardIds,
  awkwardTexts,
  checkpointAfter,
  clients,
  entryAfter,
  fill,
  insist,
  type JournalCheck,
  linesOf,
  longId,
  positionOf,
  refusal,
  s,
} from "./journal_subject.ts";

/** What every backend promises. */
export const journalPromises: Readonly<Record<string, JournalCheck>> = {
  async "a session that was never written has no lines"({ backend }) {
    expectEqual(await linesOf(backend), [], "lines");
    expectEqual(await linesOf(backend), [], "lines after reading");
  },

  async "the first line is stored and read back"({ backend }) {
    const first = entryAfter(null, "a");
    expectEqual(await backend.append(s, first), { ok: true }, "append");
    expectEqual(await linesOf(backend), [first.line], "lines");
  },

  async "lines are read in order from any line on"({ backend }) {
    const entries = await fill(backend, 5);
    for (const [index, entry] of entries.entries()) {
      const expected = entries.slice(index + 1).map(({ line }) => line);
      expectEqual(
        await linesOf(backend, positionOf(entry)),
        expected,
        `after ${index + 1}`,
      );
    }
  },

  async "a line that leaves a gap is refused"({ backend }) {
    const [first] = await fill(backend, 1);
    const stray = entryAfter({ revision: 4, recordId: "d" }, "e");
    expectEqual(await backend.append(s, stray), refusal(first), "append");
    expectEqual((await linesOf(backend)).length, 1, "number of lines");
  },

  async "a revision is given once"({ backend }) {
    const entries = await fill(backend, 2);
    const late = entryAfter(positionOf(entries[0]!), "late");
    expectEqual(await backend.append(s, late), refusal(entries[1]), "append");
    const again = await backend.append(s, entryAfter(null, "again"));
    expectEqual(again, refusal(entries[1]), "append to an empty journal");
    expectEqual(
      await linesOf(backend),
      entries.map(({ line }) => line),
      "lines",
    );
  },

  async "the last line must be the very record that the writer knows"(
    { backend },
  ) {
    const [first] = await fill(backend, 1);
    const stranger = entryAfter({ revision: 1, recordId: "stranger" }, "b");
    expectEqual(await backend.append(s, stranger), refusal(first), "append");
  },

  async "a reader is told that its last line is gone"({ backend }) {
    const [first, second] = await fill(backend, 2);
    const gone: readonly JournalPosition[] = [
      { revision: 2, recordId: "stranger" },
      { revision: 3, recordId: second!.recordId },
      { revision: 1, recordId: second!.recordId },
    ];
    for (const after of gone) {
      await expectRejection(
        () => linesOf(backend, after),
        JournalReplacedError,
      );
    }
    expectEqual(
      await linesOf(backend, positionOf(first!)),
      [second!.line],
      "lines",
    );
  },

  async "of two writers that want the same place one wins"(journal) {
    const [one, other] = await clients(journal, 2);
    const [first] = await fill(one!, 1);
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
    expectEqual((await linesOf(one!)).length, 2, "number of lines");
  },

  async "fifty writes of five clients at once lose nothing"(journal) {
    const writers = await clients(journal, 5);
    await Promise.all(writers.map(async (writer, index) => {
      for (let count = 0; count < 10; count++) {
        await insist(writer, `${index}-${count}`);
      }
    }));
    for (const writer of writers) {
      const ids = (await linesOf(writer)).map((line) =>
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
    expectEqual(await linesOf(other!), [first.line], "lines of the other");
    const second = entryAfter(positionOf(first), "b");
    expectEqual(
      await other!.append(s, second),
      { ok: true },
      "append of the other",
    );
    expectEqual(
      await linesOf(one!, positionOf(first)),
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
    const entries = await fill(journal.backend, 3);
    const reopened = await journal.reopen();
    expectEqual(
      await linesOf(reopened),
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
    const found = await linesOf(backend);
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
    const found = await linesOf(backend);
    expectEqual(found.length, 3, "number of lines");
    expect(found[1] === long.line, "The long line changed");
  },

  async "a line that is too long is refused and leaves nothing"({ backend }) {
    const { maxRecordBytes } = backend.capabilities;
    if (maxRecordBytes === null || maxRecordBytes > 2 ** 26) return;
    const long = entryAfter(null, "a", "x".repeat(maxRecordBytes + 1));
    await expectRejection(() => backend.append(s, long), SessionStorageError);
    expectEqual(await linesOf(backend), [], "lines");
  },

  async "more than a thousand lines are read in order, without repetition"(
    { backend },
  ) {
    const entries = await fill(backend, 1100);
    const found = await linesOf(backend);
    expectEqual(found.length, entries.length, "number of lines");
    const places = found.map((line) => JSON.parse(line).revision as number);
    expect(
      places.every((place, index) => place === index + 1),
      "Lines are out of order",
    );
  },

  async "a reader that waits holds nobody up, and may leave"({ backend }) {
    const entries = await fill(backend, 3);
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
    expectEqual((await linesOf(backend)).length, 4, "number of lines");
  },

  async "sessions do not touch each other, whatever their ids"({ backend }) {
    for (const id of awkwardIds) {
      await fill(backend, 1, { sessionId: id, text: id });
    }
    for (const id of awkwardIds) {
      const [line, ...more] = await linesOf(backend, null, { sessionId: id });
      expectEqual(JSON.parse(line!).text, id, "text of the line");
      expectEqual(more, [], "further lines");
    }
  },

  async "records may have long ids"({ backend }) {
    const first = entryAfter(null, longId("first"));
    const second = entryAfter(positionOf(first), longId("second"));
    for (const entry of [first, second]) {
      expectEqual(await backend.append(s, entry), { ok: true }, "answer");
    }
    expectEqual(await linesOf(backend), [first.line, second.line], "lines");
    const stranger = entryAfter(positionOf(first), longId("stranger"));
    expectEqual(await backend.append(s, stranger), refusal(second), "append");
    expectEqual(
      await linesOf(backend, positionOf(first)),
      [second.line],
      "lines behind the first",
    );
  },

  async "a call with an aborted signal stores and reads nothing"({ backend }) {
    const signal = AbortSignal.abort(new Error("enough"));
    const first = entryAfter(null, "a");
    await expectRejection(
      () => backend.append(s, first, { signal }),
      AgentCancelledError,
    );
    expectEqual(await linesOf(backend), [], "lines");
    await backend.append(s, first);
    await expectRejection(
      () => linesOf(backend, null, { signal }),
      AgentCancelledError,
    );
  },

  async "the newest checkpoint is found"({ backend }) {
    if (backend.findCheckpoint === undefined) return;
    expectEqual(await backend.findCheckpoint(s), null, "checkpoint of nothing");
    const entries = await fill(backend, 2);
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
    const [first] = await fill(journal.backend, 1);
    const lost = entryAfter(positionOf(first!), "lost");
    await journal.dieWhileAppending(s, lost);
    const reopened = await journal.reopen?.() ?? journal.backend;
    expectEqual(await linesOf(reopened), [first!.line], "lines");
    const next = entryAfter(positionOf(first!), "next");
    expectEqual(await reopened.append(s, next), { ok: true }, "append");
    expectEqual(
      await linesOf(reopened),
      [first!.line, next.line],
      "lines afterwards",
    );
  },
};
