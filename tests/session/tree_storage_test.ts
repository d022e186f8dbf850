import { AgentCancelledError } from "../../src/base/abort.ts";
import { systemClock } from "../../src/base/ports.ts";
import {
  JournalReplacedError,
  SessionArgumentError,
  SessionConflictError,
  SessionSerializationError,
  SessionStorageError,
  SessionUnsupportedError,
} from "../../src/session/errors.ts";
import { importJournal } from "../../src/session/export.ts";
import type { JournalEntry } from "../../src/session/journal.ts";
import { MemoryJournal } from "../../src/session/memory.ts";
import type { SessionRecordDraft } from "../../src/session/record.ts";
import { AgentSession } from "../../src/session/session.ts";
import { sessionToJson } from "../../src/session/session_codec.ts";
import type {
  JournalStorageOptions,
  SessionStorage,
} from "../../src/session/storage.ts";
import { JournalTreeStorage } from "../../src/session/tree_storage.ts";
import {
  answered,
  compacted,
  finished,
  recordRun,
  recordRuns,
  s,
  started,
} from "../../src/testing/session_drafts.ts";
import { linesOf } from "../../src/testing/journal_subject.ts";
import { openFixture } from "../interop/python_journals.ts";
import {
  assert,
  assertEquals,
  assertRejects,
  assertThrows,
} from "../support/assert.ts";
import { deferred } from "../support/deferred.ts";
import { settle } from "../support/fake_time.ts";
import { test } from "../support/suite.ts";
import { CountingJournal } from "./counting_journal.ts";

function openStorage(
  options: JournalStorageOptions = {},
): { readonly journal: CountingJournal; readonly storage: JournalTreeStorage } {
  const journal = new CountingJournal();
  return { journal, storage: new JournalTreeStorage(journal, options) };
}

test("a record that was stored already is as frozen as a new one", async () => {
  const { journal, storage } = openStorage();
  const own = { recordId: "own" };
  const fresh = await storage.append(started("r"), own);
  await storage.append(finished("r", 2));
  const stored = [
    await storage.append(started("r"), own),
    await new JournalTreeStorage(journal).append(started("r"), own),
  ];
  for (const { data } of [fresh, ...stored]) {
    assertThrows(() => Object.assign(data, { run_id: "other" }), TypeError);
  }
});

test("an append costs one call, however long the journal is", async () => {
  const { journal, storage } = openStorage();
  await storage.load(s);
  for (const count of [1, 10, 100]) {
    await recordRuns(
      storage,
      Array.from({ length: count }, (_, index) => `${count}-${index}`),
    );
  }
  assertEquals([journal.readCount, journal.lineCount], [1, 0]);
  assertEquals(journal.appendCount, 333);
});

test("what another program appended is read, and nothing else", async () => {
  const { journal, storage } = openStorage();
  await recordRuns(storage, ["r1", "r2", "r3"]);
  const stranger = new JournalTreeStorage(journal);
  await recordRun(stranger, "r4");
  const before = journal.lineCount;
  assertEquals((await storage.load(s))!.runs.length, 4);
  assertEquals(journal.lineCount - before, 3);
  await recordRun(stranger, "r5");
  const { recordId } = (await stranger.head(s))!;
  const again = journal.lineCount;
  await storage.append(started("r6"), { expectedHead: recordId });
  assertEquals(journal.lineCount - again, 3);
});

test("a session is read once, and opening it again reads nothing", async () => {
  const { journal, storage } = openStorage();
  await recordRuns(storage, ["r1", "r2"]);
  const reader = new JournalTreeStorage(journal);
  for (let count = 0; count < 5; count++) {
    await reader.load(s);
    await reader.listBranches(s);
    await reader.head(s);
  }
  assertEquals(journal.lineCount, 6);
});

test("the least recently used sessions leave the memory first", async () => {
  const { journal, storage } = openStorage({ cachedSessionCount: 2 });
  for (const sessionId of ["a", "b", "c"]) {
    await storage.append({ ...started("r1"), sessionId });
  }
  journal.lineCount = 0;
  for (const sessionId of ["c", "b", "a", "b"]) await storage.load(sessionId);
  assertEquals(journal.lineCount, 1);
  const forgetful = new JournalTreeStorage(journal, { cachedSessionCount: 0 });
  journal.lineCount = 0;
  for (let count = 0; count < 3; count++) await forgetful.load("a");
  assertEquals(journal.lineCount, 3);
});

