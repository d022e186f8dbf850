import type { Cancellation } from "../base/abort.ts";
import { errorText } from "../base/errors.ts";
import { frozen } from "../base/freeze.ts";
import { isJsonObject } from "../base/json.ts";
import type { IdSource } from "../base/ports.ts";
import type { AgentMessage } from "../messages/message.ts";
import { type ModelUsage, modelUsage } from "../messages/usage.ts";
import {
  CompactionError,
  type CompactionEvent,
  type CompactionFacts,
  type CompactionNotDone,
  type CompactionRequest,
  type CompactionResult,
  type CompactionTrigger,
  type Compactor,
  type CompactorOutput,
} from "./compaction.ts";
import type { Conversation } from "./conversation.ts";
import type { MessageTokenEstimator } from "./estimator.ts";
import type {
  CompactionPreparation,
  PrepareCompactionOptions,
} from "./prepare.ts";
import { findSummaries, mergedSummary, shortenedHistory } from "./summary.ts";

/** Says where a history is cut, as a `CompactionPolicy` does. */
export interface CompactionPlanner {
  /** Divides a history, oldest first, and changes nothing. */
  prepare(
    messages: readonly AgentMessage[],
    options?: Pick<PrepareCompactionOptions, "estimator" | "splitTurns">,
  ): CompactionPreparation;
}

/** What a {@linkcode CompactionRuntime} works with. */
export interface CompactionRuntimeOptions {
  /** Whose history is shortened. */
  readonly conversation: Conversation;
  /** Says where to cut. */
  readonly policy: CompactionPlanner;
  /** Makes the ids of operations. */
  readonly ids: IdSource;
  /** Takes every event; awaited. What it throws ends the compaction and is thrown on. */
  readonly emit: (event: CompactionEvent) => void | Promise<void>;
  /** Measures the messages. @default {new HeuristicMessageTokenEstimator()} */
  readonly estimator?: MessageTokenEstimator | undefined;
  /** Allows cutting inside a single long turn, unless the policy says. @default {false} */
  readonly splitTurns?: boolean | undefined;
}

/** One compaction, as it is asked for. */
export interface CompactionOrder {
  /** Writes the summary. */
  readonly compactor: Compactor;
  /** Why it is asked for. */
  readonly trigger: CompactionTrigger;
  /** Decides about cancellation. */
  readonly cancellation: Cancellation;
  /** Where to cut, if that was found out already; made anew if the history has changed since. */
  readonly preparation?: CompactionPreparation;
}

/**
 * Replaces old messages of a conversation by a summary: all or nothing.
 *
 * One runtime serves one run, or one explicit compaction. It never throws for
 * what the compactor does; the result says what happened and one event follows
 * the other: started, then completed or failed.
 *
 * @example Shorten a conversation outside an agent
 * ```ts
 * import {
 *   Cancellation,
 *   CompactionPolicy,
 *   CompactionRuntime,
 *   consoleLogger,
 *   ContextBudget,
 *   Conversation,
 *   randomIds,
 *   systemClock,
 *   userMessage,
 * } from "@ejagent/core";
 * import { equal } from "node:assert/strict";
 *
 * const conversation = new Conversation([userMessage("Old"), userMessage("New")]);
 * const runtime = new CompactionRuntime({
 *   conversation,
 *   policy: new CompactionPolicy({
 *     budget: new ContextBudget({ contextWindow: 100, reserveTokens: 20, keepRecentTokens: 5 }),
 *   }),
 *   ids: randomIds,
 *   emit: () => {},
 * });
 * const result = await runtime.compact({
 *   compactor: { compact: () => ({ content: "Something old", source: "me" }) },
 *   trigger: "explicit",
 *   cancellation: new Cancellation({ clock: systemClock, graceMs: 0, logger: consoleLogger }),
 * });
 * equal(result.status, "completed");
 * equal(conversation.messages[1]?.content, "New");
 * ```
 */
export class CompactionRuntime {
  readonly #options: CompactionRuntimeOptions;
  #skippedPlace: string | undefined;

  /** Takes the parts that all its compactions share. */
  constructor(options: CompactionRuntimeOptions) {
    this.#options = options;
  }

  /** Says where the history would be cut now; changes nothing. */
  prepare(): CompactionPreparation {
    const { conversation, policy, estimator, splitTurns } = this.#options;
    return policy.prepare(conversation.messages, {
      ...(estimator !== undefined && { estimator }),
      ...(splitTurns !== undefined && { splitTurns }),
    });
  }

