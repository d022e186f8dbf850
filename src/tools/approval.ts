import {
  followSignal,
  throwIfAborted,
  toCancelledError,
} from "../base/abort.ts";
import { EJAgentError } from "../base/errors.ts";
import { deepFreeze } from "../base/freeze.ts";
import type { Clock } from "../base/ports.ts";
import { isReason } from "./policy.ts";

/** What somebody is asked to approve; frozen all the way down. */
export interface ToolApprovalRequest {
  /** Name of the tool. */
  readonly toolName: string;
  /** The arguments that the tool will get, exactly. */
  readonly arguments: Readonly<Record<string, unknown>>;
  /** Id of the model's call, if it has one. */
  readonly toolCallId?: string | undefined;
  /** Why the policy asks. */
  readonly reason?: string | undefined;
  /** The rule that asks. */
  readonly ruleId?: string | undefined;
}

/** The answer to a request. */
export interface ToolApprovalDecision {
  /** Whether the call may be executed. */
  readonly approved: boolean;
  /** Why not; the model reads it. */
  readonly reason?: string | undefined;
}

/** What an approver is told besides the request. */
export interface ToolApprovalOptions {
  /** Aborted when the answer is no longer wanted. */
  readonly signal: AbortSignal;
}

/** Asks somebody whether a call may be executed. A rejection refuses it. */
export type ToolApprovalFunction = (
  request: ToolApprovalRequest,
  options: ToolApprovalOptions,
) => ToolApprovalDecision | Promise<ToolApprovalDecision>;

/** An object that asks somebody. */
export interface ToolApprover {
  /** Asks. */
  approve: ToolApprovalFunction;
}

/** Nobody answered a request in time. */
export class ApprovalTimeoutError extends EJAgentError {
  /** Always `"approval_timeout"`. */
  override readonly code = "approval_timeout";
}

/** How long an answer is waited for. */
export interface ApprovalLimits {
  /** Withdraws the request when it aborts. */
  readonly signal: AbortSignal;
  /** Milliseconds until the request is withdrawn; undefined waits forever. */
  readonly timeoutMs: number | undefined;
  /** Measures them. */
  readonly clock: Clock;
}

/**
 * Puts a request before an approver and waits for the answer.
 *
 * @returns The answer, unchecked.
 * @throws {AgentCancelledError} The signal aborted first.
 * @throws {ApprovalTimeoutError} The time was up first.
 * @throws What the approver throws.
 */
export async function requestApproval(
  approver: ToolApprover | ToolApprovalFunction,
  request: ToolApprovalRequest,
  { signal, timeoutMs, clock }: ApprovalLimits,
): Promise<unknown> {
  throwIfAborted(signal);
  const pending = new AbortController();
  const withdrawn = new Promise<never>((_resolve, reject) => {
    pending.signal.addEventListener(
      "abort",
      () => reject(pending.signal.reason),
    );
  });
  const unfollow = followSignal(
    signal,
    (reason) => pending.abort(toCancelledError(reason)),
  );
  const stopTimer = timeoutMs === undefined
    ? undefined
    : clock.setTimer(timeoutMs, () => pending.abort(expiry(timeoutMs)));
  try {
    return await Promise.race([ask(approver, request, pending), withdrawn]);
  } finally {
    unfollow();
    stopTimer?.();
  }
}

/** Checks what an approver answered. @returns Null if it is no decision. */
export function toolApprovalDecision(
  value: unknown,
): ToolApprovalDecision | null {
  const decision = value as Partial<ToolApprovalDecision> | null | undefined;
  const valid = typeof decision === "object" && decision !== null &&
    typeof decision.approved === "boolean" && isReason(decision.reason);
  return valid ? decision as ToolApprovalDecision : null;
}

/** Makes a request that shares nothing with the call. */
export function approvalRequest(
  request: ToolApprovalRequest,
): ToolApprovalRequest {
  const { toolCallId } = request;
  return deepFreeze({
    ...request,
    // Some providers send a blank id.
    toolCallId: toolCallId?.trim() === "" ? undefined : toolCallId,
  });
}

async function ask(
  approver: ToolApprover | ToolApprovalFunction,
  request: ToolApprovalRequest,
  { signal }: AbortController,
): Promise<unknown> {
  return typeof approver === "function"
    ? await approver(request, { signal })
    : await approver.approve(request, { signal });
}

function expiry(timeoutMs: number): ApprovalTimeoutError {
  return new ApprovalTimeoutError(
    `Nobody answered the approval request within ${timeoutMs} ms`,
  );
}
