import type { IdSource } from "../../src/base/ports.ts";
import { SummaryEntry } from "../../src/context/summary.ts";
import { agentEvent, type AgentEventPayload } from "../../src/events/event.ts";
import { assistantMessage, toolMessage } from "../../src/messages/message.ts";
import { runResult } from "../../src/messages/result.ts";
import { modelUsage } from "../../src/messages/usage.ts";
import {
  SessionConflictError,
  SessionLockTimeoutError,
  SessionSerializationError,
  SessionStorageError,
  SessionUnsupportedError,
} from "../../src/session/errors.ts";
import { MemorySessionStorage } from "../../src/session/memory.ts";
import { SessionRecorder } from "../../src/session/recorder.ts";
import type { AgentSession } from "../../src/session/session.ts";
import {
  sessionFromJson,
  sessionToJson,
} from "../../src/session/session_codec.ts";
import type { WireSessionDocument } from "../../src/session/session_document.ts";
import type { SessionStorage } from "../../src/session/storage.ts";
import { JournalTreeStorage } from "../../src/session/tree_storage.ts";
import {
  assertEquals,
  assertRejects,
  assertStrictEquals,
  assertThrows,
} from "../support/assert.ts";
import { test } from "../support/suite.ts";
import { CountingJournal } from "./counting_journal.ts";

const sessionId = "s";

/** Emits the events of one run, numbered from 1. */
function runOf(recorder: SessionRecorder, runId = "r1", agentId = "agent") {
  let sequence = 0;
  return async (...payloads: AgentEventPayload[]): Promise<void> => {
    for (const payload of payloads) {
      sequence += 1;
      const envelope = { agentId, runId, sequence, timeMs: 1 };
      await recorder.emit(agentEvent(envelope, { ...payload }));
    }
  };
}

const call = { id: "c1", name: "act", arguments: "{}" };
const usage = modelUsage({ inputTokens: 5, outputTokens: 2 });
const started: AgentEventPayload = { kind: "agent_started", task: "go" };
const asks: AgentEventPayload = {
  kind: "message_completed",
  turn: 1,
  message: assistantMessage(null, [call]),
  usage,
  finishReason: "tool_calls",
};
const begins: AgentEventPayload = {
  kind: "tool_started",
  turn: 1,
  toolCall: call,
};
const settles: AgentEventPayload = {
  kind: "tool_completed",
  turn: 1,
  toolCall: call,
  result: {
    messages: [toolMessage("c1", "done")],
    control: "continue",
    output: null,
    error: null,
    cancelled: false,
  },
};
const answers: AgentEventPayload = {
  kind: "message_completed",
  turn: 2,
  message: assistantMessage("done"),
  usage: null,
  finishReason: "stop",
};
const ends: AgentEventPayload = {
  kind: "agent_finished",
  result: runResult({ stopReason: "text_response", turns: 2, output: "done" }),
};
const wholeRun: readonly AgentEventPayload[] = [
  started,
  { kind: "turn_started", turn: 1 },
  asks,
  begins,
  settles,
  { kind: "turn_completed", turn: 1 },
  { kind: "turn_started", turn: 2 },
  answers,
  { kind: "turn_completed", turn: 2 },
  ends,
];

test(
  "what changes the session is recorded with the place of its event, and nothing else",
  {
    case: "SE-L-01",
  },
  async () => {
    const storage = new MemorySessionStorage();
    const recorder = new SessionRecorder({ storage, sessionId });
    await runOf(recorder)(...wholeRun);
    const records = await storage.records(sessionId);
    assertEquals(records.map(({ kind, sequence }) => [kind, sequence]), [
      ["run_started", 1],
      ["message_appended", 3],
      ["messages_appended", 5],
      ["message_appended", 8],
      ["run_finished", 10],
    ]);
    const session = (await recorder.load())!;
    assertEquals<unknown>(session.messages, [
      { role: "user", content: "go" },
      {
        role: "assistant",
        content: null,
        tool_calls: [{
          id: "c1",
          type: "function",
          function: { name: "act", arguments: "{}" },
        }],
        usage: {
          input_tokens: 5,
          output_tokens: 2,
          total_tokens: 7,
          cache_read_tokens: null,
          cache_write_tokens: null,
          reasoning_tokens: null,
        },
      },
      { role: "tool", tool_call_id: "c1", content: "done" },
      { role: "assistant", content: "done" },
    ]);
    assertEquals([session.agentId, session.lastRun?.result?.output], [
      "agent",
      "done",
    ]);
  },
);

