import { frozen } from "../base/freeze.ts";
import {
  requireBoolean,
  requireInteger,
  requireMember,
} from "../base/require.ts";
import type { AgentMessage } from "../messages/message.ts";
import type { ContextBuildResult } from "../model/adapter.ts";
import {
  CompactionRuntime,
  type CompactionRuntimeOptions,
} from "./compaction_runtime.ts";
import {
  type ContextUsageEstimate,
  estimateContextUsage,
  type EstimateOptions,
} from "./estimate.ts";
import type { MessageTokenEstimator } from "./estimator.ts";
import {
  type BarrierTreatment,
  type CompactionPreparation,
  prepareCompaction,
} from "./prepare.ts";

/** What a {@linkcode ContextBudget} is made of, in tokens. */
export interface ContextBudgetInput {
  /** What the model can take in and give out in one request. */
  readonly contextWindow: number;
  /** Part of the window that is kept free for the answer. */
  readonly reserveTokens: number;
  /** What a compaction leaves at least of the newest conversation. */
  readonly keepRecentTokens: number;
}

/**
 * How much of a model's context window a conversation may fill.
 *
 * It has nothing to do with the number of tokens that a run may spend.
 *
 * @example Start to compact at 120 000 tokens
 * ```ts
 * import { ContextBudget } from "@ejagent/core";
 * import { equal } from "node:assert/strict";
 *
 * const budget = new ContextBudget({
 *   contextWindow: 128_000,
 *   reserveTokens: 8_000,
 *   keepRecentTokens: 20_000,
 * });
 * equal(budget.thresholdTokens, 120_000);
 * ```
 */
export class ContextBudget {
  /** What the model can take in and give out in one request. */
  readonly contextWindow: number;
  /** Part of the window that is kept free for the answer. */
  readonly reserveTokens: number;
  /** What a compaction leaves at least of the newest conversation. */
  readonly keepRecentTokens: number;

  /**
   * Checks the numbers against each other.
   *
   * @throws {TypeError} A member is no integer.
   * @throws {RangeError} The window or `keepRecentTokens` is not positive, the reserve is
   * negative or fills the window, or `keepRecentTokens` exceeds the threshold.
   */
  constructor(input: ContextBudgetInput) {
    this.contextWindow = requireInteger(
      "contextWindow",
      input.contextWindow,
      1,
    );
    this.reserveTokens = requireInteger(
      "reserveTokens",
      input.reserveTokens,
      0,
    );
    if (this.reserveTokens >= this.contextWindow) {
      throw new RangeError("reserveTokens must be smaller than contextWindow");
    }
    this.keepRecentTokens = requireInteger(
      "keepRecentTokens",
      input.keepRecentTokens,
      1,
    );
    if (this.keepRecentTokens > this.thresholdTokens) {
      throw new RangeError(
        "keepRecentTokens must not exceed contextWindow - reserveTokens",
      );
    }
    frozen(this);
  }

  /** From this many tokens on a request is under pressure: `contextWindow - reserveTokens`. */
  get thresholdTokens(): number {
    return this.contextWindow - this.reserveTokens;
  }
}

/** Why a {@linkcode CompactionDecision} is what it is. */
export type CompactionDecisionReason =
  | "disabled"
  | "threshold_reached"
  | "below_threshold";

/** What a policy makes of one estimate. */
export interface CompactionDecision {
  /** True if the history should be shortened before the request is sent. */
  readonly shouldCompact: boolean;
  /** Why. */
  readonly reason: CompactionDecisionReason;
  /** What was judged. */
  readonly estimate: ContextUsageEstimate;
  /** The threshold of the budget, in tokens. */
  readonly thresholdTokens: number;
  /** `estimate.totalTokens / thresholdTokens`; 1 means full. */
  readonly pressureRatio: number;
}

/** What a {@linkcode CompactionPolicy} is made of. */
export interface CompactionPolicyInput {
  /** How much a conversation may fill. */
  readonly budget: ContextBudget;
  /** False never asks for a compaction; one that is asked for otherwise still works. @default {true} */
  readonly enabled?: boolean | undefined;
  /** What becomes of system messages amid the conversation. @default {"freeze"} */
  readonly barriers?: BarrierTreatment | undefined;
  /**
   * Allows cutting inside a single long turn.
   *
   * @default {true} with automatic compaction, else false.
   */
  readonly splitTurns?: boolean | undefined;
}