  /**
   * Compacts once.
   *
   * Replacing the history is the point of no return: an abort after it does
   * not change the result. Under pressure that does not go away, a compaction
   * without anything to summarise is reported once and then skipped silently
   * until the cut would be another one.
   */
  async compact(order: CompactionOrder): Promise<CompactionResult> {
    const { conversation, emit } = this.#options;
    const request = this.#requestFor(order);
    if (!request.preparation.canCompact) return await this.#skip(request);

    const unchanged = watch(conversation);
    let usage: ModelUsage | null = null;
    let result: CompactionResult;
    await emit({ kind: "compaction_started", request });
    try {
      const output = await summarize(order, request);
      usage = output.usage ? modelUsage(output.usage) : null;
      const summary = mergedSummary(output, request);
      const messages = shortenedHistory(request.preparation, summary);
      if (!unchanged()) {
        throw new CompactionError("The history changed during compaction");
      }
      conversation.replace(messages);
      result = frozen({
        ...factsOf(request, usage),
        status: "completed",
        summary,
        messages: frozen(messages.slice(conversation.systemCount)),
        error: null,
      });
    } catch (error) {
      result = notDone(factsOf(request, usage), order.cancellation, error);
      await emit({ kind: "compaction_failed", result });
      return result;
    }
    await emit({ kind: "compaction_completed", result });
    return result;
  }

  #requestFor({ trigger, preparation }: CompactionOrder): CompactionRequest {
    const { conversation, ids } = this.#options;
    const current =
      preparation !== undefined && covers(preparation, conversation)
        ? preparation
        : this.prepare();
    const previousSummaries = findSummaries(current.protectedMessages);
    return frozen({
      operationId: ids.next(),
      trigger,
      preparation: current,
      previousSummary: previousSummaries.at(-1) ?? null,
      previousSummaries: frozen(previousSummaries),
    });
  }

  async #skip(request: CompactionRequest): Promise<CompactionResult> {
    const { trigger, preparation } = request;
    const result: CompactionResult = frozen({
      ...factsOf(request, null),
      status: "skipped",
      summary: null,
      messages: null,
      error: null,
    });
    const place =
      `${preparation.historyStartIndex}-${preparation.firstKeptIndex}`;
    if (trigger === "pressure" && place === this.#skippedPlace) return result;
    this.#skippedPlace = place;
    await this.#options.emit({ kind: "compaction_started", request });
    await this.#options.emit({ kind: "compaction_completed", result });
    return result;
  }
}

async function summarize(
  { compactor, cancellation }: CompactionOrder,
  request: CompactionRequest,
): Promise<CompactorOutput> {
  const { signal } = cancellation;
  const output = await cancellation.race(() =>
    compactor.compact(request, { signal })
  );
  cancellation.throwIfAborted();
  if (!isJsonObject(output)) {
    throw new TypeError(
      "The compactor must return an object with content and source",
    );
  }
  return output;
}

function factsOf(
  request: CompactionRequest,
  usage: ModelUsage | null,
): CompactionFacts {
  const { operationId, trigger, preparation } = request;
  return { operationId, trigger, preparation, usage };
}

// Only the operation's own signal decides what was a cancellation.
function notDone(
  facts: CompactionFacts,
  cancellation: Cancellation,
  cause: unknown,
): CompactionNotDone {
  const { aborted, reason } = cancellation;
  const result: CompactionNotDone = {
    ...facts,
    status: aborted ? "cancelled" : "failed",
    summary: null,
    messages: null,
    error: aborted ? reason.message : errorText(cause),
  };
  return frozen(
    Object.defineProperty(result, "cause", { value: cause }),
  );
}

/** Whether nothing was added or replaced since the call. */
function watch(conversation: Conversation): () => boolean {
  const { generation, length } = conversation;
  return () =>
    conversation.generation === generation && conversation.length === length;
}

function covers(
  preparation: CompactionPreparation,
  conversation: Conversation,
): boolean {
  const prepared = new Set([
    ...preparation.protectedMessages,
    ...preparation.messagesToSummarize,
    ...preparation.messagesToKeep,
  ]);
  return prepared.size === conversation.length &&
    conversation.messages.every((message) => prepared.has(message));
}