test(
  "compactions that came to nothing and discarded steering leave no record",
  {
    case: "SE-L-02",
  },
  async () => {
    const storage = new MemorySessionStorage();
    const emit = runOf(new SessionRecorder({ storage, sessionId }));
    const control = {
      inputId: "i1",
      kind: "steering",
      content: "hurry",
    } as const;
    const nothing = {
      summary: null,
      messages: [],
      trigger: "explicit",
      operationId: "o",
    } as const;
    await emit(
      started,
      {
        kind: "compaction_completed",
        result: { ...nothing, status: "skipped" } as never,
      },
      {
        kind: "compaction_failed",
        result: { ...nothing, status: "failed", error: "x" } as never,
      },
      { kind: "steering_applied", control, targetTurn: 1 },
      { kind: "steering_discarded", control, reason: "max_steps" },
      { kind: "assistant_text_delta", turn: 1, delta: "d" },
      ends,
    );
    const kinds = (await storage.records(sessionId)).map(({ kind }) => kind);
    assertEquals(kinds, ["run_started", "steering_applied", "run_finished"]);
    assertEquals(
      (await storage.load(sessionId))!.messages[1]?.content,
      "hurry",
    );
  },
);

test("a completed compaction is recorded outside of runs, too", async () => {
  const storage = new MemorySessionStorage();
  const recorder = new SessionRecorder({ storage, sessionId });
  await runOf(recorder)(...wholeRun);
  const summary = new SummaryEntry({
    content: "it went well",
    source: "test",
    historyStartIndex: 0,
    firstKeptIndex: 4,
    summarizedMessageCount: 4,
    tokensBefore: 9,
  });
  const messages = [{ role: "system", content: "it went well" }];
  const result = {
    status: "completed",
    summary,
    messages,
    operationId: "o1",
  } as never;
  await runOf(recorder, "compaction")({ kind: "compaction_completed", result });
  const session = (await recorder.load())!;
  assertEquals<unknown>(session.messages, messages);
  assertEquals(session.compactions[0]?.summary.toJSON(), summary.toJSON());
});

test("a task of parts is recorded with its parts", async () => {
  const storage = new MemorySessionStorage();
  const content = [
    { type: "text", text: "look" },
    { type: "image_url", image_url: { url: "data:image/png;base64,AA==" } },
  ] as const;
  await runOf(new SessionRecorder({ storage, sessionId }))({
    kind: "agent_started",
    task: "look",
    content,
  });
  const [record] = await storage.records(sessionId);
  assertEquals<unknown>(record?.data, { run_id: "r1", task: "look", content });
  assertEquals<unknown>(
    (await storage.load(sessionId))!.messages[0]?.content,
    content,
  );
});

test(
  "a foreign record within a run is a conflict, and the run leaves no hole",
  {
    case: "SE-L-05",
  },
  async () => {
    const storage = new MemorySessionStorage();
    const failures: unknown[] = [];
    const recorder = new SessionRecorder({
      storage,
      sessionId,
      onFailure: (error) => failures.push(error),
    });
    const emit = runOf(recorder);
    await emit(started, asks);
    await storage.save((await storage.load(sessionId))!);
    const error = await assertRejects(
      () => emit(settles),
      SessionConflictError,
    );
    await emit(answers, ends);
    assertEquals((await storage.records(sessionId)).map(({ kind }) => kind), [
      "run_started",
      "message_appended",
      "checkpoint",
    ]);
    assertEquals(failures, [error]);
    assertStrictEquals(recorder.failure, error);
  },
);

test("an event that leaves no record makes nobody wait", async () => {
  const storage = new MemorySessionStorage();
  const recorder = new SessionRecorder({ storage, sessionId });
  const emit = (sequence: number, payload: AgentEventPayload) => {
    const envelope = { agentId: "agent", runId: "r1", sequence, timeMs: 1 };
    return recorder.emit(agentEvent(envelope, { ...payload }));
  };
  const recording = emit(1, started);
  assertEquals(recording instanceof Promise, true);
  assertEquals(emit(2, begins), undefined, "even while a record is stored");
  await recording;
  assertEquals((await storage.records(sessionId)).length, 1);
});

test("the next run is recorded again, behind whatever is there", async () => {
  const storage = new MemorySessionStorage();
  const recorder = new SessionRecorder({ storage, sessionId });
  const emit = runOf(recorder);
  await emit(started);
  await storage.recoverInterruptedRun(sessionId);
  await assertRejects(() => emit(answers), SessionConflictError);
  await runOf(recorder, "r2")(...wholeRun);
  assertEquals(recorder.failure, null);
  assertEquals(
    (await storage.load(sessionId))!.runs.map(({ runId }) => runId),
    ["r1", "r2"],
  );
});

