import { requireInteger } from "../base/require.ts";
import type { AgentMessage } from "../messages/message.ts";
import type { OpenAIFunctionTool } from "../messages/tool.ts";
import type { MessageTokenEstimator } from "./estimator.ts";

/** A list that only grows, as far as another list begins with it. */
interface GrowingPart {
  /** Owns the sums. */
  readonly list: readonly AgentMessage[];
  /** How much of it belongs to the other list. */
  readonly length: number;
  /** What the other list holds besides. */
  readonly rest: readonly AgentMessage[];
}

/** Running totals: `totals[n]` is the sum of the first n messages of a list. */
interface RunningTotals {
  readonly estimator: MessageTokenEstimator;
  readonly totals: number[];
}

const growingParts = new WeakMap<readonly AgentMessage[], GrowingPart>();
const runningTotals = new WeakMap<readonly AgentMessage[], RunningTotals>();

/**
 * Remembers that a list of messages is made of a list that only grows and a
 * few others, so that its sum need not look at every message again.
 */
export function rememberGrowingPart(
  messages: readonly AgentMessage[],
  part: GrowingPart,
): void {
  growingParts.set(messages, part);
}

/** Tokens of all messages together. */
export function sumOfMessages(
  messages: readonly AgentMessage[],
  estimator: MessageTokenEstimator,
): number {
  const part = growingParts.get(messages);
  if (part === undefined) return plainSum(messages, estimator);
  return totalOf(part, estimator) + plainSum(part.rest, estimator);
}

/** Tokens of one message. @throws {RangeError} The estimator returned a negative number. */
export function tokensOfMessage(
  message: AgentMessage,
  estimator: MessageTokenEstimator,
): number {
  return requireInteger(
    "The result of estimateMessage()",
    estimator.estimateMessage(message),
    0,
  );
}

/** Tokens of all tools. @throws {RangeError} The estimator returned a negative number. */
export function tokensOfTools(
  tools: readonly OpenAIFunctionTool[],
  estimator: MessageTokenEstimator,
): number {
  return requireInteger(
    "The result of estimateTools()",
    estimator.estimateTools(tools),
    0,
  );
}

function plainSum(
  messages: readonly AgentMessage[],
  estimator: MessageTokenEstimator,
): number {
  let sum = 0;
  for (const message of messages) sum += tokensOfMessage(message, estimator);
  return sum;
}

function totalOf(
  { list, length }: GrowingPart,
  estimator: MessageTokenEstimator,
): number {
  let running = runningTotals.get(list);
  if (running?.estimator !== estimator) {
    running = { estimator, totals: [0] };
    runningTotals.set(list, running);
  }
  const { totals } = running;
  for (let count = totals.length; count <= length; count++) {
    totals.push(
      totals[count - 1]! + tokensOfMessage(list[count - 1]!, estimator),
    );
  }
  return totals[length]!;
}
