import { frozen } from "../base/freeze.ts";
import { isJsonObject } from "../base/json.ts";
import { requireInteger } from "../base/require.ts";
import type { AgentMessage } from "../messages/message.ts";
import type { OpenAIFunctionTool } from "../messages/tool.ts";
import type { ContextBuildResult } from "../model/adapter.ts";
import { originOf } from "../model/provider_data.ts";
import { defaultEstimator, type MessageTokenEstimator } from "./estimator.ts";
import { sumOfMessages, tokensOfTools } from "./token_sums.ts";

/** Where a {@linkcode ContextUsageEstimate} comes from. */
export type ContextUsageSource = "estimated" | "reported" | "mixed";

/** How many tokens a request is going to take. */
export interface ContextUsageEstimate {
  /** What the provider reported with the newest answer that has usage; 0 without one. */
  readonly reportedTokens: number;
  /** Estimate of the messages after that answer; of everything without one. */
  readonly trailingTokens: number;
  /** Estimate of all messages and tools. */
  readonly heuristicTokens: number;
  /** The larger of `heuristicTokens` and `usageBasedTokens`. */
  readonly totalTokens: number;
  /** Position of that answer among the messages, from 0; null without one. */
  readonly lastUsageIndex: number | null;
  /** `"reported"` if the provider's own count covers all, `"estimated"` if there is none. */
  readonly source: ContextUsageSource;
  /** `reportedTokens + trailingTokens`. */
  readonly usageBasedTokens: number;
}

/** What {@linkcode contextUsageEstimate} takes. */
export type ContextUsageEstimateInput = Omit<
  ContextUsageEstimate,
  "usageBasedTokens"
>;

/** What {@linkcode estimateContextUsage} takes beside the messages. */
export interface EstimateOptions {
  /** Tools that are sent along; those of a built request are known. @default {[]} */
  readonly tools?: readonly OpenAIFunctionTool[] | undefined;
  /** Measures messages and tools. @default {new HeuristicMessageTokenEstimator()} */
  readonly estimator?: MessageTokenEstimator | undefined;
}

/**
 * Estimates how many tokens one request will take.
 *
 * Starts from the newest answer with reported usage, which covers everything up
 * to itself, and adds an estimate for every message after it. The total never
 * falls below the plain estimate of the whole request, so stale usage cannot
 * hide pressure. Reads its inputs only.
 *
 * Of a built request it measures what the provider gets and takes the reported
 * usage from the messages of the agent.
 *
 * @param request Messages, oldest first, or a whole built request.
 * @throws {TypeError} The estimator returned no integer.
 * @throws {RangeError} The estimator returned a negative number.
 *
 * @example An empty request costs nothing
 * ```ts
 * import { estimateContextUsage } from "@ejagent/core";
 * import { equal } from "node:assert/strict";
 *
 * equal(estimateContextUsage([]).totalTokens, 0);
 * ```
 */
export function estimateContextUsage(
  request: readonly AgentMessage[] | ContextBuildResult,
  options: EstimateOptions = {},
): ContextUsageEstimate {
  const estimator = options.estimator ?? defaultEstimator;
  const context = "llmMessages" in request ? request : plainContext(request);
  const { llmMessages } = context;
  const heuristicTokens = sumOfMessages(llmMessages, estimator) +
    tokensOfTools(options.tools ?? context.tools, estimator);
  const anchor = findAnchor(context);
  if (anchor === null) {
    return contextUsageEstimate({
      reportedTokens: 0,
      trailingTokens: heuristicTokens,
      heuristicTokens,
      totalTokens: heuristicTokens,
      lastUsageIndex: null,
      source: "estimated",
    });
  }
  const { reportedTokens } = anchor;
  const trailingTokens = sumOfMessages(
    llmMessages.slice(anchor.sentIndex + 1),
    estimator,
  );
  const totalTokens = Math.max(
    reportedTokens + trailingTokens,
    heuristicTokens,
  );
  return contextUsageEstimate({
    reportedTokens,
    trailingTokens,
    heuristicTokens,
    totalTokens,
    lastUsageIndex: anchor.index,
    source: trailingTokens === 0 && totalTokens === reportedTokens
      ? "reported"
      : "mixed",
  });
}

/**
 * Makes an estimate out of its parts.
 *
 * @throws {TypeError} A count is no integer.
 * @throws {RangeError} A count is negative, the total is smaller than one of its
 * parts, or the source speaks of usage that is not there.
 */
export function contextUsageEstimate(
  input: ContextUsageEstimateInput,
): ContextUsageEstimate {
  const usageBasedTokens =
    requireInteger("reportedTokens", input.reportedTokens, 0) +
    requireInteger("trailingTokens", input.trailingTokens, 0);
  requireInteger("heuristicTokens", input.heuristicTokens, 0);
  requireInteger("totalTokens", input.totalTokens, 0);
  if (input.totalTokens < Math.max(input.heuristicTokens, usageBasedTokens)) {
    throw new RangeError(
      "totalTokens must not be smaller than heuristicTokens or reportedTokens + trailingTokens",
    );
  }
  if (input.lastUsageIndex !== null) {
    requireInteger("lastUsageIndex", input.lastUsageIndex, 0);
  } else if (input.source !== "estimated") {
    throw new RangeError('source must be "estimated" without a lastUsageIndex');
  }
  return frozen({
    reportedTokens: input.reportedTokens,
    trailingTokens: input.trailingTokens,
    heuristicTokens: input.heuristicTokens,
    totalTokens: input.totalTokens,
    lastUsageIndex: input.lastUsageIndex,
    source: input.source,
    usageBasedTokens,
  });
}

function plainContext(messages: readonly AgentMessage[]): ContextBuildResult {
  return {
    agentMessages: messages,
    llmMessages: messages,
    tools: [],
    toolDefinitions: [],
    repairs: { synthesised: [], dropped: 0 },
  };
}

/** The newest answer whose usage was reported. */
interface Anchor {
  readonly index: number;
  /** The last sent message that its usage covers. */
  readonly sentIndex: number;
  readonly reportedTokens: number;
}

function findAnchor(context: ContextBuildResult): Anchor | null {
  const { agentMessages } = context;
  const index = agentMessages.findLastIndex((message) =>
    reportedTotal(message) !== null
  );
  if (index < 0) return null;
  const sentIndex = lastCovered(context, index);
  if (sentIndex < 0) return null;
  const reportedTokens = reportedTotal(agentMessages[index]!) ?? 0;
  return { index, sentIndex, reportedTokens };
}

function lastCovered(context: ContextBuildResult, index: number): number {
  const { agentMessages, llmMessages } = context;
  const sentIndex = llmMessages.findLastIndex((sent) =>
    originOf(sent) === agentMessages[index]
  );
  if (sentIndex >= 0) return sentIndex;
  // A hook that makes all messages anew can only be followed by their number.
  if (hasSamePositions(context)) return index;
  const positions = new Map(
    agentMessages.map((message, position) => [message, position]),
  );
  return llmMessages.findLastIndex((sent) =>
    (positions.get(originOf(sent)) ?? Infinity) < index
  );
}

function hasSamePositions(context: ContextBuildResult): boolean {
  const { agentMessages, llmMessages, repairs } = context;
  return agentMessages.length === llmMessages.length &&
    repairs.synthesised.length === 0;
}

function reportedTotal(message: AgentMessage): number | null {
  if (message.role !== "assistant" || !isJsonObject(message.usage)) return null;
  const total: unknown = message.usage.total_tokens;
  return Number.isSafeInteger(total) && total as number >= 0
    ? total as number
    : null;
}
