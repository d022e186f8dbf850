import type { AgentMessage } from "../../src/messages/message.ts";
import { SessionStorageError } from "../../src/session/errors.ts";
import type { SessionRecordDraft } from "../../src/session/record.ts";
import type { SessionRecoveryResult } from "../../src/session/storage.ts";
import { JournalTreeStorage } from "../../src/session/tree_storage.ts";
import {
  answered,
  called,
  draftOf,
  finished,
  recordRun,
  s,
  started,
  toolAnswered,
} from "../../src/testing/session_drafts.ts";
import { readJournal } from "../interop/journal_reader.ts";
import { type Json, openFixture } from "../interop/python_journals.ts";
import { assert, assertEquals, assertRejects } from "../support/assert.ts";
import { test } from "../support/suite.ts";
import { CountingJournal } from "./counting_journal.ts";

const unknownOutcome =
  "interrupted before a result was recorded; the call may or may not have taken effect";
const neverStarted = "interrupted before the call was started";
const clock = { now: () => Date.UTC(2026, 0, 2), setTimer: () => () => {} };

function openStorage(): {
  readonly journal: CountingJournal;
  readonly storage: JournalTreeStorage;
} {
  const journal = new CountingJournal();
  return { journal, storage: new JournalTreeStorage(journal, { clock }) };
}

async function appendAll(
  storage: JournalTreeStorage,
  drafts: readonly SessionRecordDraft[],
): Promise<void> {
  for (const draft of drafts) await storage.append(draft);
}

/** What the newest tool messages say. */
async function resultsIn(
  storage: JournalTreeStorage,
  branchId = "main",
): Promise<Json[]> {
  const { session } = (await storage.checkout(s, { branchId }))!;
  return session.messages.flatMap((message) =>
    message.role === "tool" && message.content.startsWith("{")
      ? [JSON.parse(message.content)]
      : []
  );
}

function assertRecovered(
  result: SessionRecoveryResult,
): asserts result is SessionRecoveryResult & { readonly status: "recovered" } {
  assertEquals(result.status, "recovered");
}

test("a run that died within its tools is closed, and what was done is kept", {
  case: ["SE-M-01", "B78"],
}, async () => {
  const { expected, journal } = openFixture("unfinished-run-tool");
  const storage = new JournalTreeStorage(journal, { clock });
  const before = (await storage.records(expected.session_id)).length;
  const result = await storage.recoverInterruptedRun(expected.session_id);
  assertRecovered(result);
  assertEquals(result.interruptedToolCallIds, ["k2", "k3"]);

  const [results, end] = (await storage.records(expected.session_id)).slice(
    before,
  ) as Json[];
  assertEquals([results.kind, results.revision, results.sequence], [
    "messages_appended",
    7,
    6,
  ]);
  assertEquals(
    results.data.messages.map((
      message: Json,
    ) => [message.role, message.tool_call_id]),
    [
      ["tool", "k2"],
      ["tool", "k3"],
    ],
  );
  assertEquals(
    results.data.messages[0].content,
    `{"status":"interrupted","tool":"charge_card","error":"${unknownOutcome}"}`,
  );
  assertEquals([end.kind, end.revision, end.sequence], ["run_finished", 8, 7]);
  assertEquals(end.data, {
    run_id: result.runId,
    result: {
      status: "failed",
      stop_reason: "runtime_error",
      turns: 1,
      output: null,
      error: "run interrupted: process_lost",
      usage: {
        input_tokens: 40,
        output_tokens: 9,
        total_tokens: 49,
        request_count: 1,
        reported_request_count: 1,
        cache_read_tokens: null,
        cache_write_tokens: null,
        reasoning_tokens: null,
      },
    },
    recovery: {
      version: 1,
      reason: "process_lost",
      interrupted_tool_call_ids: ["k2", "k3"],
      recovered_at: "2026-01-02T00:00:00.000Z",
    },
  });
  const contents = result.checkout.session.messages.map(({ content }) =>
    content
  );
  assert(contents.includes('{"ok": true}'), "The real result of k1 is gone");
  assertEquals(
    result.checkout.session.lastRun?.recovery?.interruptedToolCallIds,
    ["k2", "k3"],
  );
  assertEquals(
    result.checkout.session.lastRun?.result?.failure?.code,
    "interrupted",
  );
  assertEquals(readJournal(journal.bytes).branches.length, 1);
});

test("a run that died waiting for the model ends without results", {
  case: "SE-M-02",
}, async () => {
  const { expected, journal, storage } = openFixture("unfinished-run-model");
  const result = await storage.recoverInterruptedRun(expected.session_id, {
    reason: "restart",
  });
  assertRecovered(result);
  assertEquals(result.interruptedToolCallIds, []);
  const end = (await storage.head(expected.session_id)) as Json;
  assertEquals([end.kind, end.sequence], ["run_finished", 2]);
  const { turns, error, usage } = end.data.result;
  assertEquals([turns, error], [0, "run interrupted: restart"]);
  assertEquals(Object.values(usage), [0, 0, 0, null, null, null, 0, 0]);
  readJournal(journal.bytes);
});