/** What {@linkcode CompactionPolicy.prepare} takes beside the messages. */
export interface PolicyPrepareOptions {
  /** Measures the messages. @default {new HeuristicMessageTokenEstimator()} */
  readonly estimator?: MessageTokenEstimator | undefined;
  /** What holds if the policy itself does not say. @default {false} */
  readonly splitTurns?: boolean | undefined;
}

/**
 * Decides when a conversation is too long and where it would be cut.
 *
 * It only judges: without a compactor and an automatic policy nothing changes.
 *
 * @example Judge an estimate
 * ```ts
 * import { CompactionPolicy, ContextBudget, estimateContextUsage, userMessage } from "@ejagent/core";
 * import { equal } from "node:assert/strict";
 *
 * const policy = new CompactionPolicy({
 *   budget: new ContextBudget({ contextWindow: 100, reserveTokens: 20, keepRecentTokens: 10 }),
 * });
 * const decision = policy.evaluate(estimateContextUsage([userMessage("a".repeat(400))]));
 * equal(decision.reason, "threshold_reached");
 * ```
 */
export class CompactionPolicy {
  /** How much a conversation may fill. */
  readonly budget: ContextBudget;
  /** False never asks for a compaction. */
  readonly enabled: boolean;
  /** What becomes of system messages amid the conversation. */
  readonly barriers: BarrierTreatment;
  /** If cutting inside a turn is allowed; undefined leaves it to the caller of `prepare`. */
  readonly splitTurns: boolean | undefined;

  /** Takes over the members. @throws {TypeError} One of the wrong type. */
  constructor(input: CompactionPolicyInput) {
    if (!(input.budget instanceof ContextBudget)) {
      throw new TypeError("budget must be a ContextBudget");
    }
    this.budget = input.budget;
    this.enabled = requireBoolean("enabled", input.enabled ?? true);
    this.barriers = requireMember("barriers", input.barriers ?? "freeze", {
      freeze: true,
      hoist: true,
    });
    this.splitTurns = input.splitTurns === undefined
      ? undefined
      : requireBoolean("splitTurns", input.splitTurns);
    frozen(this);
  }

  /** Judges an estimate; the threshold itself counts as reached. */
  evaluate(estimate: ContextUsageEstimate): CompactionDecision {
    const { thresholdTokens } = this.budget;
    const reached = estimate.totalTokens >= thresholdTokens;
    return frozen({
      shouldCompact: this.enabled && reached,
      reason: !this.enabled
        ? "disabled"
        : reached
        ? "threshold_reached"
        : "below_threshold",
      estimate,
      thresholdTokens,
      pressureRatio: estimate.totalTokens / thresholdTokens,
    });
  }

  /** Measures what a request will take and judges it. */
  evaluateRequest(
    request: ContextBuildResult,
    options: EstimateOptions = {},
  ): CompactionDecision {
    return this.evaluate(estimateContextUsage(request, options));
  }

  /**
   * Opens a runtime that compacts by this policy, for one run or one explicit
   * compaction. Agents get measuring and compacting through their policy, so an
   * agent without one ships without both.
   */
  openRuntime(
    options: Omit<CompactionRuntimeOptions, "policy">,
  ): CompactionRuntime {
    return new CompactionRuntime({ ...options, policy: this });
  }

  /**
   * Says where the history would be cut, also if the policy is disabled.
   *
   * Keeps at least `keepRecentTokens` of whole turns, but no turn that would
   * bring the kept part over half of the threshold.
   *
   * @param messages The history, oldest first.
   * @throws {RangeError} The estimator returns a negative number.
   */
  prepare(
    messages: readonly AgentMessage[],
    options: PolicyPrepareOptions = {},
  ): CompactionPreparation {
    const { keepRecentTokens, thresholdTokens } = this.budget;
    return prepareCompaction(messages, {
      keepRecentTokens,
      maxKeepTokens: Math.max(
        keepRecentTokens,
        Math.floor(thresholdTokens / 2),
      ),
      barriers: this.barriers,
      splitTurns: this.splitTurns ?? options.splitTurns ?? false,
      ...(options.estimator !== undefined && { estimator: options.estimator }),
    });
  }
}
