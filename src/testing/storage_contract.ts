import { AgentCancelledError } from "../base/abort.ts";
import type { AgentMessage } from "../messages/message.ts";
import {
  SessionArgumentError,
  SessionConflictError,
  SessionSerializationError,
} from "../session/errors.ts";
import { exportJournal, importJournal } from "../session/export.ts";
import { MemoryJournal } from "../session/memory.ts";
import type { AgentSession } from "../session/session.ts";
import { sessionToJson } from "../session/session_codec.ts";
import { JournalTreeStorage } from "../session/tree_storage.ts";
import {
  type ContractCase,
  expect,
  expectEqual,
  expectRejection,
} from "./contract.ts";
import { LossyJournal } from "./lossy_journal.ts";
import {
  answered,
  called,
  compacted,
  continued,
  draftOf,
  finished,
  recordRun,
  recordRuns,
  s,
  started,
  steered,
  toolAnswered,
} from "./session_drafts.ts";

/** A storage on a fresh, empty medium, and what can be done to it. */
export interface StorageUnderTest {
  /** The storage. */
  readonly storage: JournalTreeStorage;
  /**
   * Another storage over the same medium, as another program would open it.
   *
   * @default {a new storage over the same backend}
   */
  reopen?(): JournalTreeStorage | Promise<JournalTreeStorage>;
  /**
   * Makes the second line of a stored journal unreadable, on the medium itself.
   * Omit it for media whose lines nobody can change.
   */
  corrupt?(sessionId: string): void | Promise<void>;
  /** Releases the medium. */
  close?(): void | Promise<void>;
}

/**
 * What applications may expect of every storage over a journal, as cases for any
 * test runner.
 *
 * @param make Makes a storage on a fresh medium, once per case.
 *
 * @example Register the cases with a runner
 * ```ts ignore
 * import { MemorySessionStorage } from "@ejagent/core";
 * import { storageContract } from "@ejagent/core/testing";
 * import test from "node:test";
 *
 * for (const { name, run } of storageContract(() => ({ storage: new MemorySessionStorage() }))) {
 *   test(`memory: ${name}`, run);
 * }
 * ```
 */
export function storageContract(
  make: () => StorageUnderTest | Promise<StorageUnderTest>,
): readonly ContractCase[] {
  return Object.entries(promises).map(([name, check]) => ({
    name,
    async run() {
      const subject = await make();
      try {
        await check(subject);
      } finally {
        await subject.close?.();
      }
    },
  }));
}

type Check = (subject: StorageUnderTest) => Promise<void>;

