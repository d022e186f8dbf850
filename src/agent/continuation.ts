import { EJAgentError } from "../base/errors.ts";
import { isJsonObject } from "../base/json.ts";
import type { AgentMessage } from "../messages/message.ts";
import type { AgentRunResult, StopReason } from "../messages/result.ts";

/** Why a continue was refused. */
export type ContinueRejectedReason =
  | "agent_active"
  | "agent_shutting_down"
  | "no_previous_run"
  | "unsupported_stop_reason"
  | "incomplete_tool_state";

/** `continueRun` was refused; nothing has changed. */
export class ContinueRejectedError extends EJAgentError {
  /** Always `"continue_rejected"`. */
  override readonly code = "continue_rejected";
  /** Why. */
  readonly reason: ContinueRejectedReason;

  /** Names the reason. */
  constructor(reason: ContinueRejectedReason) {
    super(`The last run cannot be continued: ${reason}`);
    this.reason = reason;
  }
}

const continuable: Readonly<Record<StopReason, boolean>> = {
  text_response: true,
  tool_completion: true,
  behavior_stop: true,
  empty_response: true,
  max_steps: true,
  max_no_tool_responses: true,
  token_budget_exceeded: true,
  usage_unavailable: true,
  tool_rejected: false,
  tool_cancelled: false,
  external_abort: false,
  repeated_tool_call: false,
  context_overflow: false,
  compaction_failed: false,
  runtime_error: false,
};

/**
 * Checks whether a conversation can go on without a new task.
 *
 * @returns Why not, or null if it can.
 */
export function conversationRefusal(
  lastRunResult: AgentRunResult | null,
  messages: readonly AgentMessage[],
): ContinueRejectedReason | null {
  if (lastRunResult === null) return "no_previous_run";
  if (!isContinuable(lastRunResult)) return "unsupported_stop_reason";
  return hasOpenCalls(messages) ? "incomplete_tool_state" : null;
}

function isContinuable(result: AgentRunResult): boolean {
  if (continuable[result.stopReason]) return true;
  const { failure } = result;
  return result.stopReason === "runtime_error" && failure !== null &&
    (failure.retryable || failure.code === "interrupted");
}

/** True if calls are malformed anywhere, or unanswered behind the last message that has any. */
function hasOpenCalls(messages: readonly AgentMessage[]): boolean {
  let open = new Set<string>();
  for (const message of messages) {
    if (message.role === "assistant") {
      const ids = callIds(message.tool_calls);
      if (ids === null) return true;
      if (ids.length > 0) open = new Set(ids);
    } else if (message.role === "tool") {
      open.delete(message.tool_call_id);
    }
  }
  return open.size > 0;
}

// Restored histories may hold anything here, so nothing is taken for granted.
function callIds(calls: unknown): readonly string[] | null {
  if (calls === undefined || calls === null) return [];
  if (!Array.isArray(calls)) return null;
  const ids: string[] = [];
  for (const call of calls) {
    if (!isJsonObject(call) || typeof call.id !== "string" || call.id === "") {
      return null;
    }
    ids.push(call.id);
  }
  return ids;
}