test("a recorder that was given a checkout goes on from nothing newer", async () => {
  const storage = new MemorySessionStorage();
  await runOf(new SessionRecorder({ storage, sessionId }))(...wholeRun);
  const checkout = (await storage.checkout(sessionId))!;
  const recorder = new SessionRecorder({ storage, sessionId });
  recorder.continueFrom(checkout);
  await runOf(recorder, "r2")(...wholeRun);

  const late = new SessionRecorder({ storage, sessionId });
  late.continueFrom(checkout);
  await assertRejects(() => runOf(late, "r3")(started), SessionConflictError);
  await runOf(late, "r4")(started);
  assertEquals((await storage.load(sessionId))!.unfinishedRunIds, ["r4"]);

  const elsewhere = new SessionRecorder({ storage, sessionId: "other" });
  elsewhere.continueFrom(checkout);
  await runOf(elsewhere)(started);
});

test("two branches are recorded side by side", async () => {
  const storage = new MemorySessionStorage();
  await runOf(new SessionRecorder({ storage, sessionId }), "base")(...wholeRun);
  await storage.fork(sessionId, { branchId: "side" });
  const main = runOf(new SessionRecorder({ storage, sessionId }), "on-main");
  const side = runOf(
    new SessionRecorder({ storage, sessionId, branchId: " side " }),
    "on-side",
  );
  for (const payload of wholeRun) {
    await Promise.all([main(payload), side(payload)]);
  }
  for (const [branchId, last] of [["main", "on-main"], ["side", "on-side"]]) {
    const { session } = (await storage.checkout(sessionId, { branchId }))!;
    assertEquals(session.runs.map(({ runId }) => runId), ["base", last]);
  }
  const ghost = new SessionRecorder({ storage, sessionId, branchId: "ghost" });
  await assertRejects(() => runOf(ghost)(started), Error, 'no branch "ghost"');
});

test(
  "a session takes no records of another agent",
  { case: "SE-L-09" },
  async () => {
    const storage = new MemorySessionStorage();
    const recorder = new SessionRecorder({ storage, sessionId });
    await runOf(recorder, "r1", "a")(...wholeRun);
    const error = await assertRejects(
      () => runOf(recorder, "r2", "b")(started),
      SessionSerializationError,
    );
    assertEquals(
      error.message,
      `Session "${sessionId}" belongs to agent "a", not to "b"; use its agentId`,
    );
    assertEquals((await storage.records(sessionId)).length, 5);
  },
);

test("a storage that is locked for a while is asked once more", async () => {
  const journal = new CountingJournal();
  const recorder = new SessionRecorder({
    storage: new JournalTreeStorage(journal),
    sessionId,
  });
  const emit = runOf(recorder);
  await emit(started);
  let lockedCount = 1;
  journal.beforeAppend = () => {
    if (lockedCount-- > 0) {
      throw new SessionLockTimeoutError("The lock was not free");
    }
  };
  await emit(asks);
  lockedCount = 2;
  await assertRejects(() => emit(settles), SessionLockTimeoutError);
  assertEquals(journal.appendCount, 5);
});

test("a record whose answer was lost is not recorded twice", async () => {
  const journal = new CountingJournal();
  const ids: IdSource = { next: () => `id-${journal.appendCount}` };
  const storage = new JournalTreeStorage(journal);
  const emit = runOf(new SessionRecorder({ storage, sessionId, ids }));
  await emit(started);
  const append = journal.append.bind(journal);
  journal.append = async (...entry) => {
    journal.append = append;
    await append(...entry);
    throw new SessionStorageError("Connection lost", {
      committed: "unknown",
      retryable: true,
    });
  };
  await emit(asks, settles);
  const kinds = (await storage.records(sessionId)).map(({ kind }) => kind);
  assertEquals(kinds, ["run_started", "message_appended", "messages_appended"]);
});

test("a record whose answer was lost is found before a checkpoint, too", async () => {
  const journal = new CountingJournal();
  const storage = new JournalTreeStorage(journal, { cachedSessionCount: 0 });
  const emit = runOf(new SessionRecorder({ storage, sessionId }));
  await emit(started);
  const append = journal.append.bind(journal);
  journal.append = async (...entry) => {
    journal.append = append;
    await append(...entry);
    const other = new JournalTreeStorage(journal);
    await other.save((await other.load(sessionId))!);
    throw new SessionStorageError("Connection lost", {
      committed: "unknown",
      retryable: true,
    });
  };
  await emit(asks);
  const kinds = (await storage.records(sessionId)).map(({ kind }) => kind);
  assertEquals(kinds, ["run_started", "message_appended", "checkpoint"]);
});

test("what a recorder writes is not looked for before a checkpoint", async () => {
  const journal = new CountingJournal();
  const first = new JournalTreeStorage(journal, { checkpointEvery: 1 });
  await runOf(new SessionRecorder({ storage: first, sessionId }))(...wholeRun);
  const storage = new JournalTreeStorage(journal);
  journal.lineCount = 0;
  await runOf(new SessionRecorder({ storage, sessionId }), "r2")(...wholeRun);
  assertEquals(journal.lineCount, 0);
});

