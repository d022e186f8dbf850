import { frozen, frozenCopy } from "../base/freeze.ts";
import { requireInteger } from "../base/require.ts";
import type { AgentMessage } from "../messages/message.ts";
import { defaultEstimator, type MessageTokenEstimator } from "./estimator.ts";
import {
  isBarrier,
  leadingSystemCount,
  safeCuts,
  startBehindBarriers,
} from "./turns.ts";
import { tokensOfMessage } from "./token_sums.ts";

/**
 * What a compaction does with messages between the turns that are neither the
 * user's, the model's nor a tool's: `"freeze"` protects everything before the
 * last one of them, `"hoist"` protects only these messages themselves and moves
 * those before the cut to the front.
 */
export type BarrierTreatment = "freeze" | "hoist";

/** What {@linkcode prepareCompaction} takes beside the messages. */
export interface PrepareCompactionOptions {
  /** Tokens of the newest conversation that stay at least. */
  readonly keepRecentTokens: number;
  /** Tokens that an additional turn may not bring the kept part over. @default {Infinity} */
  readonly maxKeepTokens?: number | undefined;
  /** Measures the messages. @default {new HeuristicMessageTokenEstimator()} */
  readonly estimator?: MessageTokenEstimator | undefined;
  /** What becomes of barriers. @default {"freeze"} */
  readonly barriers?: BarrierTreatment | undefined;
  /** Allows cutting inside a single turn that is longer than `keepRecentTokens`. @default {false} */
  readonly splitTurns?: boolean | undefined;
}

/**
 * Where a history would be cut; every message is in exactly one of the three
 * lists, and a call is always in the same list as its results.
 */
export interface CompactionPreparation {
  /** Stays at the front: leading system messages and what barriers protect. */
  readonly protectedMessages: readonly AgentMessage[];
  /** Is replaced by a summary. */
  readonly messagesToSummarize: readonly AgentMessage[];
  /** Stays behind the summary. */
  readonly messagesToKeep: readonly AgentMessage[];
  /** Position in the history of the first message that is not protected. */
  readonly historyStartIndex: number;
  /** Position in the history of the first message behind the cut. */
  readonly firstKeptIndex: number;
  /** Tokens of what is not protected: the sum of the next two. */
  readonly estimatedHistoryTokens: number;
  /** Tokens of `messagesToSummarize`. */
  readonly estimatedSummarizedTokens: number;
  /** Tokens of `messagesToKeep`. */
  readonly estimatedKeptTokens: number;
  /** True if there is something to summarise. */
  readonly canCompact: boolean;
}

/**
 * Says where a history would be cut. It changes nothing.
 *
 * A turn begins with a message of the user. The last turn stays; while less
 * than `keepRecentTokens` stay, so does the turn before it. Everything older is
 * to be summarised, except what is protected: the leading system messages and,
 * with frozen barriers, everything up to the last barrier. A call and its
 * results are never separated, wherever the results stand.
 *
 * @param messages The history, oldest first.
 * @throws {TypeError} A number of tokens is no integer.
 * @throws {RangeError} It is not positive, or the estimator returned a negative number.
 *
 * @example Summarise the first of two turns
 * ```ts
 * import { prepareCompaction, userMessage } from "@ejagent/core";
 * import { equal } from "node:assert/strict";
 *
 * const history = [userMessage("An old question"), userMessage("A new question")];
 * const preparation = prepareCompaction(history, { keepRecentTokens: 1 });
 * equal(preparation.firstKeptIndex, 1);
 * ```
 */
export function prepareCompaction(
  messages: readonly AgentMessage[],
  options: PrepareCompactionOptions,
): CompactionPreparation {
  requireInteger("keepRecentTokens", options.keepRecentTokens, 1);
  if (options.maxKeepTokens !== undefined) {
    requireInteger("maxKeepTokens", options.maxKeepTokens, 1);
  }
  const history = Array.from(messages, (message) => frozenCopy(message));
  const layout = layOut(history, options);
  const whole = divided(layout, cutBetweenTurns(layout, options), null);
  if (whole.canCompact || options.splitTurns !== true) return whole;
  const inside = cutInsideTurn(layout, options);
  return inside === null ? whole : divided(layout, inside.cut, inside.opening);
}

