import {
  agentEvent,
  type AgentEventPayload,
  type CompactionResult,
  type ControlInput,
} from "../../mod.ts";
import { assert, assertEquals, assertThrows } from "../support/assert.ts";
import { test } from "../support/suite.ts";

const envelope = { agentId: "a", runId: "r", sequence: 1, timeMs: 7 };
const followUp: ControlInput = {
  inputId: "i",
  kind: "follow_up",
  content: "x",
};
const resultWith = (status: string) => ({ status }) as CompactionResult;

test("an event is flat and frozen", () => {
  const event = agentEvent(envelope, { kind: "turn_started", turn: 1 });
  assertEquals(event, { kind: "turn_started", turn: 1, ...envelope });
  assert(Object.isFrozen(event));
});

test("events whose fields contradict each other are not made", {
  case: "X-150",
}, () => {
  const wrong = [
    { kind: "assistant_text_delta", turn: 1, delta: "" },
    { kind: "assistant_thinking_delta", turn: 0, delta: "x" },
    { kind: "turn_started", turn: 0 },
    { kind: "steering_applied", control: followUp, targetTurn: 1 },
    { kind: "steering_discarded", control: followUp, reason: "max_steps" },
    {
      kind: "context_pressure_evaluated",
      turn: 1,
      decision: { shouldCompact: false },
      preparation: {},
    },
    { kind: "compaction_completed", result: resultWith("failed") },
    { kind: "compaction_failed", result: resultWith("completed") },
    { kind: "tool_progressed", turn: 1, update: { message: "", data: null } },
  ] as unknown as AgentEventPayload[];
  for (const payload of wrong) {
    assertThrows(() => agentEvent(envelope, payload), RangeError, payload.kind);
  }
});
