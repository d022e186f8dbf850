import {
  addUsage,
  type ModelUsage,
  type RunUsage,
  runUsage,
} from "../messages/usage.ts";
import { ModelProviderError } from "../model/errors.ts";

const noTokens = { inputTokens: 0, outputTokens: 0 };

/** Adds up what the model requests of one run report. */
export class UsageMeter {
  #requestCount = 0;
  #reportedRequestCount = 0;
  #reported: ModelUsage | null = null;
  #compaction: ModelUsage | null = null;

  /** Counts a request that is about to be sent. */
  requestStarted(): void {
    this.#requestCount += 1;
  }

  /** Adds what a request reported; nothing if it did not. */
  reported(usage: ModelUsage | null | undefined): void {
    if (usage === null || usage === undefined) return;
    this.#reportedRequestCount += 1;
    this.#reported = addUsage(this.#reported, usage);
  }

  /**
   * Judges a request that failed: one that was refused, or did not arrive,
   * consumed nothing and counts as reported.
   */
  requestFailed(error: unknown, started: boolean): void {
    if (error instanceof ModelProviderError && error.unprocessed && !started) {
      this.#reportedRequestCount += 1;
    }
  }

  /** Adds what an automatic compaction spent. */
  compacted(usage: ModelUsage | null | undefined): void {
    this.#compaction = addUsage(this.#compaction, usage ?? null);
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
    return (this.#reported?.totalTokens ?? 0) +
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
      ...this.#reported ?? noTokens,
    });
  }
}
