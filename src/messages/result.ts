import { EJAgentError } from "../base/errors.ts";
import { frozen } from "../base/freeze.ts";
import {
  type ModelUsage,
  NO_USAGE,
  type RunUsage,
  runUsageToWire,
  type WireRunUsage,
} from "./usage.ts";

/** How a run ended. */
export type RunStatus = "completed" | "failed" | "cancelled" | "rejected";

/** Why a run ended; the values are those of the journal. */
export type StopReason =
  | "text_response"
  | "tool_completion"
  | "tool_rejected"
  | "tool_cancelled"
  | "behavior_stop"
  | "external_abort"
  | "empty_response"
  | "max_steps"
  | "max_no_tool_responses"
  | "repeated_tool_call"
  | "token_budget_exceeded"
  | "usage_unavailable"
  | "context_overflow"
  | "compaction_failed"
  | "runtime_error";

/** The status that each stop reason belongs to. */
export const STATUS_OF_STOP_REASON: Readonly<Record<StopReason, RunStatus>> =
  frozen({
    text_response: "completed",
    tool_completion: "completed",
    behavior_stop: "completed",
    tool_rejected: "rejected",
    tool_cancelled: "cancelled",
    external_abort: "cancelled",
    empty_response: "failed",
    max_steps: "failed",
    max_no_tool_responses: "failed",
    repeated_tool_call: "failed",
    token_budget_exceeded: "failed",
    usage_unavailable: "failed",
    context_overflow: "failed",
    compaction_failed: "failed",
    runtime_error: "failed",
  });

/** Where a failed run broke. */
export type FailurePhase =
  | "prepare"
  | "context"
  | "model"
  | "tool"
  | "hook"
  | "control"
  | "compaction"
  | "persistence"
  | "runtime";

/** What broke, for programs. */
export type FailureCode =
  | "rate_limit"
  | "timeout"
  | "authentication"
  | "provider_error"
  | "context_overflow"
  | "protocol_error"
  | "empty_response"
  | "limit_exceeded"
  | "budget_exceeded"
  | "repeated_tool_call"
  | "hook_error"
  | "compaction_failed"
  | "persistence_failed"
  | "interrupted"
  | "runtime_error";

/** Facts about a failed run. */
export interface RunFailure {
  /** Where it broke. */
  readonly phase: FailurePhase;
  /**
   * What broke.
   *
   * A `provider_error` that is not `retryable` may be about a message of the
   * conversation, such as a picture that the provider cannot read. That message
   * stays, and every later run sends it again: start over with `agent.reset()`
   * and the messages without it, or roll the branch of the session back.
   */
  readonly code: FailureCode;
  /** The text of `result.error`. */
  readonly message: string;
  /** True if the same run may well succeed later. */
  readonly retryable: boolean;
  /** What was thrown; not enumerable and never written. */
  readonly cause?: unknown;
}

/**
 * What a run came to.
 *
 * The very same frozen object is in the last event, in the caller's promise and
 * in the agent's state.
 */
export interface AgentRunResult {
  /** Id of the run; null if none was made. */
  readonly runId: string | null;
  /** How it ended. */
  readonly status: RunStatus;
  /** Why it ended. */
  readonly stopReason: StopReason;
  /** Turns that were started. */
  readonly turns: number;
  /** The answer: the final text, or what a tool ended the run with. */
  readonly output: string | null;
  /**
   * The provider's own word for why the last answer ended, for example `"stop"`,
   * or `"length"` for one that was cut off and may still look complete. Null if
   * there was no answer or no word, and in results read from journals.
   */
  readonly finishReason: string | null;
  /** What went wrong; never empty for a failed run. */
  readonly error: string | null;
  /** Token counts of the run's own requests. */
  readonly usage: RunUsage;
  /** Token counts of automatic compactions; null without any, and in results read from journals. */
  readonly compactionUsage: ModelUsage | null;
  /** Present exactly for failed runs; null in results read from older journals. */
  readonly failure: RunFailure | null;
  /** True if the status is `"completed"`. */
  readonly succeeded: boolean;
}

