import type { JsonObject } from "../../src/base/json.ts";
import { RunScope } from "../../src/base/scope.ts";
import type { AgentStateView } from "../../src/messages/state.ts";
import { ToolDefinition } from "../../src/tools/definition.ts";
import {
  composeToolMiddlewares,
  type ToolCallContext,
  type ToolLayer,
} from "../../src/tools/middleware.ts";
import { proceed, type StepOutcome } from "../../src/tools/outcome.ts";

/** A tool that takes what the schema says; anything without one. */
export function toolWith(
  parameters: JsonObject | undefined,
  name = "transfer",
): ToolDefinition {
  return new ToolDefinition({ name, parameters });
}

/** What became of one call, and whether it reached the tool. */
export interface CallReport {
  readonly outcome: StepOutcome;
  readonly reached: boolean;
}

/** Sends one call through the layer to a tool that answers "done". */
export async function callThrough(
  layer: ToolLayer,
  toolDefinition: ToolDefinition | undefined,
  args: Readonly<Record<string, unknown>>,
): Promise<CallReport> {
  let reached = false;
  const chain = composeToolMiddlewares([layer], () => {
    reached = true;
    return proceed("done");
  });
  const outcome = await chain(contextOf(toolDefinition, args));
  return { outcome, reached };
}

function contextOf(
  toolDefinition: ToolDefinition | undefined,
  args: Readonly<Record<string, unknown>>,
): ToolCallContext {
  return {
    agent: { agentId: "tester", remote: false },
    runId: "run",
    turn: 1,
    state: {} as AgentStateView,
    toolName: toolDefinition?.name ?? "unknown",
    arguments: args,
    toolCallId: "call",
    toolDefinition,
    signal: new AbortController().signal,
    scope: new RunScope(),
  };
}
