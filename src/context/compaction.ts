import type { Cancellation } from "../base/abort.ts";
import { EJAgentError, errorText } from "../base/errors.ts";
import { isJsonObject } from "../base/json.ts";
import type { IdSource } from "../base/ports.ts";
import type { AgentMessage } from "../messages/message.ts";
import type { ModelUsage } from "../messages/usage.ts";
import type { CompactionPolicy } from "./budget.ts";
import type { Conversation } from "./conversation.ts";
import type { MessageTokenEstimator } from "./estimator.ts";
import type { CompactionPreparation } from "./prepare.ts";
import {
  findSummaries,
  mergedSummary,
  shortenedHistory,
  type SummaryEntry,
} from "./summary.ts";

/** Why a compaction was begun. */
export type CompactionTrigger = "explicit" | "pressure" | "overflow";

/** How a compaction ended. */
export type CompactionStatus = "completed" | "skipped" | "failed" | "cancelled";

/** What a compactor is asked to summarise. */
export interface CompactionRequest {
  /** Id of this compaction; the same in its result. */
  readonly operationId: string;
  /** Why it was begun. */
  readonly trigger: CompactionTrigger;
  /** Where the history is cut; `messagesToSummarize` is what the summary is about. */
  readonly preparation: CompactionPreparation;
  /** The newest summary so far, to be merged into the new one; null if there is none. */
  readonly previousSummary: SummaryEntry | null;
  /** All summaries so far, oldest first; the new one takes the place of all of them. */
  readonly previousSummaries: readonly SummaryEntry[];
}

/** What a compactor answers. */
export interface CompactorOutput {
  /** The summary; not blank. */
  readonly content: string;
  /** Who wrote it, for example the name of a model; not blank. */
  readonly source: string;
  /** What writing it cost; null or absent if unknown or nothing. */
  readonly usage?: ModelUsage | null;
}

/**
 * Writes the summaries that take the place of old messages.
 *
 * Called at most once per compaction and never while another one of the same
 * agent is running. A rejection fails the compaction and leaves the history as
 * it is. `signal` aborts with the operation.
 *
 * @example Keep the first words of the user
 * ```ts
 * import { type Compactor, contentText } from "@ejagent/core";
 *
 * const headlines: Compactor = {
 *   compact({ preparation }) {
 *     const lines = preparation.messagesToSummarize
 *       .filter((message) => message.role === "user")
 *       .map((message) => contentText(message.content).slice(0, 80));
 *     return { content: lines.join("\n"), source: "headlines" };
 *   },
 * };
 * ```
 */
export interface Compactor {
  /** Summarises `request.preparation.messagesToSummarize`. */
  compact(
    request: CompactionRequest,
    options: { readonly signal: AbortSignal },
  ): Promise<CompactorOutput> | CompactorOutput;
}

/** Members that every result of a compaction has. */
export interface CompactionFacts {
  /** Id of this compaction. */
  readonly operationId: string;
  /** Why it was begun. */
  readonly trigger: CompactionTrigger;
  /** Where the history was or would have been cut. */
  readonly preparation: CompactionPreparation;
  /** What the compactor spent; null if unknown or nothing. */
  readonly usage: ModelUsage | null;
}

/** The history was replaced. */
export interface CompactionInstalled extends CompactionFacts {
  /** Tells the results apart. */
  readonly status: "completed";
  /** The new summary. */
  readonly summary: SummaryEntry;
  /** The new history without the agent's own system messages: what a session stores. */
  readonly messages: readonly AgentMessage[];
  /** No error. */
  readonly error: null;
}

/** There was nothing to summarise. */
export interface CompactionSkipped extends CompactionFacts {
  /** Tells the results apart. */
  readonly status: "skipped";
  /** No summary. */
  readonly summary: null;
  /** No messages. */
  readonly messages: null;
  /** No error. */
  readonly error: null;
}

/** The history is as it was. */
export interface CompactionNotDone extends CompactionFacts {
  /** Tells the results apart. */
  readonly status: "failed" | "cancelled";
  /** No summary. */
  readonly summary: null;
  /** No messages. */
  readonly messages: null;
  /** What went wrong, or the reason of the abort; not blank. */
  readonly error: string;
  /** What was thrown; not enumerable. */
  readonly cause?: unknown;
}

/** What a compaction came to. */
export type CompactionResult =
  | CompactionInstalled
  | CompactionSkipped
  | CompactionNotDone;

/** What a {@linkcode CompactionRuntime} reports. */
export type CompactionEvent =
  | { readonly kind: "compaction_started"; readonly request: CompactionRequest }
  | { readonly kind: "compaction_completed"; readonly result: CompactionResult }
  | { readonly kind: "compaction_failed"; readonly result: CompactionResult };

/** A compaction could not do its work; the history is as it was. */
export class CompactionError extends EJAgentError {
  /** Always `"compaction_failed"`. */
  override readonly code = "compaction_failed";
}

/** What a {@linkcode CompactionRuntime} works with. */
export interface CompactionRuntimeOptions {
  /** Whose history is shortened. */
  readonly conversation: Conversation;
  /** Says where to cut. */
  readonly policy: CompactionPolicy;
  /** Makes the ids of operations. */
  readonly ids: IdSource;
  /** Takes every event; awaited. What it throws ends the compaction and is thrown on. */
  readonly emit: (event: CompactionEvent) => void | Promise<void>;
  /** Measures the messages. @default {new HeuristicMessageTokenEstimator()} */
  readonly estimator?: MessageTokenEstimator;
  /** Allows cutting inside a single long turn, unless the policy says. @default {false} */
  readonly splitTurns?: boolean;
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
      usage = output.usage ?? null;
      const summary = mergedSummary(output, request);
      const messages = shortenedHistory(request.preparation, summary);
      if (!unchanged()) {
        throw new CompactionError("The history changed during compaction");
      }
      conversation.replace(messages);
      result = Object.freeze({
        ...factsOf(request, usage),
        status: "completed",
        summary,
        messages: Object.freeze(messages.slice(conversation.systemCount)),
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
    return Object.freeze({
      operationId: ids.next(),
      trigger,
      preparation: current,
      previousSummary: previousSummaries.at(-1) ?? null,
      previousSummaries: Object.freeze(previousSummaries),
    });
  }

  async #skip(request: CompactionRequest): Promise<CompactionResult> {
    const { trigger, preparation } = request;
    const result: CompactionResult = Object.freeze({
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
  return Object.freeze(
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
