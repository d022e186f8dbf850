import { isJsonObject } from "../base/json.ts";
import type { Logger } from "../base/ports.ts";
import { type ModelUsage, modelUsage } from "../messages/usage.ts";

/** True for a usage object that says something; an empty one means unknown, not zero. */
export function reportsUsage(value: unknown): value is Record<string, unknown> {
  return isJsonObject(value) &&
    (isReported(value.prompt_tokens) || isReported(value.completion_tokens));
}

/**
 * Reads the token counts of an answer.
 *
 * Odd numbers never cost the answer: an impossible part becomes unknown, and an
 * impossible main number makes the whole unknown, with a warning.
 *
 * @param usage An object of which {@linkcode reportsUsage} is true.
 */
export function readUsage(
  usage: Record<string, unknown>,
  logger: Logger,
): ModelUsage | null {
  const inputTokens = mainCount(usage.prompt_tokens);
  const written = mainCount(usage.completion_tokens);
  if (inputTokens === undefined || written === undefined) {
    logger.warn(
      "The provider reported impossible token counts; they count as unknown",
      {
        promptTokens: String(usage.prompt_tokens),
        completionTokens: String(usage.completion_tokens),
      },
    );
    return null;
  }
  const read = detailsOf(usage.prompt_tokens_details);
  const wrote = detailsOf(usage.completion_tokens_details);
  const reasoning = count(wrote?.reasoning_tokens);
  // Some providers count reasoning beside the completion instead of inside it.
  const beside = reasoning !== undefined &&
    usage.total_tokens === inputTokens + written + reasoning;
  const outputTokens = beside ? written + reasoning : written;
  const cached = read === undefined
    ? usage.prompt_cache_hit_tokens
    : read.cached_tokens;
  return modelUsage({
    inputTokens,
    outputTokens,
    cacheReadTokens: partOf(inputTokens, cached),
    cacheWriteTokens: partOf(inputTokens, read?.cache_write_tokens),
    reasoningTokens: partOf(outputTokens, reasoning),
  });
}

function isReported(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function mainCount(value: unknown): number | undefined {
  return isReported(value) ? count(value) : 0;
}

function detailsOf(value: unknown): Record<string, unknown> | undefined {
  return isJsonObject(value) ? value : undefined;
}

function partOf(whole: number, value: unknown): number | null {
  const part = count(value);
  return part === undefined || part > whole ? null : part;
}

function count(value: unknown): number | undefined {
  return Number.isSafeInteger(value) && (value as number) >= 0
    ? value as number
    : undefined;
}