test(
  "a torn line is cut off before the run is closed",
  { case: "SE-M-03" },
  async () => {
    const { expected, journal, storage } = openFixture(
      "torn-tail-after-unfinished",
    );
    const result = await storage.recoverInterruptedRun(expected.session_id);
    assertRecovered(result);
    assertEquals(result.interruptedToolCallIds, ["k2", "k3"]);
    const records = readJournal(journal.bytes).records;
    assertEquals(records.length, expected.journal.complete_lines + 2);
  },
);

test("there is nothing to recover where nothing was interrupted", async () => {
  const { storage } = openStorage();
  assertEquals(await storage.recoverInterruptedRun(s), { status: "clean" });
  await recordRun(storage, "r1");
  assertEquals(await storage.recoverInterruptedRun(s), { status: "clean" });
  assertEquals(await storage.recoverInterruptedRun(s, { branchId: "none" }), {
    status: "clean",
  });
  assertEquals((await storage.records(s)).length, 3);
});

test("a recovery that stopped halfway is finished by the next one", async () => {
  const { journal, storage } = openStorage();
  await appendAll(storage, [started("r1"), called("r1", 3, ["c1"])]);
  journal.beforeAppend = ({ revision }) => {
    if (revision === 4) throw new SessionStorageError("The disk is full");
  };
  await assertRejects(() => storage.recoverInterruptedRun(s));
  journal.beforeAppend = () => {};
  const result = await new JournalTreeStorage(journal).recoverInterruptedRun(s);
  assertRecovered(result);
  assertEquals(result.interruptedToolCallIds, []);
  assertEquals((await storage.records(s)).map(({ kind }) => kind), [
    "run_started",
    "message_appended",
    "messages_appended",
    "run_finished",
  ]);
});

test("a run that somebody else goes on with is looked at again", async () => {
  const { journal, storage } = openStorage();
  await appendAll(storage, [started("r1"), called("r1", 3, ["c1", "c2"])]);
  const owner = new JournalTreeStorage(journal);
  journal.beforeAppend = async () => {
    journal.beforeAppend = () => {};
    await owner.append(toolAnswered("r1", 5, "c1"));
  };
  const result = await storage.recoverInterruptedRun(s);
  assertRecovered(result);
  assertEquals(result.interruptedToolCallIds, ["c2"]);

  await appendAll(storage, [started("r2")]);
  journal.beforeAppend = async () => {
    journal.beforeAppend = () => {};
    await owner.append(finished("r2", 2));
  };
  assertEquals(await storage.recoverInterruptedRun(s), { status: "clean" });
});

test("two rescuers close a run once", async () => {
  const { journal, storage } = openStorage();
  await appendAll(storage, [started("r1"), called("r1", 3, ["c1"])]);
  const results = await Promise.all([
    storage.recoverInterruptedRun(s),
    new JournalTreeStorage(journal).recoverInterruptedRun(s),
  ]);
  assert(results.some(({ status }) => status === "recovered"));
  const kinds = (await storage.records(s)).slice(2).map(({ kind }) => kind);
  assertEquals(kinds, ["messages_appended", "run_finished"]);
});

test("branches are recovered one by one", { case: "SE-M-09" }, async () => {
  const { storage } = openStorage();
  await recordRun(storage, "r1");
  await storage.fork(s, { branchId: "side" });
  await appendAll(storage, [started("on-main"), called("on-main", 3, ["m1"])]);
  await appendAll(storage, [
    started("on-side", "go", "side"),
    { ...called("on-side", 3, ["s1"]), branchId: "side" },
  ]);
  const side = await storage.recoverInterruptedRun(s, { branchId: "side" });
  assertRecovered(side);
  assertEquals(side.interruptedToolCallIds, ["s1"]);
  assertEquals((await storage.load(s))!.unfinishedRunIds, ["on-main"]);
  const main = await storage.recoverInterruptedRun(s);
  assertRecovered(main);
  assertEquals(main.interruptedToolCallIds, ["m1"]);
  assertEquals((await resultsIn(storage, "side")).length, 1);
});

test("a branch that begins within an open run is recovered like any other", async () => {
  const { expected, storage } = openFixture("branch-at-open-run");
  const branches = await storage.listBranches(expected.session_id);
  const [, side] = branches;
  const before = await storage.checkout(expected.session_id, {
    branchId: side!.branchId,
  });
  const result = await storage.recoverInterruptedRun(expected.session_id, {
    branchId: side!.branchId,
  });
  const isOpen = before!.session.unfinishedRunIds.length > 0;
  assertEquals(result.status, isOpen ? "recovered" : "clean");
});