/** A history and what is known of its positions. */
interface Layout {
  readonly history: readonly AgentMessage[];
  /** The first position that is not protected. */
  readonly start: number;
  /** Whether a cut before a position leaves all calls with their results. */
  readonly safe: readonly boolean[];
  /** Tokens of the messages from one position to before another. */
  readonly tokensBetween: (from: number, to: number) => number;
}

function layOut(
  history: readonly AgentMessage[],
  options: PrepareCompactionOptions,
): Layout {
  const start = options.barriers === "hoist"
    ? leadingSystemCount(history)
    : startBehindBarriers(history);
  const estimator = options.estimator ?? defaultEstimator;
  const totals = [0];
  for (const message of history.slice(start)) {
    totals.push(totals.at(-1)! + tokensOfMessage(message, estimator));
  }
  return {
    history,
    start,
    safe: safeCuts(history),
    tokensBetween: (from, to) => totals[to - start]! - totals[from - start]!,
  };
}

function cutBetweenTurns(
  layout: Layout,
  options: PrepareCompactionOptions,
): number {
  const { start, tokensBetween } = layout;
  const { keepRecentTokens, maxKeepTokens = Infinity } = options;
  const turns = turnStarts(layout);
  let cut = turns.pop() ?? start;
  let keptTokens = tokensBetween(cut, layout.history.length);
  for (const turn of turns.reverse()) {
    if (keptTokens >= keepRecentTokens) break;
    keptTokens += tokensBetween(turn, cut);
    if (keptTokens > maxKeepTokens) break;
    cut = turn;
  }
  return cut;
}

function turnStarts({ history, start, safe }: Layout): number[] {
  const starts = [];
  for (let position = start; position < history.length; position++) {
    const begins = history[position]!.role === "user" && safe[position];
    if (begins || position === start) starts.push(position);
  }
  return starts;
}

/**
 * The latest cut before an answer of the model that keeps enough behind it; the
 * message that opens the turn is kept as well.
 */
function cutInsideTurn(
  layout: Layout,
  options: PrepareCompactionOptions,
): { cut: number; opening: number | null } | null {
  const { history, safe, tokensBetween } = layout;
  const turn = turnStarts(layout).at(-1);
  if (
    turn === undefined ||
    tokensBetween(turn, history.length) <= options.keepRecentTokens
  ) {
    return null;
  }
  const head = history.findIndex((message, position) =>
    position >= turn && !isBarrier(message)
  );
  const opening = history[head]?.role === "user" ? head : null;
  const firstSummarized = opening === null ? head : opening + 1;
  for (let cut = history.length - 1; cut > firstSummarized; cut--) {
    const enough =
      tokensBetween(cut, history.length) >= options.keepRecentTokens;
    if (enough && safe[cut] && history[cut]!.role === "assistant") {
      return { cut, opening };
    }
  }
  return null;
}

function divided(
  layout: Layout,
  cut: number,
  opening: number | null,
): CompactionPreparation {
  const { history, start, tokensBetween } = layout;
  const protectedMessages = history.slice(0, start);
  const messagesToSummarize: AgentMessage[] = [];
  const messagesToKeep: AgentMessage[] = [];
  let estimatedSummarizedTokens = 0;
  let estimatedKeptTokens = tokensBetween(cut, history.length);
  for (let position = start; position < cut; position++) {
    const message = history[position]!;
    if (isBarrier(message)) {
      protectedMessages.push(message);
    } else if (position === opening) {
      messagesToKeep.push(message);
      estimatedKeptTokens += tokensBetween(position, position + 1);
    } else {
      messagesToSummarize.push(message);
      estimatedSummarizedTokens += tokensBetween(position, position + 1);
    }
  }
  // Barriers alone are no reason to move anything.
  if (messagesToSummarize.length === 0 && cut > start) {
    return divided(layout, start, null);
  }
  return frozen({
    protectedMessages: frozen(protectedMessages),
    messagesToSummarize: frozen(messagesToSummarize),
    messagesToKeep: frozen(messagesToKeep.concat(history.slice(cut))),
    historyStartIndex: start,
    firstKeptIndex: cut,
    estimatedHistoryTokens: estimatedSummarizedTokens + estimatedKeptTokens,
    estimatedSummarizedTokens,
    estimatedKeptTokens,
    canCompact: messagesToSummarize.length > 0,
  });
}
