import { EJAgentError } from "../base/errors.ts";
import type { AgentMessage } from "../messages/message.ts";
import type { ModelUsage } from "../messages/usage.ts";
import type { CompactionPreparation } from "./prepare.ts";
import type { SummaryEntry } from "./summary.ts";

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
  /** What writing it cost, as `modelUsage()` makes it; null or absent if unknown or nothing. */
  readonly usage?: ModelUsage | null;
}

/**
 * Writes the summaries that take the place of old messages.
 *
 * Called at most once per compaction and never while another one of the same
 * agent is running. A rejection fails the compaction and leaves the history as
 * it is; a run that needed it ends with `compaction_failed`, so whatever may be
 * tried again is tried again in here. Nobody checks that the summary is shorter
 * than what it replaces. `signal` aborts with the operation.
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

/** What is reported of a compaction. */
export type CompactionEvent =
  | { readonly kind: "compaction_started"; readonly request: CompactionRequest }
  | { readonly kind: "compaction_completed"; readonly result: CompactionResult }
  | { readonly kind: "compaction_failed"; readonly result: CompactionResult };

/** A compaction could not do its work; the history is as it was. */
export class CompactionError extends EJAgentError {
  /** Always `"compaction_failed"`. */
  override readonly code = "compaction_failed";
}
