import { deepFreeze, frozen } from "../base/freeze.ts";
import { isJsonObject, type JsonObject } from "../base/json.ts";
import { requireInteger, requireText } from "../base/require.ts";
import {
  type AgentMessage,
  type SystemMessage,
  withoutUsage,
} from "../messages/message.ts";
import type { CompactionPreparation } from "./prepare.ts";

const heading = "Conversation summary from earlier turns:";
const summaryKey = "_ejagent_summary";
const formerSummaryKey = "_simagentplg_summary";

/** What a {@linkcode SummaryEntry} is made of. */
export interface SummaryEntryInput {
  /** The summary. */
  readonly content: string;
  /** Who wrote it, for example the name of a model. */
  readonly source: string;
  /** Position of the first message that was not protected, in the history before. */
  readonly historyStartIndex: number;
  /** Position of the first message behind the cut, in the history before. */
  readonly firstKeptIndex: number;
  /** Messages that the summary stands for, those of merged summaries included. */
  readonly summarizedMessageCount: number;
  /** Estimated tokens of the history before, protected messages left out. */
  readonly tokensBefore: number;
}

/** A summary as journals and messages hold it. */
export interface WireSummaryEntry extends JsonObject {
  /** See {@linkcode SummaryEntryInput.content}. */
  readonly content: string;
  /** See {@linkcode SummaryEntryInput.source}. */
  readonly source: string;
  /** See {@linkcode SummaryEntryInput.historyStartIndex}. */
  readonly history_start_index: number;
  /** See {@linkcode SummaryEntryInput.firstKeptIndex}. */
  readonly first_kept_index: number;
  /** See {@linkcode SummaryEntryInput.summarizedMessageCount}. */
  readonly summarized_message_count: number;
  /** See {@linkcode SummaryEntryInput.tokensBefore}. */
  readonly tokens_before: number;
}

/**
 * A summary that stands in a history for the messages it was made from.
 *
 * @example Write and read one
 * ```ts
 * import { SummaryEntry } from "@ejagent/core";
 * import { equal } from "node:assert/strict";
 *
 * const entry = new SummaryEntry({
 *   content: "The user plans a trip to Lisbon.",
 *   source: "gpt-5-mini",
 *   historyStartIndex: 1,
 *   firstKeptIndex: 9,
 *   summarizedMessageCount: 8,
 *   tokensBefore: 2100,
 * });
 * equal(SummaryEntry.fromJson(entry.toJSON())?.content, entry.content);
 * ```
 */
export class SummaryEntry {
  /** The summary, trimmed. */
  readonly content: string;
  /** Who wrote it, trimmed. */
  readonly source: string;
  /** Position of the first message that was not protected, in the history before. */
  readonly historyStartIndex: number;
  /** Position of the first message behind the cut, in the history before. */
  readonly firstKeptIndex: number;
  /** Messages that the summary stands for, those of merged summaries included. */
  readonly summarizedMessageCount: number;
  /** Estimated tokens of the history before, protected messages left out. */
  readonly tokensBefore: number;

  /**
   * Checks and trims the members.
   *
   * @throws {TypeError} A member of the wrong type.
   * @throws {RangeError} A blank text, a negative number, no message summarised,
   * or a kept position that is not behind the start.
   */
  constructor(input: SummaryEntryInput) {
    this.content = requireText("content", input.content);
    this.source = requireText("source", input.source);
    this.historyStartIndex = requireInteger(
      "historyStartIndex",
      input.historyStartIndex,
      0,
    );
    this.firstKeptIndex = requireInteger(
      "firstKeptIndex",
      input.firstKeptIndex,
      this.historyStartIndex + 1,
    );
    this.summarizedMessageCount = requireInteger(
      "summarizedMessageCount",
      input.summarizedMessageCount,
      1,
    );
    this.tokensBefore = requireInteger("tokensBefore", input.tokensBefore, 0);
    frozen(this);
  }

  /** Reads the written form. @returns Null for anything that is no valid summary. */
  static fromJson(value: unknown): SummaryEntry | null {
    if (!isJsonObject(value)) return null;
    const wire = value as Partial<WireSummaryEntry>;
    try {
      return new SummaryEntry({
        content: wire.content!,
        source: wire.source!,
        historyStartIndex: wire.history_start_index!,
        firstKeptIndex: wire.first_kept_index!,
        summarizedMessageCount: wire.summarized_message_count!,
        tokensBefore: wire.tokens_before!,
      });
    } catch {
      return null;
    }
  }

  /** The written form, with the field names of journals. */
  toJSON(): WireSummaryEntry {
    return deepFreeze({
      content: this.content,
      source: this.source,
      history_start_index: this.historyStartIndex,
      first_kept_index: this.firstKeptIndex,
      summarized_message_count: this.summarizedMessageCount,
      tokens_before: this.tokensBefore,
    });
  }
}

/** The system message by which a summary stands in a history. */
export function summaryMessage(entry: SummaryEntry): SystemMessage {
  return deepFreeze({
    role: "system" as const,
    content: `${heading}\n\n${entry.content}`,
    [summaryKey]: entry.toJSON(),
  });
}

/**
 * The summary that a message of a history stands for, also one written under
 * the former key; null for all other messages.
 */
export function summaryOf(message: AgentMessage): SummaryEntry | null {
  if (message.role !== "system") return null;
  return SummaryEntry.fromJson(message[summaryKey]) ??
    SummaryEntry.fromJson((message as unknown as JsonObject)[formerSummaryKey]);
}

/** All valid summaries among messages, oldest first. */
export function findSummaries(
  messages: readonly AgentMessage[],
): readonly SummaryEntry[] {
  return messages.flatMap((message) => summaryOf(message) ?? []);
}

/** What a summary is about. */
export interface SummarizedPart {
  /** Its `messagesToSummarize` are what the summary stands for. */
  readonly preparation: CompactionPreparation;
  /** Summaries that went into the new one. */
  readonly previousSummaries: readonly SummaryEntry[];
}

/**
 * The entry of a text that was written about messages and earlier summaries.
 *
 * @throws {TypeError} The content or the source is no text.
 * @throws {RangeError} One of them is blank.
 */
export function mergedSummary(
  written: Pick<SummaryEntryInput, "content" | "source">,
  { preparation, previousSummaries }: SummarizedPart,
): SummaryEntry {
  let count = preparation.messagesToSummarize.length;
  for (const summary of previousSummaries) {
    count = Math.min(
      count + summary.summarizedMessageCount,
      Number.MAX_SAFE_INTEGER,
    );
  }
  return new SummaryEntry({
    content: written.content,
    source: written.source,
    historyStartIndex: preparation.historyStartIndex,
    firstKeptIndex: preparation.firstKeptIndex,
    summarizedMessageCount: count,
    tokensBefore: preparation.estimatedHistoryTokens,
  });
}

/**
 * The history after a compaction: what is protected without earlier summaries,
 * the new summary, what is kept.
 */
export function shortenedHistory(
  preparation: CompactionPreparation,
  summary: SummaryEntry,
): readonly AgentMessage[] {
  return [
    ...preparation.protectedMessages.filter((message) =>
      summaryOf(message) === null
    ),
    summaryMessage(summary),
    ...preparation.messagesToKeep,
    // Usage was reported for the long history; it would make the short one look full.
  ].map(withoutUsage);
}
