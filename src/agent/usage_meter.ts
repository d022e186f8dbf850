import {
  type ModelUsage,
  modelUsage,
  type RunUsage,
  runUsage,
} from "../messages/usage.ts";
import { ContextOverflowError } from "../model/errors.ts";

type OptionalCount = "cacheReadTokens" | "cacheWriteTokens" | "reasoningTokens";

/** Adds up what the model requests of one run report. */
export class UsageMeter {
  #requestCount = 0;
  #reportedRequestCount = 0;
  #inputTokens = 0;
  #outputTokens = 0;
  #optional: Record<OptionalCount, number | null> | undefined;
  #compaction: ModelUsage | null = null;

  /** Counts a request that is about to be sent. */
  requestStarted(): void {
    this.#requestCount += 1;
  }

  /** Adds what a request reported; nothing if it did not. */
  reported(usage: ModelUsage | null | undefined): void {
    if (usage === null || usage === undefined) return;
    this.#reportedRequestCount += 1;
    this.#inputTokens += usage.inputTokens;
    this.#outputTokens += usage.outputTokens;
    this.#optional = {
      cacheReadTokens: this.#sum("cacheReadTokens", usage),
      cacheWriteTokens: this.#sum("cacheWriteTokens", usage),
      reasoningTokens: this.#sum("reasoningTokens", usage),
    };
  }

  /**
   * Judges a request that failed: one that was refused as too large before any
   * output consumed nothing and counts as reported.
   */
  requestFailed(error: unknown, started: boolean): void {
    if (error instanceof ContextOverflowError && !started) {
      this.#reportedRequestCount += 1;
    }
  }

  /** Adds what an automatic compaction spent. */
  compacted(usage: ModelUsage | null | undefined): void {
    if (usage === null || usage === undefined) return;
    this.#compaction = this.#compaction === null
      ? usage
      : addUsage(this.#compaction, usage);
  }

  /** Requests sent so far. */
  get requestCount(): number {
    return this.#requestCount;
  }

  /** Requests that did not report. */
  get missingRequestCount(): number {
    return this.#requestCount - this.#reportedRequestCount;
  }

  /** Tokens spent so far, compactions included. */
  get spentTokens(): number {
    return this.#inputTokens + this.#outputTokens +
      (this.#compaction?.totalTokens ?? 0);
  }

  /** What automatic compactions spent; null without any report. */
  get compactionUsage(): ModelUsage | null {
    return this.#compaction;
  }

  /** The usage of the run so far. */
  total(): RunUsage {
    return runUsage({
      requestCount: this.#requestCount,
      reportedRequestCount: this.#reportedRequestCount,
      inputTokens: this.#inputTokens,
      outputTokens: this.#outputTokens,
      ...this.#optional,
    });
  }

  // Unknown stays unknown: one report without the count makes the sum unknown for good.
  #sum(name: OptionalCount, usage: ModelUsage): number | null {
    if (this.#optional === undefined) return usage[name];
    return sumKnown(this.#optional[name], usage[name]);
  }
}

function addUsage(left: ModelUsage, right: ModelUsage): ModelUsage {
  return modelUsage({
    inputTokens: left.inputTokens + right.inputTokens,
    outputTokens: left.outputTokens + right.outputTokens,
    cacheReadTokens: sumKnown(left.cacheReadTokens, right.cacheReadTokens),
    cacheWriteTokens: sumKnown(left.cacheWriteTokens, right.cacheWriteTokens),
    reasoningTokens: sumKnown(left.reasoningTokens, right.reasoningTokens),
  });
}

function sumKnown(left: number | null, right: number | null): number | null {
  return left === null || right === null ? null : left + right;
}