const promises: Readonly<Record<string, Check>> = {
  async "a session that was never written does not exist"({ storage }) {
    expectEqual(await storage.load(s), null, "load");
    expectEqual(await storage.checkout(s), null, "checkout");
    expectEqual(await storage.head(s), null, "head");
    expectEqual(await storage.listBranches(s), [], "branches");
    expectEqual(await storage.records(s), [], "records");
    const error = await expectRejection(
      () => storage.checkout(s, { recordId: "anything" }),
      SessionArgumentError,
    );
    expectEqual(error.code, "unknown_record", "code");
    await expectRejection(() => storage.fork(s), SessionArgumentError);
  },

  async "every kind of record reads the same in another program"(subject) {
    const { storage } = subject;
    await storage.append(started("r1", "first"));
    await storage.append(steered("r1", 2, "hurry"));
    await storage.append(called("r1", 3, ["c1", "c2"]));
    await storage.append(toolAnswered("r1", 5, "c1"));
    await storage.append(toolAnswered("r1", 6, "c2"));
    await storage.append(answered("r1", 8, "done"));
    await storage.append(finished("r1", 10));
    await storage.append(compacted("o1", 2, "summary of r1"));
    await storage.append(continued("r2"));
    await storage.append(answered("r2", 3, "more"));
    await storage.append(finished("r2", 5));
    await storage.fork(s, { branchId: "side" });
    await storage.save((await storage.load(s))!);

    const reader = await other(subject);
    for (const branchId of ["main", "side"]) {
      const mine = await storage.checkout(s, { branchId });
      const theirs = await reader.checkout(s, { branchId });
      expectEqual(viewOf(theirs!), viewOf(mine!), `checkout of ${branchId}`);
    }
    expectEqual(await reader.records(s), await storage.records(s), "records");
    expectEqual(
      await reader.listBranches(s),
      await storage.listBranches(s),
      "branches",
    );
    expectEqual(
      (await reader.load(s))!.messages.length,
      2,
      "number of messages",
    );
  },

  async "texts of all kinds come back unchanged"(subject) {
    const content = '天气 🚀 e\u0301 \u0000 \u2028 \r\n "\\ \ufeff half \ud83d';
    await subject.storage.append(started("r1", content));
    const session = await (await other(subject)).load(s);
    expectEqual(session!.messages, [{ role: "user", content }], "messages");
  },

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
      (await (await other(subject)).records(s)).length,
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
    const stranger = await other(subject);
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
    const stranger = await other(subject);
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

  async "writers on different branches never get into each other's way"(
    subject,
  ) {
    const { storage } = subject;
    await recordRun(storage, "base");
    await storage.fork(s, { branchId: "x" });
    const stranger = await other(subject);
    await Promise.all([
      appendChain(storage, "main", 25),
      appendChain(stranger, "x", 25),
    ]);
    const records = await storage.records(s);
    expectEqual(
      records.map(({ revision }) => revision),
      placesUpTo(54),
      "revisions",
    );
    for (const branchId of ["main", "x"]) {
      const checkout = await stranger.checkout(s, { branchId });
      expectEqual(
        checkout!.session.messages.length,
        27,
        `messages of ${branchId}`,
      );
    }
  },

  async "what many programs write at once is all there"(subject) {
    const writers = [
      subject.storage,
      await other(subject),
      await other(subject),
    ];
    await subject.storage.append(started("r1"));
    await Promise.all(writers.map(async (writer, index) => {
      for (let count = 0; count < 8; count++) {
        await writer.append(answered("r1", 2, `${index}-${count}`));
      }
    }));
    const session = await (await other(subject)).load(s);
    const texts = new Set(session!.messages.map(({ content }) => content));
    expectEqual(
      [session!.messages.length, texts.size],
      [25, 25],
      "messages, different ones",
    );
  },

  async "a fork goes its own way"(subject) {
    const { storage } = subject;
    await recordRuns(storage, ["r1", "r2"]);
    const fork = await storage.fork(s, { branchId: " idea " });
    expectEqual(
      [fork.branch.branchId, fork.branch.intent],
      ["idea", "fork"],
      "branch",
    );
    await recordRun(storage, "r3", "idea");
    await recordRun(storage, "r4");
    const reader = await other(subject);
    expectEqual(
      await runIds(reader, "idea"),
      ["r1", "r2", "r3"],
      "runs of the fork",
    );
    expectEqual(
      await runIds(reader, "main"),
      ["r1", "r2", "r4"],
      "runs of the source",
    );
  },

  async "a rollback drops what came after, on a branch of its own"(
    { storage },
  ) {
    await recordRuns(storage, ["r1", "r2"]);
    const end = (await storage.records(s))[2]!;
    const { branch } = await storage.rollback(s, { toRecordId: end.recordId });
    expectEqual(branch.intent, "rollback", "intent");
    expectEqual(
      await runIds(storage, branch.branchId),
      ["r1"],
      "runs of the branch",
    );
    expectEqual(
      await runIds(storage, "main"),
      ["r1", "r2"],
      "runs of the source",
    );
  },

  async "a retry begins before its run"({ storage }) {
    await recordRuns(storage, ["r1", "r2"]);
    const second = await storage.prepareRetry(s, { runId: "r2" });
    expectEqual(
      [second.task, second.retriedRunId],
      ["task of r2", "r2"],
      "retry",
    );
    expectEqual(
      await runIds(storage, second.checkout.branch.branchId),
      ["r1"],
      "runs",
    );
    const first = await storage.prepareRetry(s, {
      runId: "r1",
      branchId: "anew",
    });
    expectEqual(
      first.checkout.branch.baseRecordId,
      null,
      "base of the first run",
    );
    expectEqual(
      first.checkout.session.agentId,
      "contract-agent",
      "agent of the first run",
    );
    await recordRun(storage, "r3", "anew");
    expectEqual(await runIds(storage, "anew"), ["r3"], "runs of the retry");
  },

  async "branches are not made from runs that are open"({ storage }) {
    await recordRun(storage, "r1");
    await storage.append(started("r2"));
    const error = await expectRejection(
      () => storage.fork(s),
      SessionArgumentError,
    );
    expectEqual(error.code, "unfinished_run", "code");
    expect(error.message.includes("r2"), "The error does not name the run");
  },

  async "an interrupted run is closed once, by whoever finds it"(subject) {
    const { storage } = subject;
    await storage.append(started("r1"));
    await storage.append(called("r1", 3, ["c1", "c2", "c3"]));
    const last = await storage.append(toolAnswered("r1", 5, "c1"));
    const rescuer = await other(subject);
    const recovery = await rescuer.recoverInterruptedRun(s);
    expect(recovery.status === "recovered", "Nothing was recovered");
    expectEqual(
      recovery.interruptedToolCallIds,
      ["c2", "c3"],
      "interrupted calls",
    );
    expectEqual(
      recovery.checkout.session.unfinishedRunIds,
      [],
      "unfinished runs",
    );
    expectEqual(
      await rescuer.recoverInterruptedRun(s),
      { status: "clean" },
      "second recovery",
    );
    await expectRejection(
      () =>
        storage.append(toolAnswered("r1", 6, "c2"), {
          expectedHead: last.recordId,
        }),
      SessionConflictError,
    );
    const { result } = (await storage.load(s))!.lastRun!;
    expectEqual([result?.status, result?.failure?.code], [
      "failed",
      "interrupted",
    ], "result");
  },

  async "a snapshot replaces nothing that it lacks"(subject) {
    const { storage } = subject;
    await recordRun(storage, "r1");
    const old = (await storage.load(s))!;
    await recordRun(await other(subject), "r2");
    const error = await expectRejection(
      () => storage.save(old),
      SessionArgumentError,
    );
    expectEqual(error.code, "stale_session", "code");
    expectEqual(await runIds(storage, "main"), ["r1", "r2"], "runs");
    await storage.save(old, { overwrite: true });
    expectEqual(
      await runIds(await other(subject), "main"),
      ["r1"],
      "runs after overwriting",
    );
  },

  async "a checkpoint is as good as what it stands for"(subject) {
    const { storage } = subject;
    await recordRuns(storage, ["r1", "r2"]);
    const { head, session } = (await storage.checkout(s))!;
    await storage.save(session, { expectedHead: head.recordId });
    await recordRun(storage, "r3");
    const reader = await other(subject);
    expectEqual(
      documentOf(await reader.load(s)),
      documentOf(await storage.load(s)),
      "session",
    );
    await recordRun(reader, "r4");
    expectEqual(
      await runIds(storage, "main"),
      ["r1", "r2", "r3", "r4"],
      "runs",
    );
    expectEqual(
      (await reader.prepareRetry(s, { runId: "r1" })).task,
      "task of r1",
      "old task",
    );
  },

  async "what is handed out belongs to the caller"({ storage }) {
    const message = { role: "assistant", content: "kept" };
    await storage.append(started("r1"));
    await storage.append(draftOf("message_appended", 3, {
      run_id: "r1",
      message: message as AgentMessage,
    }));
    message.content = "changed";
    const mine = (await storage.load(s))!;
    mine.appendMessage({ runId: "r1", sequence: 4 }, {
      role: "assistant",
      content: "more",
    });
    const contents = (await storage.load(s))!.messages.map(({ content }) =>
      content
    );
    expectEqual(contents, ["task of r1", "kept"], "stored contents");
  },

  async "ids are trimmed"(subject) {
    await subject.storage.append({
      ...started("r1"),
      sessionId: `\t${s} \u0085`,
    });
    const session = await (await other(subject)).load(` ${s}\n`);
    expectEqual(session?.sessionId, s, "session id");
    await expectRejection(() => subject.storage.load(" "), RangeError);
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
    const again = await (await other(subject)).append(started("r1"), options);
    expectEqual([first.recordId, again], [recordId, first], "records");
    expectEqual(
      (await subject.storage.records(s)).length,
      1,
      "number of records",
    );
  },

  async "an aborted append stores nothing"(subject) {
    const signal = AbortSignal.abort(new Error("enough"));
    await expectRejection(
      () => subject.storage.append(started("r1"), { signal }),
      AgentCancelledError,
    );
    expectEqual(await (await other(subject)).load(s), null, "session");
    await subject.storage.append(started("r1"));
  },

  async "a journal moves to another storage line by line"({ storage }) {
    await recordRuns(storage, ["r1", "r2"]);
    await storage.fork(s, { branchId: "side" });
    await recordRun(storage, "r3", "side");
    const bytes = await bytesOf(storage);
    const target = new JournalTreeStorage(new MemoryJournal());
    const imported = await importJournal(target, exportJournal(storage, s));
    expectEqual(imported, {
      sessionId: s,
      recordCount: 10,
      ignoredByteCount: 0,
    }, "import");
    expectEqual(await bytesOf(target), bytes, "bytes");
    expectEqual(await runIds(target, "side"), ["r1", "r2", "r3"], "runs");
  },

  async "a damaged line is reported by every call and left as it is"(subject) {
    if (subject.corrupt === undefined) return;
    await recordRun(subject.storage, "r1");
    await subject.corrupt(s);
    const reader = await other(subject);
    for (
      const call of [
        () => reader.load(s),
        () => reader.records(s),
        () => reader.append(started("r2")),
        () => reader.fork(s),
      ]
    ) {
      const error = await expectRejection(call, SessionSerializationError);
      expectEqual(error.line, 2, "damaged line");
    }
  },
};

