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

/**
 * `continueRun` was refused; nothing has changed. The message says what to do instead.
 *
 * | The last run ended as                                         | It can go on           |
 * | ------------------------------------------------------------- | ---------------------- |
 * | `text_response`, `tool_completion`, `behavior_stop`           | yes                    |
 * | `empty_response`, `max_steps`, `max_no_tool_responses`        | yes                    |
 * | `token_budget_exceeded`, `usage_unavailable`                  | yes                    |
 * | `runtime_error`                                               | if `failure.retryable` |
 * | `runtime_error` of a recovered session (`interrupted`)        | yes                    |
 * | `repeated_tool_call`, `context_overflow`, `compaction_failed` | no                     |
 * | `tool_rejected`, `tool_cancelled`, `external_abort`           | no                     |
 *
 * A new task can be given after every end.
 */
export class ContinueRejectedError extends EJAgentError {
  /** Always `"continue_rejected"`. */
  override readonly code = "continue_rejected";
  /** Why. */
  readonly reason: ContinueRejectedReason;

  /** Names the reason. @param stopReason How the last run ended, if there was one. */
  constructor(reason: ContinueRejectedReason, stopReason?: StopReason) {
    const why = reason === "unsupported_stop_reason"
      ? `it ended as ${stopReason}`
      : reason;
    const remedy = reason.startsWith("agent_")
      ? "wait with waitForIdle()"
      : "give a task with run()";
    super(`The last run cannot be continued: ${why}; ${remedy}`);
    this.reason = reason;
  }
}

/** Failures that would come again, or of which more must be known. */
const finalFailures: ReadonlySet<StopReason> = new Set<StopReason>([
  "repeated_tool_call",
  "context_overflow",
  "compaction_failed",
  "runtime_error",
]);

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

function isContinuable(
  { status, stopReason, failure }: AgentRunResult,
): boolean {
  if (status !== "failed") return status === "completed";
  return !finalFailures.has(stopReason) ||
    stopReason === "runtime_error" && failure !== null &&
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
