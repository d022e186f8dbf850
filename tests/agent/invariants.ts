import type { Agent, AgentEvent, AgentMessage } from "../../mod.ts";
import { traceOf } from "../../src/testing/mod.ts";
import { assert, assertEquals } from "../support/assert.ts";

/**
 * Checks what holds of every history: each answer with calls is followed at once
 * by one result for each of them, in their order.
 */
export function assertClosedTranscript(
  messages: readonly AgentMessage[],
): void {
  let expected: string[] = [];
  for (const message of messages) {
    if (message.role === "tool") {
      assertEquals(message.tool_call_id, expected.shift()!);
      continue;
    }
    assertEquals(expected, [], "calls were left unanswered");
    if (message.role !== "assistant") continue;
    expected = (message.tool_calls ?? []).map((call) => call.id);
  }
  assertEquals(expected, [], "calls were left unanswered at the end");
}

/**
 * Checks what holds of the events of every agent: runs do not mix, count without
 * gaps, begin and end once, and close each bracket that they open.
 */
export function assertWholeRuns(events: readonly AgentEvent[]): void {
  for (const run of runsOf(events)) {
    const trace = traceOf(run);
    assertEquals(
      run.map((event) => event.sequence),
      run.map((_, index) => index + 1),
      `sequence of ${trace}`,
    );
    assertEdges(run, trace);
    assertBrackets(run, trace);
  }
}

/** Cuts events into runs; events of one run must stand together. */
export function runsOf(
  events: readonly AgentEvent[],
): readonly (readonly AgentEvent[])[] {
  const runs = new Map<string, AgentEvent[]>();
  let last = "";
  for (const event of events) {
    const { runId } = event;
    assert(runId === last || !runs.has(runId), "two runs were interleaved");
    if (!runs.has(runId)) runs.set(runId, []);
    runs.get(runId)!.push(event);
    last = runId;
  }
  return [...runs.values()];
}

/**
 * Checks, while an event is delivered, that the message it reports is the last
 * of the history already.
 */
export function assertCommitted(agent: Agent, event: AgentEvent): void {
  const last = agent.messages.at(-1);
  switch (event.kind) {
    case "agent_started":
      return assertEquals([last?.role, last?.content], ["user", event.task]);
    case "steering_applied":
      return assertEquals(
        [last?.role, last?.content],
        ["user", event.control.content],
      );
    case "message_completed":
      return assertEquals(
        [last?.role, last?.content],
        ["assistant", event.message.content],
      );
    case "tool_completed":
      return assertEquals(
        last?.role === "tool" && last.tool_call_id,
        event.toolCall.id,
      );
  }
}

function assertEdges(run: readonly AgentEvent[], trace: string): void {
  const first = run[0]!.kind;
  if (first === "compaction_started") {
    return assertEquals(run.length, 2, `explicit compaction ${trace}`);
  }
  assert(first === "agent_started" || first === "agent_continued", trace);
  const ends = run.filter((event) => event.kind === "agent_finished");
  assertEquals([ends.length, run.at(-1)?.kind], [1, "agent_finished"], trace);
}

function assertBrackets(run: readonly AgentEvent[], trace: string): void {
  const open: string[] = [];
  for (const event of run) {
    const [begins, ends] = bracketOf(event);
    if (begins !== undefined) open.push(begins);
    if (ends === undefined) continue;
    const index = open.indexOf(ends);
    assert(index >= 0, `${ends} ended without a beginning in ${trace}`);
    open.splice(index, 1);
  }
  assertEquals(open, [], `brackets left open in ${trace}`);
}

function bracketOf(
  event: AgentEvent,
): readonly [begins: string | undefined, ends?: string] {
  switch (event.kind) {
    case "turn_started":
      return [`turn ${event.turn}`];
    case "turn_completed":
      return [undefined, `turn ${event.turn}`];
    case "tool_started":
      return [`call ${event.toolCall.id}`];
    case "tool_completed":
      return [undefined, `call ${event.toolCall.id}`];
    case "compaction_started":
      return [`compaction ${event.request.operationId}`];
    case "compaction_completed":
    case "compaction_failed":
      return [undefined, `compaction ${event.result.operationId}`];
    default:
      return [undefined];
  }
}