async function other(
  { storage, reopen }: StorageUnderTest,
): Promise<JournalTreeStorage> {
  return await reopen?.() ?? new JournalTreeStorage(storage.backend);
}

/** Appends messages to a new run, each behind the one before. */
async function appendChain(
  storage: JournalTreeStorage,
  branchId: string,
  count: number,
): Promise<void> {
  const head = await storage.head(s, { branchId });
  const runId = `chain-${branchId}`;
  let last = await storage.append(started(runId, "go", branchId), {
    expectedHead: head!.recordId,
  });
  for (let index = 1; index < count; index++) {
    const draft = { ...answered(runId, 2, `${branchId} ${index}`), branchId };
    last = await storage.append(draft, { expectedHead: last.recordId });
  }
}

function placesUpTo(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index + 1);
}

async function runIds(
  storage: JournalTreeStorage,
  branchId: string,
): Promise<string[]> {
  const checkout = await storage.checkout(s, { branchId });
  return checkout!.session.runs.map(({ runId }) => runId);
}

function viewOf(
  { branch, head, session }: NonNullable<
    Awaited<ReturnType<JournalTreeStorage["checkout"]>>
  >,
): unknown {
  return {
    branch,
    head,
    session: documentOf(session),
    messages: session.messages,
  };
}

function documentOf(session: AgentSession | null): unknown {
  return session === null ? null : sessionToJson(session);
}

async function bytesOf(storage: JournalTreeStorage): Promise<number[]> {
  const found: number[] = [];
  for await (const bytes of exportJournal(storage, s)) found.push(...bytes);
  return found;
}
