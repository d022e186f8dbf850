import {
  type AgentEvent,
  agentEvent,
  type AgentEventPayload,
} from "../../src/events/event.ts";
import { runResult } from "../../src/messages/result.ts";
import { assistantMessage } from "../../src/messages/message.ts";
import {
  RecordingEventSink,
  traceOf,
} from "../../src/testing/recording_sink.ts";
import {
  assertEquals,
  assertRejects,
  assertStrictEquals,
} from "../support/assert.ts";
import { test } from "../support/suite.ts";

function eventsOf(...payloads: readonly AgentEventPayload[]): AgentEvent[] {
  return payloads.map((payload, index) =>
    agentEvent(
      { agentId: "a", runId: "r", sequence: index + 1, timeMs: 0 },
      payload,
    )
  );
}

// Only the members that the notation reads.
function payload(kind: AgentEvent["kind"], members: object): AgentEventPayload {
  return { kind, ...members } as AgentEventPayload;
}

const toolCall = { id: "c1", name: "echo", arguments: "{}" };
const settled = { messages: [], control: "continue", output: null };

test("a run is written in one line", () => {
  const message = assistantMessage(null, [toolCall]);
  const update = { message: "half", data: null };
  const trace = traceOf(eventsOf(
    { kind: "agent_started", task: "Go" },
    { kind: "turn_started", turn: 1 },
    { kind: "assistant_thinking_delta", turn: 1, delta: "hm" },
    { kind: "assistant_text_delta", turn: 1, delta: "x" },
    {
      kind: "message_completed",
      turn: 1,
      message,
      usage: null,
      finishReason: null,
    },
    { kind: "tool_started", turn: 1, toolCall },
    { kind: "tool_progressed", turn: 1, toolCall, update },
    payload("tool_completed", {
      turn: 1,
      toolCall,
      result: { ...settled, error: null, cancelled: false },
    }),
    { kind: "turn_completed", turn: 1 },
    {
      kind: "agent_finished",
      result: runResult({ stopReason: "text_response", output: "x" }),
    },
  ));
  assertEquals(
    trace,
    "AS TS1 hD xD MC tS(c1) tP(c1) tC(c1) TC1 AF(completed/text_response)",
  );
});

test("what went another way is written in parentheses", () => {
  const control = {
    inputId: "i",
    kind: "steering" as const,
    content: "Stop",
  };
  const ending = (result: object) =>
    payload("tool_completed", { turn: 2, toolCall, result });
  const trace = traceOf(eventsOf(
    { kind: "agent_continued" },
    { kind: "steering_applied", control, targetTurn: 2 },
    payload("context_pressure_evaluated", {
      turn: 2,
      decision: { shouldCompact: false },
      preparation: null,
    }),
    payload("compaction_started", { request: {} }),
    payload("compaction_completed", { result: { status: "completed" } }),
    payload("compaction_completed", { result: { status: "skipped" } }),
    payload("compaction_failed", { result: { status: "cancelled" } }),
    ending({ ...settled, error: "boom", cancelled: false }),
    ending({ ...settled, error: "aborted", cancelled: true }),
    { kind: "steering_discarded", control, reason: "external_abort" },
    {
      kind: "agent_finished",
      result: runResult({ stopReason: "external_abort" }),
    },
  ));
  assertEquals(
    trace,
    "AC SA CP cS cC cC(skipped) cF(cancelled) tC(c1,error) tC(c1,cancelled) SD " +
      "AF(cancelled/external_abort)",
  );
});

test("the sink keeps the very events, in order", async () => {
  const sink = new RecordingEventSink();
  const [started, turn] = eventsOf(
    { kind: "agent_started", task: "Go" },
    { kind: "turn_started", turn: 1 },
  );
  await sink.emit(started!);
  await sink.emit(turn!);
  assertStrictEquals(sink.events[0], started);
  assertEquals(sink.kinds, ["agent_started", "turn_started"]);
  assertEquals(sink.ofKind("turn_started")[0]?.turn, 1);
  assertEquals(sink.trace(), "AS TS1");
  sink.clear();
  assertEquals(sink.events, []);
});

test("a test can wait for the first event of a kind", async () => {
  const sink = new RecordingEventSink();
  const [started, turn] = eventsOf(
    { kind: "agent_started", task: "Go" },
    { kind: "turn_started", turn: 1 },
  );
  const later = sink.first("turn_started");
  await sink.emit(started!);
  await sink.emit(turn!);
  assertStrictEquals(await later, turn);
  assertStrictEquals(await sink.first("agent_started"), started);
});

test("what the hook throws, the sink throws after recording", async () => {
  const sink = new RecordingEventSink({
    required: true,
    onEvent: () => Promise.reject(new Error("disk full")),
  });
  const [started] = eventsOf({ kind: "agent_started", task: "Go" });
  await assertRejects(
    async () => await sink.emit(started!),
    Error,
    "disk full",
  );
  assertEquals(sink.kinds, ["agent_started"]);
  assertEquals(sink.required, true);
  assertEquals(new RecordingEventSink().required, false);
});