test(
  "a session in use waits for nobody else",
  { case: "SE-K-12" },
  async () => {
    const { journal, storage } = openStorage();
    const held = deferred();
    journal.beforeAppend = ({ line }: JournalEntry) =>
      line.includes('"session_id":"slow"') ? held.promise : undefined;
    const slow = storage.append({ ...started("r1"), sessionId: "slow" });
    await storage.append({ ...started("r1"), sessionId: "quick" });
    assertEquals(await new JournalTreeStorage(journal).load("slow"), null);
    held.resolve();
    assertEquals((await slow).revision, 1);
  },
);

test("a session in use is not forgotten, so that its calls follow one another", async () => {
  const { journal, storage } = openStorage({ cachedSessionCount: 1 });
  const held = deferred();
  journal.beforeAppend = () => held.promise;
  const first = storage.append(started("r1"));
  await settle();
  await storage.load("other");
  const second = storage.append(answered("r1", 2, "x"));
  await settle();
  assertEquals(journal.appendCount, 1);
  held.resolve();
  assertEquals([(await first).revision, (await second).revision], [1, 2]);
});

test("a call that waits for its turn can be given up", async () => {
  const { journal, storage } = openStorage();
  const held = deferred();
  journal.beforeAppend = () => held.promise;
  const first = storage.append(started("r1"));
  const controller = new AbortController();
  const second = storage.append(answered("r1", 2, "x"), {
    signal: controller.signal,
  });
  controller.abort(new Error("enough"));
  await assertRejects(() => second, AgentCancelledError, "enough");
  held.resolve();
  await first;
  assertEquals((await storage.records(s)).length, 1);
});

test("a wait for a medium that hangs can be given up", async () => {
  const { journal, storage } = openStorage();
  await recordRun(storage, "r1");
  const hang = () => new Promise<never>(() => {});
  const uses: ((signal: AbortSignal) => Promise<unknown>)[] = [
    (signal) => storage.load(s, { signal }),
    (signal) => storage.records(s, { signal }),
    (signal) => storage.fork(s, { signal }),
    (signal) => storage.append(started("r2"), { signal }),
    (signal) => storage.save(new AgentSession(s), { signal }),
    (signal) => storage.recoverInterruptedRun(s, { signal }),
  ];
  for (const use of uses) {
    journal.beforeRead = hang;
    const controller = new AbortController();
    const call = use(controller.signal);
    await settle();
    controller.abort(new Error("enough"));
    await assertRejects(() => call, AgentCancelledError, "enough");
  }
  journal.beforeRead = () => {};
  assertEquals((await storage.records(s)).length, 3);
  journal.findCheckpoint = hang;
  const controller = new AbortController();
  const reader = new JournalTreeStorage(journal);
  const call = reader.load(s, { signal: controller.signal });
  controller.abort(new Error("enough"));
  await assertRejects(() => call, AgentCancelledError, "enough");
});

test("an abort after storing has begun changes nothing", async () => {
  const { journal, storage } = openStorage();
  const controller = new AbortController();
  const stored = new MemoryJournal();
  journal.append = async (sessionId, entry) => {
    const answer = await stored.append(sessionId, entry);
    controller.abort(new Error("too late"));
    return answer;
  };
  const record = await storage.append(started("r1"), {
    signal: controller.signal,
  });
  assertEquals(record.revision, 1);
});

test("a journal that was replaced is read anew", async () => {
  const { journal, storage } = openStorage();
  await recordRuns(storage, ["r1", "r2"]);
  const { recordId } = (await storage.head(s))!;
  journal.delete(s);
  await recordRun(new JournalTreeStorage(journal), "other");
  assertEquals((await storage.load(s))!.runs.map(({ runId }) => runId), [
    "other",
  ]);
  await assertRejects(
    () => storage.append(started("r3"), { expectedHead: recordId }),
    SessionConflictError,
  );
  journal.read = () => {
    throw new JournalReplacedError(s);
  };
  await assertRejects(() => storage.load(s), JournalReplacedError);
});

