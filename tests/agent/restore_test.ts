import {
  Agent,
  type AgentMessage,
  AgentSession,
  type ContinueRejectedReason,
  runResult,
  STATUS_OF_STOP_REASON,
  type StopReason,
} from "../../mod.ts";
import { ScriptedModel } from "../../src/testing/mod.ts";
import { assertEquals } from "../support/assert.ts";
import { test } from "../support/suite.ts";

const answer: AgentMessage = { role: "assistant", content: "done" };

/** Why an agent may not go on behind a run with these messages; null if it may. */
function refusalBehind(
  messages: readonly unknown[],
  stopReason: StopReason = "text_response",
): ContinueRejectedReason | null {
  const session = new AgentSession("s", "a");
  session.beginRun({ runId: "r1", sequence: 1 }, "go");
  for (const message of messages) {
    session.appendMessage(
      { runId: "r1", sequence: 2 },
      message as AgentMessage,
    );
  }
  session.finishRun({ runId: "r1", sequence: 3 }, runResult({ stopReason }));
  const agent = new Agent({ agentId: "a", model: new ScriptedModel([]) });
  agent.restoreSession(session);
  return agent.continueRejectionReason;
}

test("the stop reason of the last run decides whether it can be continued", {
  case: "X-127",
}, () => {
  const reasons = Object.keys(STATUS_OF_STOP_REASON) as StopReason[];
  const allowed = reasons.filter((reason) =>
    refusalBehind([answer], reason) === null
  );
  assertEquals(reasons.length, 15);
  assertEquals(allowed.sort(), [
    "behavior_stop",
    "empty_response",
    "max_no_tool_responses",
    "max_steps",
    "text_response",
    "token_budget_exceeded",
    "tool_completion",
    "usage_unavailable",
  ]);
});

function asking(...ids: readonly unknown[]): unknown {
  const tool_calls = ids.map((id) => ({
    id,
    type: "function",
    function: { name: "act", arguments: "{}" },
  }));
  return { role: "assistant", content: null, tool_calls };
}

function settling(id: string): unknown {
  return { role: "tool", tool_call_id: id, content: "done" };
}

test(
  "the last answer must be closed, whatever came before",
  { case: "X-128" },
  () => {
    const holding = (
      tool_calls: unknown,
    ) => [{ role: "assistant", content: null, tool_calls }];
    const incomplete: [string, unknown[]][] = [
      ["calls that are no list", holding({})],
      ["a call that is no object", holding(["x"])],
      ["an empty id", [asking("")]],
      ["an id that is no text", [asking(5)]],
      ["a call without result", [asking("c1", "c2"), settling("c1")]],
      ["a result before its call", [settling("c1"), asking("c1")]],
      ["an id that an earlier answer used", [
        asking("c1"),
        settling("c1"),
        asking("c1"),
      ]],
    ];
    for (const [name, messages] of incomplete) {
      assertEquals(refusalBehind(messages), "incomplete_tool_state", name);
    }
    const complete: [string, unknown[]][] = [
      ["no calls", holding(null)],
      ["a result of nobody's call", [
        asking("c1"),
        settling("c1"),
        settling("zz"),
      ]],
      ["one id in two answers", [
        asking("c1"),
        settling("c1"),
        asking("c1"),
        settling("c1"),
      ]],
      ["an old hole", [asking("c1"), asking("c2"), settling("c2"), answer]],
    ];
    for (const [name, messages] of complete) {
      assertEquals(refusalBehind(messages), null, name);
    }
  },
);
