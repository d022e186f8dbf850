import { AgentCancelledError } from "../base/abort.ts";
import {
  SessionArgumentError,
  SessionConflictError,
  SessionSerializationError,
} from "../session/errors.ts";
import type { AppendOptions } from "../session/storage.ts";
import { JournalTreeStorage } from "../session/tree_storage.ts";
import { expect, expectEqual, expectRejection } from "./contract.ts";
import { LossyJournal } from "./lossy_journal.ts";
import {
  answered,
  draftOf,
  finished,
  recordRun,
  s,
  started,
} from "./session_drafts.ts";
import { otherProgram, type StorageCheck } from "./storage_subject.ts";

/** What a storage promises to those who append. */
export const writingPromises: Readonly<Record<string, StorageCheck>> = {
  async "a stale head is a conflict and stores nothing"(subject) {
    const { storage } = subject;
    const first = await storage.append(started("r1"), { expectedHead: null });
    const second = await storage.append(answered("r1", 3, "hi"), {
      expectedHead: first.recordId,
    });
    for (const expectedHead of [first.recordId, null, "stranger"]) {
      const error = await expectRejection(
        () => storage.append(finished("r1", 5), { expectedHead }),
        SessionConflictError,
      );
      const { branchId, actualHead } = error;
      expectEqual(
        { branchId, expectedHead: error.expectedHead, actualHead },
        { branchId: "main", expectedHead, actualHead: second.recordId },
        "facts of the conflict",
      );
    }
    expectEqual(
      (await (await otherProgram(subject)).records(s)).length,
      2,
      "number of records",
    );
  },

  async "an unknown branch is a wrong argument before it is a conflict"(
    { storage },
  ) {
    await recordRun(storage, "r1");
    const error = await expectRejection(
      () =>
        storage.append(started("r2", "x", "ghost"), { expectedHead: "stale" }),
      SessionArgumentError,
    );
    expectEqual(error.code, "unknown_branch", "code");
    expectEqual((await storage.records(s)).length, 3, "number of records");
  },

  async "without an expectation a record goes behind whatever is there"(
    subject,
  ) {
    const { storage } = subject;
    await storage.append(started("r1"));
    const stranger = await otherProgram(subject);
    const foreign = await stranger.append(answered("r1", 3, "theirs"));
    const mine = await storage.append(answered("r1", 4, "mine"));
    expectEqual(
      [mine.revision, mine.parentId],
      [3, foreign.recordId],
      "place of the record",
    );
  },

  async "of two programs that go on from one head one wins"(subject) {
    const { storage } = subject;
    const { recordId: expectedHead } = await storage.append(started("r1"));
    const stranger = await otherProgram(subject);
    await stranger.load(s);
    const outcomes = await Promise.allSettled([
      storage.append(answered("r1", 3, "mine"), { expectedHead }),
      stranger.append(answered("r1", 3, "theirs"), { expectedHead }),
    ]);
    const failures = outcomes.filter(({ status }) => status === "rejected");
    expectEqual(failures.length, 1, "number of losers");
    const [failure] = failures as PromiseRejectedResult[];
    expect(
      failure!.reason instanceof SessionConflictError,
      `The loser got ${failure!.reason}`,
    );
    expectEqual((await storage.records(s)).length, 2, "number of records");
  },

  async "what many programs write at once is all there"(subject) {
    const writers = [
      subject.storage,
      await otherProgram(subject),
      await otherProgram(subject),
    ];
    await subject.storage.append(started("r1"));
    await Promise.all(writers.map(async (writer, index) => {
      for (let count = 0; count < 8; count++) {
        await writer.append(answered("r1", 2, `${index}-${count}`));
      }
    }));
    const session = await (await otherProgram(subject)).load(s);
    const texts = new Set(session!.messages.map(({ content }) => content));
    expectEqual(
      [session!.messages.length, texts.size],
      [25, 25],
      "messages, different ones",
    );
  },

  async "data that is no JSON stores nothing"({ storage }) {
    for (
      const value of [NaN, Infinity, () => {}, Symbol("x"), 1n, new Map(), [
        undefined,
      ]]
    ) {
      const data = { run_id: "r1", task: "x", value };
      await expectRejection(
        () => storage.append(draftOf("run_started", 1, data)),
        SessionSerializationError,
      );
    }
    expectEqual(await storage.records(s), [], "records");
  },

  async "a change that breaks a rule stores nothing"({ storage }) {
    await recordRun(storage, "r1");
    for (
      const draft of [
        started("r1"),
        answered("r1", 9, "late"),
        finished("ghost", 2),
      ]
    ) {
      await expectRejection(
        () => storage.append(draft),
        SessionSerializationError,
      );
    }
    const foreign = { ...started("r2"), agentId: "stranger" };
    await expectRejection(
      () => storage.append(foreign),
      SessionSerializationError,
    );
    expectEqual((await storage.records(s)).length, 3, "number of records");
  },

  async "an answer that is lost on its way back stores nothing twice"(subject) {
    const { storage } = subject;
    const unlucky = new JournalTreeStorage(
      new LossyJournal(storage.backend, "after"),
    );
    const first = await unlucky.append(started("r1"), { expectedHead: null });
    const second = await unlucky.append(finished("r1", 2), {
      expectedHead: first.recordId,
    });
    expectEqual([first.revision, second.revision], [1, 2], "revisions");
    expectEqual((await storage.records(s)).length, 2, "number of records");
  },

  async "a request that is lost on its way is repeated"(subject) {
    const { storage } = subject;
    const unlucky = new JournalTreeStorage(
      new LossyJournal(storage.backend, "before"),
    );
    await recordRun(unlucky, "r1");
    expectEqual((await storage.records(s)).length, 3, "number of records");
  },

  async "an append of an id that is stored stores nothing"(subject) {
    const recordId = "0123456789abcdef0123456789abcdef";
    const options = { expectedHead: null, recordId };
    const first = await subject.storage.append(started("r1"), options);
    const again = await (await otherProgram(subject)).append(
      started("r1"),
      options,
    );
    expectEqual([first.recordId, again], [recordId, first], "records");
    expectEqual(
      (await subject.storage.records(s)).length,
      1,
      "number of records",
    );
  },

  async "an append of an id that is stored before a checkpoint stores nothing"(
    subject,
  ) {
    const { storage } = subject;
    const recordId = "own-id";
    const first = await storage.append(started("r1"), { recordId });
    await storage.append(finished("r1", 2));
    await storage.save((await storage.load(s))!);
    const stranger = await otherProgram(subject);
    await stranger.load(s);
    for (const draft of [started("r1"), started("r2")]) {
      const again = await stranger.append(draft, { recordId: ` ${recordId} ` });
      expectEqual(again, first, "record");
    }
    await stranger.append(started("r3"), { freshId: true });
    expectEqual(
      (await (await otherProgram(subject)).records(s)).length,
      4,
      "number of records",
    );
  },

  async "an id that not every medium can keep stores nothing"({ storage }) {
    for (
      const [recordId, type] of [
        ["", RangeError],
        [" \t\xa0", RangeError],
        [null, TypeError],
        [7, TypeError],
        ["a\ud800", SessionSerializationError],
        ["a\0b", SessionSerializationError],
      ] as const
    ) {
      await expectRejection(
        () => storage.append(started("r1"), { recordId } as AppendOptions),
        type,
      );
    }
    expectEqual(await storage.records(s), [], "records");
  },

  async "an aborted append stores nothing"(subject) {
    const signal = AbortSignal.abort(new Error("enough"));
    await expectRejection(
      () => subject.storage.append(started("r1"), { signal }),
      AgentCancelledError,
    );
    expectEqual(await (await otherProgram(subject)).load(s), null, "session");
    await subject.storage.append(started("r1"));
  },
};