function answeredWith(
  sequence: number,
  usage: Json,
  callIds: readonly string[] = [],
): SessionRecordDraft {
  const draft = called("r1", sequence, callIds) as Json;
  const { tool_calls, ...rest } = draft.data.message;
  const message = {
    ...rest,
    ...(callIds.length > 0 && { tool_calls }),
    ...(usage && { usage }),
  };
  return draftOf("message_appended", sequence, {
    run_id: "r1",
    message: message as AgentMessage,
  });
}

test(
  "the usage of a run is what its answers reported",
  { case: "SE-M-10" },
  async () => {
    const usage = (
      input: number,
      cacheRead: number | null,
      reasoning: number | null,
    ) => ({
      input_tokens: input,
      output_tokens: 5,
      total_tokens: input + 5,
      cache_read_tokens: cacheRead,
      cache_write_tokens: null,
      reasoning_tokens: reasoning,
    });
    const { storage } = openStorage();
    await appendAll(storage, [
      started("r1"),
      answeredWith(2, usage(10, 4, 2), ["a"]),
      toolAnswered("r1", 3, "a"),
      answeredWith(4, null, ["a"]),
      toolAnswered("r1", 5, "a"),
      answeredWith(6, usage(20, null, 3), ["a"]),
    ]);
    const result = await storage.recoverInterruptedRun(s);
    assertRecovered(result);
    assertEquals(result.interruptedToolCallIds, ["a"]);
    const { turns, usage: total } = result.checkout.session.lastRun!.result!;
    assertEquals(turns, 3);
    assertEquals(
      [
        total.requestCount,
        total.reportedRequestCount,
        total.inputTokens,
        total.outputTokens,
      ],
      [3, 2, 30, 10],
    );
    assertEquals([total.cacheReadTokens, total.reasoningTokens], [null, 5]);
  },
);

test("usage and calls that make no sense are no obstacle", async () => {
  const { storage } = openStorage();
  const message = {
    role: "assistant",
    content: null,
    tool_calls: [null, "x", { id: "" }, { id: "named", function: null }, {
      id: 7,
    }],
    usage: { input_tokens: "many" },
  } as unknown as AgentMessage;
  await appendAll(storage, [
    started("r1"),
    draftOf("message_appended", 2, { run_id: "r1", message }),
  ]);
  const result = await storage.recoverInterruptedRun(s);
  assertRecovered(result);
  assertEquals(result.interruptedToolCallIds, ["named"]);
  assertEquals((await resultsIn(storage)).map(({ tool }) => tool), ["unknown"]);
});

function mark(sequence: number, id: string): SessionRecordDraft {
  const tool_started = { tool_call_id: id, name: "act" };
  return draftOf("messages_appended", sequence, {
    run_id: "r1",
    messages: [],
    tool_started,
  });
}

test("a marked call may have taken effect, and those behind it never began", {
  case: "SE-M-08",
}, async () => {
  const { journal, storage } = openStorage();
  await appendAll(storage, [
    started("r1"),
    called("r1", 3, ["c1", "c2", "c3"]),
    mark(4, "c1"),
    toolAnswered("r1", 5, "c1"),
    mark(6, "c2"),
  ]);
  await new JournalTreeStorage(journal, { clock }).recoverInterruptedRun(s);
  const shared = { status: "interrupted", tool: "act" };
  assertEquals(await resultsIn(storage), [
    { ...shared, error: unknownOutcome },
    { ...shared, error: neverStarted, started: false },
  ]);
});

test("marks of an earlier answer prove nothing about the newest", async () => {
  const { storage } = openStorage();
  await appendAll(storage, [
    started("r1"),
    called("r1", 3, ["c1"]),
    mark(4, "c1"),
    toolAnswered("r1", 5, "c1"),
    called("r1", 7, ["c1", "c2"]),
  ]);
  await storage.recoverInterruptedRun(s);
  const errors = (await resultsIn(storage)).map(({ error }) => error);
  assertEquals(errors, [unknownOutcome, unknownOutcome]);
});

test("a session that was recovered goes on", async () => {
  const { storage } = openStorage();
  await appendAll(storage, [started("r1"), called("r1", 3, ["c1"])]);
  const result = await storage.recoverInterruptedRun(s);
  assertRecovered(result);
  await recordRun(storage, "r2");
  await storage.fork(s, { fromRecordId: result.checkout.head.recordId });
  assertEquals((await storage.load(s))!.runs.map(({ runId }) => runId), [
    "r1",
    "r2",
  ]);
  await assertRejects(() => storage.append(answered("r1", 9, "late")));
});
