import type { JsonValue } from "../base/json.ts";
import { requireObject } from "../base/require.ts";
import type { ModelOptions } from "../model/adapter.ts";

const known: ReadonlySet<string> = new Set([
  "frequency_penalty",
  "logit_bias",
  "max_completion_tokens",
  "max_tokens",
  "parallel_tool_calls",
  "presence_penalty",
  "prompt_cache_key",
  "reasoning_effort",
  "response_format",
  "safety_identifier",
  "seed",
  "service_tier",
  "stop",
  "temperature",
  "tool_choice",
  "top_p",
  "user",
  "verbosity",
]);

/** Members that only the adapter itself writes. */
const own: ReadonlySet<string> = new Set([
  "messages",
  "model",
  "stream",
  "stream_options",
  "tools",
]);

/** Servers refuse these in a request without tools. */
const aboutTools: ReadonlySet<string> = new Set([
  "parallel_tool_calls",
  "tool_choice",
]);

/**
 * The members of a request body that options decide about.
 *
 * Names may be in snake or camel case. Unknown ones are passed over; null takes
 * back what the configuration says. `extra_body` is an object of members that
 * only this server knows; they are added as they are.
 *
 * @param temperature The temperature of the configuration.
 * @throws {TypeError} `extra_body` is no object.
 */
export function bodyMembers(
  temperature: number | null,
  options: ModelOptions,
  hasTools: boolean,
): Record<string, JsonValue> {
  const members: Record<string, JsonValue> = {};
  const extra = options.extra_body ?? options.extraBody ?? {};
  for (
    const [key, value] of Object.entries(requireObject("extra_body", extra))
  ) {
    if (!own.has(key)) members[key] = value;
  }
  for (const [name, value] of Object.entries({ temperature, ...options })) {
    const key = snakeCase(name);
    if (!known.has(key) || value === undefined || value === null) continue;
    if (hasTools || !aboutTools.has(key)) members[key] = value;
  }
  return members;
}

/** The names of options that nobody sends. */
export function unknownOptions(options: ModelOptions): readonly string[] {
  return Object.keys(options).filter((name) => {
    const key = snakeCase(name);
    return key !== "extra_body" && !known.has(key);
  });
}

function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