// A checkpoint in the journal takes the place of a file beside it.
test("the checkpoint of a long journal is where a new program begins", {
  case: "SE-K-10",
}, async () => {
  const { journal, storage } = openStorage({ checkpointEvery: 30 });
  for (let number = 0; number < 40; number++) {
    await recordRun(storage, `r${number}`);
    await storage.checkpointIfDue(s);
  }
  const kinds = (await storage.records(s)).map(({ kind }) => kind);
  assertEquals(kinds.filter((kind) => kind === "checkpoint").length, 3);

  const reader = new JournalTreeStorage(journal);
  journal.lineCount = 0;
  const session = (await reader.load(s))!;
  assert(journal.lineCount < 60, `${journal.lineCount} lines were read`);
  assertEquals(sessionToJson(session), sessionToJson((await storage.load(s))!));
  await recordRun(reader, "next");
  assertEquals(
    (await reader.prepareRetry(s, { runId: "r0" })).task,
    "task of r0",
  );
  assertEquals((await storage.load(s))!.runs.length, 41);
});

test("no checkpoint is written within a run, or where another writer is faster", async () => {
  const { journal, storage } = openStorage({ checkpointEvery: 1 });
  await storage.append(started("r1"));
  assertEquals(await storage.checkpointIfDue(s), null);
  await storage.append(finished("r1", 3));
  const stranger = new JournalTreeStorage(journal);
  journal.beforeAppend = async ({ checkpoint }) => {
    if (checkpoint) {
      journal.beforeAppend = () => {};
      await stranger.append(started("r2"));
    }
  };
  assertEquals(await storage.checkpointIfDue(s), null);
  assertEquals(await new JournalTreeStorage(journal).checkpointIfDue(s), null);
});

test("what other branches get is no reason for a checkpoint of main", async () => {
  const { storage } = openStorage({ checkpointEvery: 2 });
  await recordRun(storage, "r1");
  const checkpoint = await storage.checkpointIfDue(s);
  await storage.fork(s, { branchId: "side" });
  await recordRun(storage, "r2", "side");
  await recordRun(storage, "r3", "side");
  assertEquals(await storage.checkpointIfDue(s), null);
  assertEquals(await storage.head(s), checkpoint);
});

test("branches that began elsewhere are no matter to who reads main from a checkpoint", async () => {
  const { journal, storage } = openStorage();
  await recordRuns(storage, ["r1", "r2"]);
  await storage.fork(s, { branchId: "side" });
  await storage.save((await storage.load(s))!);
  await recordRun(storage, "side-run", "side");
  await recordRun(storage, "r3");
  const reader = new JournalTreeStorage(journal);
  assertEquals((await reader.load(s))!.runs.map(({ runId }) => runId), [
    "r1",
    "r2",
    "r3",
  ]);
  await recordRun(reader, "r4");
  const side = await reader.checkout(s, { branchId: "side" });
  assertEquals(side!.session.runs.map(({ runId }) => runId), [
    "r1",
    "r2",
    "side-run",
  ]);
});

test(
  "a stale snapshot is refused unless it is meant",
  { case: "SE-J-11" },
  async () => {
    const { storage } = openStorage();
    await recordRun(storage, "r1");
    const stale = (await storage.load(s))!;
    const { recordId } = (await storage.head(s))!;
    await recordRun(storage, "r2");
    const error = await assertRejects(
      () => storage.save(stale),
      SessionArgumentError,
      '"r2"',
    );
    assertEquals(error.code, "stale_session");
    await assertRejects(
      () => storage.save(stale, { expectedHead: recordId }),
      SessionConflictError,
    );
    assertEquals((await storage.records(s)).length, 6);
    await storage.save(stale, { overwrite: true });

    const { expected, storage: fixture } = openFixture(
      "checkpoint-stale-overwrite",
    );
    const theirs = (await fixture.load(expected.session_id))!;
    assertEquals(theirs.runs.length, (await storage.load(s))!.runs.length);
  },
);

test("a snapshot that lacks messages of a run is stale, too", async () => {
  const { storage } = openStorage();
  await storage.append(started("r1"));
  const stale = (await storage.load(s))!;
  await storage.append(answered("r1", 2, "newer"));
  const error = await assertRejects(
    () => storage.save(stale),
    SessionArgumentError,
  );
  assertEquals(error.code, "stale_session");
});

