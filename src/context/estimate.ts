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
  readonly tools?: readonly OpenAIFunctionTool[];
  /** Measures messages and tools. @default {new HeuristicMessageTokenEstimator()} */
  readonly estimator?: MessageTokenEstimator;
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
  const { agentMessages, llmMessages, tools } = "llmMessages" in request
    ? request
    : { agentMessages: request, llmMessages: request, tools: [] };
  const heuristicTokens = sumOfMessages(llmMessages, estimator) +
    tokensOfTools(options.tools ?? tools, estimator);
  const anchor = findAnchor(agentMessages, llmMessages);
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
  return Object.freeze({
    reportedTokens: input.reportedTokens,
    trailingTokens: input.trailingTokens,
    heuristicTokens: input.heuristicTokens,
    totalTokens: input.totalTokens,
    lastUsageIndex: input.lastUsageIndex,
    source: input.source,
    usageBasedTokens,
  });
}

/** The newest answer whose usage was reported. */
interface Anchor {
  readonly index: number;
  readonly sentIndex: number;
  readonly reportedTokens: number;
}

function findAnchor(
  agentMessages: readonly AgentMessage[],
  llmMessages: readonly AgentMessage[],
): Anchor | null {
  const index = agentMessages.findLastIndex((message) =>
    reportedTotal(message) !== null
  );
  if (index < 0) return null;
  const message = agentMessages[index]!;
  let sentIndex = llmMessages.findLastIndex((sent) =>
    originOf(sent) === message
  );
  if (sentIndex < 0 && llmMessages.length === agentMessages.length) {
    sentIndex = index;
  }
  return sentIndex < 0
    ? null
    : { index, sentIndex, reportedTokens: reportedTotal(message)! };
}

function reportedTotal(message: AgentMessage): number | null {
  if (message.role !== "assistant" || !isJsonObject(message.usage)) return null;
  const total: unknown = message.usage.total_tokens;
  return Number.isSafeInteger(total) && total as number >= 0
    ? total as number
    : null;
}
