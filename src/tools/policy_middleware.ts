import { errorText } from "../base/errors.ts";
import { deepFreeze } from "../base/freeze.ts";
import {
  type Clock,
  consoleLogger,
  type Logger,
  systemClock,
} from "../base/ports.ts";
import {
  requireBoolean,
  requireInteger,
  requireMethods,
} from "../base/require.ts";
import {
  approvalRequest,
  ApprovalTimeoutError,
  requestApproval,
  toolApprovalDecision,
  type ToolApprovalFunction,
  type ToolApprover,
} from "./approval.ts";
import type { ToolCallContext, ToolLayer, ToolNext } from "./middleware.ts";
import { reject, type StepOutcome } from "./outcome.ts";
import {
  type ToolExecutionPolicy,
  type ToolPolicyDecision,
  toolPolicyDecision,
} from "./policy.ts";

/** How a {@linkcode ToolPolicyMiddleware} asks and waits. */
export interface ToolPolicyMiddlewareOptions {
  /** Asked about calls that need approval; without one they are refused. */
  readonly approver?: ToolApprover | ToolApprovalFunction | undefined;
  /** Milliseconds after which a pending approval counts as refused; by default it may take forever. */
  readonly approvalTimeoutMs?: number | undefined;
  /** Shown in messages. @default {"ToolPolicyMiddleware"} */
  readonly name?: string | undefined;
  /** False leaves the middleware out. @default {true} */
  readonly enabled?: boolean | undefined;
  /** Measures the approval timeout. */
  readonly clock?: Clock | undefined;
  /** Told when a policy or an approver fails. */
  readonly logger?: Logger | undefined;
}

/**
 * Lets a policy decide about every call that passes.
 *
 * A refused call ends the run as rejected. Whatever goes wrong in the policy or
 * the approver refuses the call; texts of such failures are logged and never
 * shown to the model. Policy, approver and tool get the same arguments: a copy
 * that is made before the policy is asked.
 *
 * @example Ask before anything is written
 * ```ts
 * import { Agent, RuleBasedToolPolicy, ToolPolicyMiddleware } from "@ejagent/core";
 * import { ScriptedModel, text } from "@ejagent/core/testing";
 *
 * const policy = new RuleBasedToolPolicy([
 *   { ruleId: "reads", action: "allow", effects: ["read_only"] },
 *   { ruleId: "writes", action: "require_approval" },
 * ]);
 * const agent = new Agent({
 *   agentId: "careful",
 *   model: new ScriptedModel([text("Nothing to do.")]),
 *   middleware: [
 *     new ToolPolicyMiddleware(policy, { approver: () => ({ approved: false }) }),
 *   ],
 * });
 * await agent.run("Tidy up");
 * ```
 */
export class ToolPolicyMiddleware implements ToolLayer {
  /** Shown in messages. */
  readonly name: string;
  /** False leaves the middleware out; read when the agent starts up. */
  enabled: boolean;
  readonly #policy: ToolExecutionPolicy;
  readonly #approver: ToolApprover | ToolApprovalFunction | undefined;
  readonly #timeoutMs: number | undefined;
  readonly #clock: Clock;
  readonly #logger: Logger;

  /**
   * Takes the policy over.
   *
   * @param policy Started, told about runs and shut down with the middleware.
   * @throws {TypeError} The policy, the approver or an option is of the wrong kind.
   * @throws {RangeError} The timeout is below 1.
   */
  constructor(
    policy: ToolExecutionPolicy,
    options: ToolPolicyMiddlewareOptions = {},
  ) {
    requireMethods("The policy", policy, ["evaluate"]);
    const { approver, approvalTimeoutMs, enabled = true } = options;
    if (approver !== undefined && typeof approver !== "function") {
      requireMethods("The approver", approver, ["approve"]);
    }
    this.name = options.name ?? "ToolPolicyMiddleware";
    this.enabled = requireBoolean("enabled", enabled);
    this.#policy = policy;
    this.#approver = approver;
    this.#timeoutMs = approvalTimeoutMs === undefined
      ? undefined
      : requireInteger("approvalTimeoutMs", approvalTimeoutMs, 1);
    this.#clock = options.clock ?? systemClock;
    this.#logger = options.logger ?? consoleLogger;
  }

  /** Starts the policy. */
  startup(): void | Promise<void> {
    return this.#policy.startup?.();
  }

  /** Shuts the policy down. */
  shutdown(): void | Promise<void> {
    return this.#policy.shutdown?.();
  }

  /** Tells the policy that a run begins. */
  onTaskStart(): void | Promise<void> {
    return this.#policy.onTaskStart?.();
  }

  /** Asks the policy, and the approver if need be, before the call goes on. */
  async aroundTool(
    context: ToolCallContext,
    next: ToolNext,
  ): Promise<StepOutcome> {
    const shown = deepFreeze(structuredClone(context.arguments));
    const refusal = await this.#judge({ ...context, arguments: shown });
    if (refusal !== null) return rejected(context.toolName, refusal);
    return await next({ ...context, arguments: structuredClone(shown) });
  }

  async #judge(context: ToolCallContext): Promise<Refusal | null> {
    let answer: unknown;
    try {
      answer = await this.#policy.evaluate(context);
    } catch (error) {
      if (context.signal.aborted) throw error;
      return this.#failClosed(context, "policy evaluation failed", { error });
    }
    const decision = toolPolicyDecision(answer);
    if (decision === null) {
      return this.#failClosed(context, "policy returned an invalid decision");
    }
    const { action, reason, ruleId } = decision;
    if (action === "allow") return null;
    if (action === "require_approval") {
      return await this.#approve(context, decision);
    }
    return { reason: reason ?? "denied by tool policy", ruleId };
  }

  async #approve(
    context: ToolCallContext,
    { reason, ruleId }: ToolPolicyDecision,
  ): Promise<Refusal | null> {
    if (this.#approver === undefined) {
      return {
        reason: "approval required but no approver is configured",
        ruleId,
      };
    }
    const { toolName, arguments: args, toolCallId, signal } = context;
    let answer: unknown;
    try {
      answer = await requestApproval(
        this.#approver,
        approvalRequest({
          toolName,
          arguments: args,
          toolCallId,
          reason,
          ruleId,
        }),
        { signal, timeoutMs: this.#timeoutMs, clock: this.#clock },
      );
    } catch (error) {
      if (signal.aborted) throw error;
      const why = error instanceof ApprovalTimeoutError
        ? "approval timed out"
        : "approval failed";
      return this.#failClosed(context, why, { error, ruleId });
    }
    const decision = toolApprovalDecision(answer);
    if (decision === null) {
      return this.#failClosed(
        context,
        "approver returned an invalid decision",
        { ruleId },
      );
    }
    if (decision.approved) return null;
    return {
      reason: decision.reason ?? reason ?? "approval was denied",
      ruleId,
    };
  }

  #failClosed(
    { toolName }: ToolCallContext,
    reason: string,
    { error, ruleId }: {
      readonly error?: unknown;
      readonly ruleId?: string | undefined;
    } = {},
  ): Refusal {
    this.#logger.warn(`A tool call was refused: ${reason}`, {
      toolName,
      ...(ruleId !== undefined && { ruleId }),
      ...(error !== undefined && { error: errorText(error) }),
    });
    return { reason, ruleId };
  }
}

interface Refusal {
  readonly reason: string;
  readonly ruleId: string | undefined;
}

function rejected(tool: string, { reason, ruleId }: Refusal): StepOutcome {
  return reject({
    status: "rejected",
    tool,
    reason,
    ...(ruleId !== undefined && { rule_id: ruleId }),
  });
}