test("a rollback goes back across branches, but only on its own line", {
  case: "SE-J-02",
}, async () => {
  const { expected, storage } = openFixture("branches");
  const id = expected.session_id;
  const end = (await storage.records(id)).find(({ kind }) =>
    kind === "run_finished"
  )!;
  const { branch, session } = await storage.rollback(id, {
    sourceBranch: "nested",
    toRecordId: end.recordId,
  });
  assertEquals([branch.sourceBranchId, session.runs.length], ["nested", 1]);
  const nested = (await storage.head(id, { branchId: "nested" }))!;
  const error = await assertRejects(
    () => storage.rollback(id, { toRecordId: nested.recordId }),
    SessionArgumentError,
    'not an ancestor of branch "main"; it is on branch "nested", so name that',
  );
  assertEquals(error.code, "not_an_ancestor");
});

test("a retry begins where its run began, and leaves main alone", {
  case: "SE-J-03",
}, async () => {
  const { storage } = openStorage();
  await recordRuns(storage, ["r1", "r2"]);
  const before = sessionToJson((await storage.load(s))!);
  const first = (await storage.prepareRetry(s, { runId: "r1" })).checkout;
  assertEquals([first.head.parentId, first.branch.baseRecordId], [null, null]);
  assertEquals([first.session.agentId, first.session.runs], [
    "contract-agent",
    [],
  ]);
  const later = (await storage.prepareRetry(s, { runId: "r2" })).checkout;
  assertEquals(later.session.runs.map(({ runId }) => runId), ["r1"]);
  assertEquals(later.branch.branchId.length, "retry-".length + 12);
  assertEquals(sessionToJson((await storage.load(s))!), before);
});

test("a task of parts is retried with its parts", async () => {
  const { storage } = openStorage();
  const content = [{
    type: "image_url",
    image_url: { url: "data:image/png;base64,AA==" },
  }] as const;
  await storage.append({
    kind: "run_started",
    sessionId: s,
    agentId: "a",
    sequence: 1,
    data: { run_id: "r1", task: "", content },
  });
  assertEquals<unknown>(
    (await storage.prepareRetry(s, { runId: "r1" })).task,
    content,
  );
});

test("runs without a task of their own cannot be retried, and it is said why", {
  case: "SE-J-05",
}, async () => {
  const reasons: [string, string, string | null][] = [
    ["retry-continue-run", "continue", "continue_run"],
    ["checkpoint-only", "task", "inside_checkpoint"],
  ];
  for (const [name, intent, reason] of reasons) {
    const { expected, storage } = openFixture(name);
    const session = (await storage.load(expected.session_id))!;
    const { runId } = session.runs.find((run) => run.intent === intent)!;
    const error = await assertRejects(
      () => storage.prepareRetry(expected.session_id, { runId }),
      SessionArgumentError,
    );
    assertEquals([error.code, error.reason], ["run_not_retryable", reason]);
  }
});

test(
  "a record is checked out whatever branch is named",
  { case: "SE-J-07" },
  async () => {
    const { expected, storage } = openFixture("branches");
    const id = expected.session_id;
    const { recordId } = (await storage.records(id))[1]!;
    const checkout =
      (await storage.checkout(id, { branchId: "missing", recordId }))!;
    assertEquals([checkout.branch.branchId, checkout.branch.headRecordId], [
      "main",
      recordId,
    ]);
    assertEquals([checkout.head.recordId, checkout.head.revision], [
      recordId,
      2,
    ]);
    await assertRejects(
      () => storage.checkout(id, { branchId: " ", recordId }),
      RangeError,
    );
    await assertRejects(
      () => storage.checkout(id, { recordId: 7 as unknown as string }),
      TypeError,
    );
  },
);

test("compactions stay on their branch", { case: "SE-J-09" }, async () => {
  const { expected, storage } = openFixture("tree-with-compaction");
  const shapes: [string, number, number][] = [["uncompacted", 4, 0], [
    "compacted",
    3,
    1,
  ], ["main", 5, 1]];
  for (const [branchId, messageCount, compactionCount] of shapes) {
    const { session } =
      (await storage.checkout(expected.session_id, { branchId }))!;
    assertEquals(
      [branchId, session.messages.length, session.compactions.length],
      [branchId, messageCount, compactionCount],
    );
  }
});