test("calls that begin are marked if that is wanted", async () => {
  const other = { ...call, id: "c2", name: "look" };
  const kindsWith = async (
    journalToolStarts?: boolean | ((one: typeof call) => boolean),
  ) => {
    const storage = new MemorySessionStorage();
    const recorder = new SessionRecorder({
      storage,
      sessionId,
      ...(journalToolStarts !== undefined && { journalToolStarts }),
    });
    await runOf(recorder)(started, asks, begins, settles, {
      ...begins,
      toolCall: other,
    });
    return (await storage.records(sessionId)).flatMap((record) =>
      record.kind === "messages_appended"
        ? [record.data.tool_started ?? null]
        : []
    );
  };
  const [first, second] = [call, other].map(({ id, name }) => ({
    tool_call_id: id,
    name,
  }));
  assertEquals<unknown>(await kindsWith(), [null]);
  assertEquals<unknown>(await kindsWith(true), [first, null, second]);
  assertEquals<unknown>(await kindsWith(({ name }) => name === "look"), [
    null,
    second,
  ]);
});

test("a finished run makes a checkpoint if one is due", async () => {
  const storage = new MemorySessionStorage({ checkpointEvery: 5 });
  const recorder = new SessionRecorder({ storage, sessionId });
  await runOf(recorder, "r1")(...wholeRun);
  assertEquals((await storage.head(sessionId))!.kind, "checkpoint");
  await runOf(recorder, "r2")(...wholeRun);
  assertEquals((await storage.load(sessionId))!.runs.length, 2);
});

/** A storage that knows whole sessions alone. */
class Snapshots implements SessionStorage {
  readonly saved: WireSessionDocument[] = [];
  failsNext = false;

  async load(): Promise<AgentSession | null> {
    const last = await Promise.resolve(this.saved.at(-1));
    return last === undefined ? null : sessionFromJson(last);
  }

  async save(session: AgentSession): Promise<void> {
    if (this.failsNext) throw new SessionStorageError("Full");
    this.saved.push(await Promise.resolve(sessionToJson(session)));
  }
}

test("a storage without branches is given the whole session after every event", async () => {
  const storage = new Snapshots();
  const recorder = new SessionRecorder({ storage, sessionId });
  await runOf(recorder)(...wholeRun);
  await runOf(recorder, "r2")(started);
  assertEquals(storage.saved.length, 6);
  const session = (await recorder.load())!;
  assertEquals(session.runs.map(({ runId }) => runId), ["r1", "r2"]);
  assertEquals(session.messages.length, 5);
});

test("a snapshot that cannot be saved ends the recording of its run", async () => {
  const storage = new Snapshots();
  const recorder = new SessionRecorder({ storage, sessionId });
  const emit = runOf(recorder);
  await emit(started);
  storage.failsNext = true;
  await assertRejects(() => emit(asks), SessionStorageError, "Full");
  storage.failsNext = false;
  await emit(settles, ends);
  assertEquals(storage.saved.length, 1);
});

test("a branch needs a storage that has branches", { case: "SE-L-08" }, () => {
  const storage = new Snapshots();
  assertThrows(
    () => new SessionRecorder({ storage, sessionId, branchId: "x" }),
    SessionUnsupportedError,
    '"x"',
  );
  new SessionRecorder({ storage, sessionId, branchId: "main" });
});

test("a recorder is required unless it is told otherwise", () => {
  const storage = new MemorySessionStorage();
  assertEquals(new SessionRecorder({ storage, sessionId }).required, true);
  assertEquals(
    new SessionRecorder({ storage, sessionId, required: false }).required,
    false,
  );
  assertThrows(
    () => new SessionRecorder({ storage, sessionId: " " }),
    RangeError,
    "sessionId",
  );
  assertThrows(
    () => new SessionRecorder({ storage: {} as SessionStorage, sessionId }),
    TypeError,
    "storage",
  );
  assertThrows(
    () => new SessionRecorder({ storage, sessionId, required: "no" as never }),
    TypeError,
    "required",
  );
  const wrong = {
    onFailure: "onFailure must be a function",
    ids: "ids must have a function next()",
    journalToolStarts: "journalToolStarts must be true, false or a function",
  };
  for (const [name, message] of Object.entries(wrong)) {
    const options = { storage, sessionId, [name]: 3 };
    assertThrows(() => new SessionRecorder(options), TypeError, message);
  }
  assertThrows(
    () => new SessionRecorder(null as never),
    TypeError,
    "The options of a SessionRecorder",
  );
});
