import { frozen } from "../base/freeze.ts";

/** Token counts of one model response; `null` means the provider did not say. */
export interface ModelUsage {
  /** Tokens read, cached ones included. */
  readonly inputTokens: number;
  /** Tokens written, reasoning included. */
  readonly outputTokens: number;
  /** `inputTokens + outputTokens`. */
  readonly totalTokens: number;
  /** Part of the input that came from the provider's cache. */
  readonly cacheReadTokens: number | null;
  /** Part of the input that was put into the provider's cache. */
  readonly cacheWriteTokens: number | null;
  /** Part of the output spent on thinking. */
  readonly reasoningTokens: number | null;
}

/** What {@linkcode modelUsage} takes; omitted optional counts are unknown. */
export interface ModelUsageInput {
  /** Tokens read. */
  readonly inputTokens: number;
  /** Tokens written. */
  readonly outputTokens: number;
  /** Checked against the sum when given. */
  readonly totalTokens?: number | undefined;
  /** Part of the input. */
  readonly cacheReadTokens?: number | null | undefined;
  /** Part of the input. */
  readonly cacheWriteTokens?: number | null | undefined;
  /** Part of the output. */
  readonly reasoningTokens?: number | null | undefined;
}

/** Token counts of a whole run. */
export interface RunUsage extends ModelUsage {
  /** Model requests that were sent. */
  readonly requestCount: number;
  /** Requests whose usage is known. */
  readonly reportedRequestCount: number;
  /** `requestCount - reportedRequestCount`. */
  readonly missingRequestCount: number;
  /** True if every request reported; true without requests. */
  readonly complete: boolean;
}

/** What {@linkcode runUsage} takes. */
export interface RunUsageInput extends ModelUsageInput {
  /** Model requests that were sent. */
  readonly requestCount: number;
  /** Requests whose usage is known. */
  readonly reportedRequestCount: number;
}

/** Usage as it is written beside an assistant message. */
export interface WireModelUsage {
  /** See {@linkcode ModelUsage.inputTokens}. */
  readonly input_tokens: number;
  /** See {@linkcode ModelUsage.outputTokens}. */
  readonly output_tokens: number;
  /** See {@linkcode ModelUsage.totalTokens}. */
  readonly total_tokens: number;
  /** See {@linkcode ModelUsage.cacheReadTokens}. */
  readonly cache_read_tokens: number | null;
  /** See {@linkcode ModelUsage.cacheWriteTokens}. */
  readonly cache_write_tokens: number | null;
  /** See {@linkcode ModelUsage.reasoningTokens}. */
  readonly reasoning_tokens: number | null;
}

/** Usage as it is written in the result of a run. */
export interface WireRunUsage extends WireModelUsage {
  /** See {@linkcode RunUsage.requestCount}. */
  readonly request_count: number;
  /** See {@linkcode RunUsage.reportedRequestCount}. */
  readonly reported_request_count: number;
}

/**
 * Makes the usage of one response.
 *
 * @throws {RangeError} A count is negative or no integer, the total is not the
 * sum, cached tokens exceed the input or reasoning exceeds the output.
 *
 * @example
 * ```ts
 * import { modelUsage } from "@ejagent/core";
 * import { equal } from "node:assert/strict";
 *
 * equal(modelUsage({ inputTokens: 3, outputTokens: 2 }).totalTokens, 5);
 * ```
 */
export function modelUsage(input: ModelUsageInput): ModelUsage {
  return frozen(checkedUsage(input));
}

/**
 * Makes the usage of a run.
 *
 * @throws {RangeError} As {@linkcode modelUsage}; or more reports than requests.
 */
export function runUsage(input: RunUsageInput): RunUsage {
  const requestCount = count("requestCount", input.requestCount);
  const reportedRequestCount = count(
    "reportedRequestCount",
    input.reportedRequestCount,
  );
  if (reportedRequestCount > requestCount) {
    throw new RangeError("reportedRequestCount must not exceed requestCount");
  }
  const usage = checkedUsage(input);
  // Written out: spreading into a larger object takes microseconds on Node 20.
  return frozen({
    inputTokens: usage.inputTokens,
    outputTokens: usage.outputTokens,
    totalTokens: usage.totalTokens,
    cacheReadTokens: usage.cacheReadTokens,
    cacheWriteTokens: usage.cacheWriteTokens,
    reasoningTokens: usage.reasoningTokens,
    requestCount,
    reportedRequestCount,
    missingRequestCount: requestCount - reportedRequestCount,
    complete: requestCount === reportedRequestCount,
  });
}

/**
 * Adds two reports; null stands for none.
 *
 * Unknown stays unknown: an optional count that one report lacks is null in the sum.
 */
export function addUsage(
  left: ModelUsage | null,
  right: ModelUsage | null,
): ModelUsage | null {
  if (left === null || right === null) return left ?? right;
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

/** Usage of a run that sent nothing. */
export const NO_USAGE: RunUsage = runUsage({
  inputTokens: 0,
  outputTokens: 0,
  requestCount: 0,
  reportedRequestCount: 0,
});

/** Writes the usage of a response with the field names of messages. */
export function usageToWire(usage: ModelUsage): WireModelUsage {
  return frozen({
    input_tokens: usage.inputTokens,
    output_tokens: usage.outputTokens,
    total_tokens: usage.totalTokens,
    cache_read_tokens: usage.cacheReadTokens,
    cache_write_tokens: usage.cacheWriteTokens,
    reasoning_tokens: usage.reasoningTokens,
  });
}

/** Writes the usage of a run with the field names of journals. */
export function runUsageToWire(usage: RunUsage): WireRunUsage {
  return frozen({
    ...usageToWire(usage),
    request_count: usage.requestCount,
    reported_request_count: usage.reportedRequestCount,
  });
}

function checkedUsage(input: ModelUsageInput): ModelUsage {
  const inputTokens = count("inputTokens", input.inputTokens);
  const outputTokens = count("outputTokens", input.outputTokens);
  const totalTokens = inputTokens + outputTokens;
  if (input.totalTokens !== undefined && input.totalTokens !== totalTokens) {
    throw new RangeError("totalTokens must be inputTokens + outputTokens");
  }
  return {
    inputTokens,
    outputTokens,
    totalTokens,
    cacheReadTokens: part(
      "cacheReadTokens",
      input.cacheReadTokens,
      inputTokens,
    ),
    cacheWriteTokens: part(
      "cacheWriteTokens",
      input.cacheWriteTokens,
      inputTokens,
    ),
    reasoningTokens: part(
      "reasoningTokens",
      input.reasoningTokens,
      outputTokens,
    ),
  };
}

function count(name: string, value: number): number {
  if (!Number.isSafeInteger(value) || value < 0) {
    throw new RangeError(`${name} must be an integer of at least 0`);
  }
  return value;
}

function part(
  name: string,
  value: number | null | undefined,
  whole: number,
): number | null {
  if (value === null || value === undefined) return null;
  if (count(name, value) > whole) {
    throw new RangeError(`${name} must not exceed its whole`);
  }
  return value;
}