test("damage in the middle is named by line and byte, never passed over", {
  case: ["B64", "B65"],
}, async () => {
  const { expected, journal, storage } = openFixture("multi-turn-tools");
  const lines = new TextDecoder().decode(journal.bytes).split("\n");
  const before = lines.slice(0, 4).join("\n").length;
  const offset =
    new TextEncoder().encode(`${lines.slice(0, 4).join("\n")}\n`).length;
  assert(offset > before);
  lines.splice(4, 0, "\u0000".repeat(300));
  journal.bytes = new TextEncoder().encode(lines.join("\n"));
  for (
    const call of [
      () => storage.load(expected.session_id),
      () =>
        storage.append({ ...started("r9"), sessionId: expected.session_id }),
    ]
  ) {
    const error = await assertRejects(
      call,
      SessionSerializationError,
      `line 5, byte ${offset}`,
    );
    assertEquals([error.line, error.offset], [5, offset]);
  }
});

test("a torn last line is as if it had never been begun", {
  case: ["B62", "B65"],
}, async () => {
  const { expected, journal, storage } = openFixture("torn-tail-partial");
  const id = expected.session_id;
  const { runId } = (await storage.load(id))!.runs.at(-1)!;
  const record = await storage.append({
    ...finished(runId, 99),
    sessionId: id,
    agentId: expected.agent_id,
  });
  assertEquals(record.revision, expected.journal.complete_lines + 1);
  const lines = new TextDecoder().decode(journal.bytes).split("\n");
  assertEquals(lines.length, expected.journal.complete_lines + 2);
  assertEquals(JSON.parse(lines.at(-2)!).record_id, record.recordId);
});

test("a medium that cannot be read or written is named as the cause", async () => {
  const { journal, storage } = openStorage();
  journal.beforeRead = () => {
    throw new Error("the disk is on fire");
  };
  const reading = await assertRejects(
    () => storage.load(s),
    SessionStorageError,
    "cannot be read",
  );
  assertEquals([(reading.cause as Error).message, reading.retryable], [
    "the disk is on fire",
    true,
  ]);

  const { journal: deaf, storage: writer } = openStorage();
  await writer.load(s);
  deaf.beforeAppend = () => {
    throw new Error("nobody answers");
  };
  const writing = await assertRejects(
    () => writer.append(started("r1")),
    SessionStorageError,
  );
  assertEquals([writing.committed, (writing.cause as Error).message], [
    "no",
    "nobody answers",
  ]);
  assertEquals(deaf.appendCount, 3);

  deaf.beforeRead = () => {
    throw new Error("nobody answers here either");
  };
  const unknown = await assertRejects(
    () => writer.append(started("r1")),
    SessionStorageError,
  );
  assertEquals([unknown.committed, unknown.retryable], ["unknown", true]);
});

test("an append whose outcome the medium does not know is passed on and forgotten", async () => {
  const { journal, storage } = openStorage();
  await recordRun(storage, "r1");
  journal.append = async (sessionId, entry) => {
    await MemoryJournal.prototype.append.call(journal, sessionId, entry);
    throw new SessionStorageError("fsync failed", { committed: "unknown" });
  };
  const recordId = "0".repeat(32);
  const error = await assertRejects(
    () => storage.append(started("r2"), { recordId }),
    SessionStorageError,
  );
  assertEquals(error.committed, "unknown");
  const stored = await storage.append(started("r2"), { recordId });
  assertEquals([stored.recordId, stored.revision], [recordId, 4]);
});

test("a writer that is always too late gives up", async () => {
  const { journal, storage } = openStorage({
    clock: {
      now: () => 0,
      setTimer: (_ms, fire) => (queueMicrotask(fire), () => {}),
    },
  });
  await storage.append(started("r1"));
  const racer = new JournalTreeStorage(journal);
  let count = 0;
  journal.beforeAppend = async ({ line }) => {
    if (line.includes("mine")) {
      await racer.append(answered("r1", 2, `theirs ${count++}`));
    }
  };
  const error = await assertRejects(
    () => storage.append(answered("r1", 2, "mine")),
    SessionStorageError,
    "Too many writers",
  );
  assertEquals([count, error.retryable], [16, true]);
});

test("a storage that can only be read says so", async () => {
  const archive = new MemoryJournal();
  Object.assign(archive, {
    capabilities: { ...archive.capabilities, conditionalAppend: "none" },
  });
  const storage = new JournalTreeStorage(archive);
  assertEquals(await storage.load(s), null);
  await assertRejects(
    () => storage.append(started("r1")),
    SessionUnsupportedError,
  );
  await assertRejects(
    () => storage.save(new AgentSession(s)),
    SessionUnsupportedError,
  );
});