/** What {@linkcode runResult} takes. */
export interface RunResultInput {
  /** Why the run ended; the status follows from it. */
  readonly stopReason: StopReason;
  /** Id of the run; null if none was made. @default {null} */
  readonly runId?: string | null | undefined;
  /** Turns that were started. @default {0} */
  readonly turns?: number | undefined;
  /** The answer. @default {null} */
  readonly output?: string | null | undefined;
  /** Why the last answer ended, in the word of its provider. @default {null} */
  readonly finishReason?: string | null | undefined;
  /** What went wrong; the stop reason if a failure says nothing. @default {null} */
  readonly error?: string | null | undefined;
  /** Token counts of the run's own requests. @default {NO_USAGE} */
  readonly usage?: RunUsage | undefined;
  /** Token counts of automatic compactions. @default {null} */
  readonly compactionUsage?: ModelUsage | null | undefined;
  /** Facts of a failure. @default {null} */
  readonly failure?: RunFailure | null | undefined;
}

/**
 * Makes a result; middleware that answers without running the agent uses it.
 *
 * @example Answer from a cache
 * ```ts
 * import { runResult } from "@ejagent/core";
 * import { equal } from "node:assert/strict";
 *
 * const result = runResult({ stopReason: "text_response", output: "42" });
 * equal(result.status, "completed");
 * equal(result.succeeded, true);
 * ```
 */
export function runResult(input: RunResultInput): AgentRunResult {
  const status = STATUS_OF_STOP_REASON[input.stopReason];
  if (status === undefined) {
    throw new TypeError("stopReason must be a known stop reason");
  }
  return frozen({
    runId: input.runId ?? null,
    status,
    stopReason: input.stopReason,
    turns: input.turns ?? 0,
    output: input.output ?? null,
    finishReason: input.finishReason ?? null,
    error: input.error ?? (status === "failed" ? input.stopReason : null),
    usage: input.usage ?? NO_USAGE,
    compactionUsage: input.compactionUsage ?? null,
    failure: input.failure ?? null,
    succeeded: status === "completed",
  });
}

/** Makes a failure; `cause` is kept out of enumeration and so out of every JSON. */
export function runFailure(failure: RunFailure): RunFailure {
  const { cause, ...facts } = failure;
  if (cause !== undefined) {
    Object.defineProperty(facts, "cause", { value: cause });
  }
  return frozen(facts);
}

/** Thrown by `runText` and {@linkcode throwIfNotCompleted} for a run that did not complete. */
export class AgentRunError extends EJAgentError {
  /** Always `"agent_run"`. */
  override readonly code = "agent_run";
  /** The result of that run. */
  readonly result: AgentRunResult;

  /** The message is the error of the result, or its stop reason. */
  constructor(result: AgentRunResult) {
    super(result.error ?? result.stopReason, { cause: result.failure?.cause });
    this.result = result;
  }
}

/** Returns a completed result. @throws {AgentRunError} For any other. */
export function throwIfNotCompleted(result: AgentRunResult): AgentRunResult {
  if (!result.succeeded) throw new AgentRunError(result);
  return result;
}

/** A result as journals hold it. */
export interface WireRunResult {
  /** See {@linkcode AgentRunResult.status}. */
  readonly status: RunStatus;
  /** See {@linkcode AgentRunResult.stopReason}. */
  readonly stop_reason: StopReason;
  /** See {@linkcode AgentRunResult.turns}. */
  readonly turns: number;
  /** See {@linkcode AgentRunResult.output}. */
  readonly output: string | null;
  /** See {@linkcode AgentRunResult.error}. */
  readonly error: string | null;
  /** See {@linkcode AgentRunResult.usage}. */
  readonly usage: WireRunUsage;
  /** Facts of a failure without its cause; an addition to the schema. */
  readonly failure?: Omit<RunFailure, "cause">;
}

/** Writes a result with the field names of journals. */
export function resultToWire(result: AgentRunResult): WireRunResult {
  const { failure } = result;
  return {
    status: result.status,
    stop_reason: result.stopReason,
    turns: result.turns,
    output: result.output,
    error: result.error,
    usage: runUsageToWire(result.usage),
    ...(failure !== null && {
      failure: {
        phase: failure.phase,
        code: failure.code,
        message: failure.message,
        retryable: failure.retryable,
      },
    }),
  };
}
