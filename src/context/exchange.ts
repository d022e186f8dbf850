import { isJsonObject } from "../base/json.ts";
import type { AgentMessage, ToolCallEntry } from "../messages/message.ts";

/**
 * The calls of a message that can be answered; imported histories hold others,
 * which no provider takes.
 */
export function callsOf(message: AgentMessage): readonly ToolCallEntry[] {
  if (message.role !== "assistant") return [];
  const calls: unknown = message.tool_calls;
  if (!Array.isArray(calls)) return [];
  return calls.filter((call) =>
    isJsonObject(call) && typeof call.id === "string" && call.id !== "" &&
    isJsonObject(call.function) && typeof call.function.name === "string"
  );
}

/**
 * For every message the position of the message whose call it answers, wherever
 * that stands; Infinity for all that answer none. Of several calls with the
 * same id the newest is the one that is answered.
 */
export function answeredPositions(
  messages: readonly AgentMessage[],
): readonly number[] {
  const callPositions = new Map<string, number>();
  return messages.map((message, position) => {
    for (const call of callsOf(message)) callPositions.set(call.id, position);
    if (message.role !== "tool") return Infinity;
    return callPositions.get(message.tool_call_id) ?? Infinity;
  });
}