test("wrong arguments are named before anything is done", async () => {
  const { journal, storage } = openStorage();
  await assertRejects(
    () => storage.load(7 as unknown as string),
    TypeError,
    "sessionId",
  );
  await assertRejects(
    () => storage.load(" \u0085"),
    RangeError,
    "sessionId must not be blank",
  );
  await assertRejects(
    () => storage.head(s, { branchId: "" }),
    RangeError,
    "branchId",
  );
  await assertRejects(
    () => storage.rollback(s, { toRecordId: " " }),
    RangeError,
    "toRecordId",
  );
  await assertRejects(
    () => storage.prepareRetry(s, { runId: "" }),
    RangeError,
    "runId",
  );
  await assertRejects(
    () => storage.save({} as AgentSession),
    TypeError,
    "AgentSession",
  );
  await assertRejects(
    () => storage.append({ ...started("r1"), kind: "run_paused" } as never),
    TypeError,
    "kind must be one of",
  );
  await assertRejects(
    () => storage.append({ ...started("r1"), sequence: 1.5 }),
    TypeError,
    "sequence",
  );
  const none = null as never;
  const calls = {
    load: () => storage.load(s, none),
    checkout: () => storage.checkout(s, none),
    head: () => storage.head(s, none),
    listBranches: () => storage.listBranches(s, none),
    records: () => storage.records(s, none),
    append: () => storage.append(started("r1"), none),
    save: () => storage.save(new AgentSession(s), none),
    fork: () => storage.fork(s, none),
    rollback: () => storage.rollback(s, none),
    prepareRetry: () => storage.prepareRetry(s, none),
    recoverInterruptedRun: () => storage.recoverInterruptedRun(s, none),
    checkpointIfDue: () => storage.checkpointIfDue(s, none),
  };
  for (const call of Object.values(calls)) {
    await assertRejects(call, TypeError, "The options must be an object");
  }
  await assertRejects(() => storage.append(none), TypeError, "draft");
  for (const name of ["branchId", "sourceBranch", "fromRecordId"]) {
    const fork = () => storage.fork(s, { [name]: null });
    await assertRejects(fork, TypeError, `${name} must be a string`);
  }
  assertEquals([journal.readCount, journal.appendCount], [0, 0]);
  assertThrows(
    () => new JournalTreeStorage({} as MemoryJournal),
    TypeError,
    "backend",
  );
  assertThrows(
    () => new JournalTreeStorage(journal, { cachedSessionCount: -1 }),
    RangeError,
  );
  assertThrows(
    () => new JournalTreeStorage(journal, { checkpointEvery: 0 }),
    RangeError,
  );
});

test("an id source that names nothing stores nothing", async () => {
  const { journal, storage } = openStorage({ ids: { next: () => "\xa0" } });
  await assertRejects(() => storage.append(started("r1")), RangeError);
  await assertRejects(() => storage.save(new AgentSession(s)), RangeError);
  assertEquals(journal.appendCount, 0);
});

test("mutating what a storage gave or took changes nothing that is stored", {
  case: "SE-G-08",
}, async () => {
  const { storage } = openStorage();
  const mine = new AgentSession(s, "contract-agent");
  mine.beginContinue({ runId: "r1", sequence: 1 });
  await storage.save(mine);
  const [one, two] = [(await storage.load(s))!, (await storage.load(s))!];
  mine.appendMessage({ runId: "r1", sequence: 2 }, {
    role: "user",
    content: "mine",
  });
  one.appendMessage({ runId: "r1", sequence: 2 }, {
    role: "user",
    content: "one",
  });
  assertEquals([two.messages, (await storage.load(s))!.messages], [[], []]);
});

test("a storage that was closed opens again", async () => {
  const { storage } = openStorage();
  await storage.append(started("r1"));
  await storage.close();
  assertEquals((await storage.append(finished("r1", 2))).revision, 2);
});

