import { SummaryEntry } from "../../src/context/summary.ts";
import type { AgentMessage } from "../../src/messages/message.ts";
import { runResult } from "../../src/messages/result.ts";
import { SessionSerializationError } from "../../src/session/errors.ts";
import { AgentSession } from "../../src/session/session.ts";
import {
  sessionFromJson,
  sessionToJson,
} from "../../src/session/session_codec.ts";
import { assert, assertEquals, assertThrows } from "../support/assert.ts";
import { test } from "../support/suite.ts";

const done = runResult({ stopReason: "text_response", turns: 1, output: "ok" });

function answer(content: string): AgentMessage {
  return { role: "assistant", content };
}

/** A session with a number of finished runs of two messages each. */
function sessionWith(runCount: number): AgentSession {
  const session = new AgentSession("s", "agent");
  for (let number = 1; number <= runCount; number++) addRun(session, number);
  return session;
}

function addRun(session: AgentSession, number: number): void {
  const runId = `r${number}`;
  session.beginRun({ runId, sequence: 1 }, `question ${number}`);
  session.appendMessage({ runId, sequence: 3 }, answer(`answer ${number}`));
  session.finishRun({ runId, sequence: 5 }, done);
}

function assertRefused(work: () => void, text: string): void {
  assertThrows(work, SessionSerializationError, text);
}

test("sequences of a run never go back, and a run ends behind its last event", {
  case: "SE-G-01",
}, () => {
  const session = new AgentSession("s", "agent");
  session.beginRun({ runId: "r1", sequence: 1 }, "go");
  session.appendMessage({ runId: "r1", sequence: 3 }, answer("a"));
  session.appendMessage({ runId: "r1", sequence: 3 }, answer("b"));
  assertRefused(
    () => session.appendMessage({ runId: "r1", sequence: 2 }, answer("c")),
    "backwards",
  );
  assertRefused(
    () => session.finishRun({ runId: "r1", sequence: 3 }, done),
    "after its last event",
  );
  session.finishRun({ runId: "r1", sequence: 4 }, done);
  assertRefused(
    () => session.appendMessage({ runId: "r1", sequence: 9 }, answer("d")),
    "already finished",
  );
  assertEquals(session.messages.map(({ content }) => content), [
    "go",
    "a",
    "b",
  ]);
});

test("one run is open at a time, and no run id comes twice", {
  case: "SE-G-02",
}, () => {
  const session = sessionWith(1);
  session.beginContinue({ runId: "r2", sequence: 1 });
  assertRefused(
    () => session.beginRun({ runId: "r3", sequence: 1 }, "x"),
    "unfinished run",
  );
  session.finishRun({ runId: "r2", sequence: 2 }, done);
  assertRefused(
    () => session.beginRun({ runId: "r1", sequence: 1 }, "x"),
    "exists already",
  );
  assertRefused(
    () => session.appendMessage({ runId: "r9", sequence: 1 }, answer("x")),
    "Unknown",
  );
  assertEquals(session.runs.map(({ intent, task }) => [intent, task]), [
    ["task", "question 1"],
    ["continue", null],
  ]);
});

const summary = new SummaryEntry({
  content: "two questions",
  source: "test",
  historyStartIndex: 0,
  firstKeptIndex: 4,
  summarizedMessageCount: 4,
  tokensBefore: 40,
});

test("a compaction replaces the conversation and keeps the entries", {
  case: "SE-G-03",
}, () => {
  const session = sessionWith(3);
  const messages: AgentMessage[] = [
    { role: "system", content: "summary" },
    { role: "user", content: "third" },
    answer("three"),
  ];
  session.applyCompaction({
    operationId: "o1",
    sequence: 2,
    summary,
    messages,
  });
  addRun(session, 4);
  assertEquals(session.messages.map(({ content }) => content), [
    "summary",
    "third",
    "three",
    "question 4",
    "answer 4",
  ]);
  assertEquals(session.entries.length, 8);
  assertEquals(session.compactions[0]?.coveredEntryCount, 6);
});

test("a compaction has an id of its own and leaves something", {
  case: "SE-G-04",
}, () => {
  const session = sessionWith(1);
  const compaction = {
    operationId: "o1",
    sequence: 2,
    summary,
    messages: [answer("kept")],
  };
  session.applyCompaction(compaction);
  assertRefused(() => session.applyCompaction(compaction), "exists already");
  assertRefused(
    () =>
      session.applyCompaction({
        ...compaction,
        operationId: "o2",
        messages: [],
      }),
    "at least one message",
  );
});

test("a session belongs to one agent for good", { case: "SE-G-09" }, () => {
  const session = new AgentSession(" s ");
  assertEquals([session.sessionId, session.agentId], ["s", null]);
  session.bindAgent("a");
  session.bindAgent("a");
  assertRefused(
    () => session.bindAgent("b"),
    'belongs to agent "a", not to "b"',
  );
});

test("a task may be a list of parts, whose text stands for it", () => {
  const session = new AgentSession("s", "agent");
  const parts = [
    { type: "text", text: "What is this?" },
    { type: "image_url", image_url: { url: "data:image/png;base64,AA==" } },
  ] as const;
  session.beginRun({ runId: "r1", sequence: 1 }, parts);
  assertEquals(session.lastRun?.task, "What is this?");
  assertEquals<unknown>(session.messages[0]?.content, parts);
});

test("what a session hands out cannot be changed, and what it was given may", () => {
  const session = new AgentSession("s", "agent");
  const mine = { role: "assistant" as const, content: "kept" };
  session.beginRun({ runId: "r1", sequence: 1 }, "go");
  session.appendMessage({ runId: "r1", sequence: 2 }, mine);
  mine.content = "changed";
  assertEquals(session.messages[1]?.content, "kept");
  assert(
    Object.isFrozen(session.messages) &&
      session.messages.every(Object.isFrozen),
  );
  assert(
    Object.isFrozen(session.entries[0]) && Object.isFrozen(session.runs[0]),
  );
  const before = session.messages;
  session.finishRun({ runId: "r1", sequence: 3 }, done);
  assertEquals(before.length, session.messages.length);
});

test("the white space of ids is that of the journal's file names", () => {
  assertEquals(new AgentSession("\u001c\u0085\u3000 id\u2028").sessionId, "id");
  assertEquals(new AgentSession("\ufeffid").sessionId, "\ufeffid");
  assertThrows(() => new AgentSession("\u001f\u00a0"), RangeError, "blank");
  assertThrows(
    () => new AgentSession(7 as unknown as string),
    TypeError,
    "string",
  );
  assertThrows(
    () => new AgentSession("half \ud83d"),
    SessionSerializationError,
    "surrogate",
  );
});

test("a session turns into its document wherever JSON is written", () => {
  const session = new AgentSession("s", "a");
  session.beginRun({ runId: "r1", sequence: 1 }, "Hello?");
  assertEquals(session.toJSON(), sessionToJson(session));
  const text = JSON.stringify({ session });
  assertEquals(
    sessionFromJson(JSON.parse(text).session).messages,
    session.messages,
  );
});