test("what can be recorded has room in a compaction and in a checkpoint", async () => {
  const { storage } = openStorage();
  const deepest = { role: "assistant", content: "", x: nested(478) } as const;
  const tooDeep = { ...deepest, x: nested(479) };
  const parts = [{ type: "text", text: "", x: nested(477) }] as const;
  await storage.append(
    draftWith(started("r1"), { run_id: "r1", task: "", content: parts }),
  );
  const answer = answered("r1", 2, "");
  const refused = await assertRejects(
    () => storage.append(draftWith(answer, { run_id: "r1", message: tooDeep })),
    SessionSerializationError,
  );
  assertEquals(
    refused.message,
    "The data of a record must be JSON and holds a cycle or more than 480 levels " +
      "at message.x[0][0][0][0][0][0][0]…",
  );
  await storage.append(
    draftWith(answer, { run_id: "r1", message: deepest }),
  );
  await storage.append(finished("r1", 3));
  const compaction = compacted("c1", 4, "so far");
  const { messages } = (await storage.load(s))!;
  await storage.append(
    draftWith(compaction, { ...compaction.data, messages }),
  );
  const saved = await storage.save((await storage.load(s))!);
  assertEquals(saved.revision, 5);
});

function draftWith(draft: SessionRecordDraft, data: unknown) {
  return { ...draft, data } as SessionRecordDraft;
}

function nested(levels: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < levels; level++) value = [value];
  return value;
}

test("a record that no stack can hold is damage with a place", async () => {
  const { journal, storage } = openStorage();
  await storage.append(started("r1"));
  await storage.append(answered("r1", 2, "here"));
  const lines = await linesOf(journal);
  for (const levels of [1_001, 5_000, 100_000]) {
    const deep = `${"[".repeat(levels)}${"]".repeat(levels)}`;
    const copy = new MemoryJournal();
    await importJournal(
      { backend: copy },
      new Blob([`${lines[0]}\n`]).stream(),
    );
    await copy.append(s, {
      after: { revision: 1, recordId: JSON.parse(lines[0]!).record_id },
      revision: 2,
      recordId: JSON.parse(lines[1]!).record_id,
      line: lines[1]!.replace('"here"', deep),
      checkpoint: false,
    });
    for (const call of ["load", "records"] as const) {
      const error = await assertRejects(
        () => new JournalTreeStorage(copy)[call](s),
        SessionSerializationError,
      );
      assertEquals(error.line, 2);
    }
  }
});

test("a clock that tells no time is named, and nothing is written", async () => {
  for (const time of [NaN, 9e15, "noon"]) {
    const clock = { ...systemClock, now: () => time as number };
    const { journal, storage } = openStorage({ clock });
    await assertRejects(
      () => storage.append(started("r1")),
      SessionSerializationError,
      `since the Unix epoch, not ${time}`,
    );
    assertEquals(journal.appendCount, 0);
  }
});

test("rounded integers are reported once and listed by the session", async () => {
  const warnings: string[] = [];
  const { expected, journal } = openFixture("structured-values");
  const storage = new JournalTreeStorage(journal, {
    logger: { warn: (text) => warnings.push(text) },
  });
  const session = (await storage.load(expected.session_id))!;
  assertEquals(session.lossyNumbers, [
    "1000000000000000000000000000000",
    "9223372036854775809",
  ]);
  assertEquals(warnings, [
    "The journal holds numbers that were rounded when read",
  ]);
  assertEquals(
    (await openFixture("plain-run").storage.load("plain-run"))!.lossyNumbers,
    [],
  );
});

test("a checkpoint that contradicts itself is read with a warning", async () => {
  const session = new AgentSession(s, "contract-agent");
  session.beginRun({ runId: "r1", sequence: 1 }, "go");
  const { journal, storage } = openStorage();
  await storage.save(session);
  const [line] = await linesOf(journal);
  const record = JSON.parse(line!);
  record.data.document.session.entries[0].run_id = "r9";
  journal.delete(s);
  await journal.append(s, {
    after: null,
    revision: 1,
    recordId: record.record_id,
    line: JSON.stringify(record),
    checkpoint: false,
  });
  const warnings: string[] = [];
  const reader = new JournalTreeStorage(journal, {
    logger: { warn: (text) => warnings.push(text) },
  });
  assertEquals((await reader.load(s))!.entries[0]?.runId, "r9");
  assertEquals(warnings, ['An entry belongs to the unknown run "r9"']);
});

test("closing a storage closes its medium once", async () => {
  const closed: string[] = [];
  const journal: MemoryJournal & { close?: () => Promise<void> } =
    new MemoryJournal();
  journal.close = async () => {
    await Promise.resolve();
    closed.push("closed");
  };
  const storage: SessionStorage & AsyncDisposable = new JournalTreeStorage(
    journal,
  );
  await storage[Symbol.asyncDispose]();
  assertEquals(closed, ["closed"]);
});
