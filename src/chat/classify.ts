import { isJsonObject } from "../base/json.ts";
import type { ModelErrorKind } from "../model/errors.ts";

/** What a provider said about a failure, apart from any text of the conversation. */
export interface ProviderVerdict {
  /** HTTP status, or the status that an error inside a stream names. */
  readonly status: number | undefined;
  /** Codes and types, trimmed and in lower case. */
  readonly codes: readonly string[];
  /** What the provider wrote for people; may be empty. */
  readonly text: string;
}

const overflowCodes: ReadonlySet<string> = new Set([
  "context_length_error",
  "context_length_exceeded",
  "context_overflow",
  "context_window_exceeded",
  "exceed_context_size_error",
  "input_too_long",
  "model_context_window_exceeded",
  "model_max_prompt_tokens_exceeded",
  "prompt_too_long",
]);

const overflowPhrases: readonly RegExp[] = [
  /context length exceeded|context window exceeded|exceeds the context/,
  /context window|context size|context limit|maximum context length/,
  /prompt is too long|input is too long|maximum prompt length|model token limit/,
  /too many tokens|tokens in request more than max tokens allowed/,
  /reduce the length of the messages|range of input length should be/,
  /exceeds the maximum number of tokens|prompt token count of \S+ exceeds the limit/,
];

const quotaPhrases =
  /per[\s_-](?:second|minute|min|hour|day|week|month)\b|quota|rate[\s_-]?limit|too many requests|throttl|\b[rt]p[smhd]\b/;

const spentPhrases =
  /insufficient[_\s]quota|exceeded your current quota|billing/;

/** Payloads that are too large in bytes; a shorter history would not help. */
const bulkPhrases = /total message size|image|attachment/;

/**
 * Names the kind of a failure; the first rule that fits wins.
 *
 * Quota comes before overflow, because "too many tokens per day" is no overflow.
 */
export function classify(verdict: ProviderVerdict): ModelErrorKind {
  const { status } = verdict;
  if (status === 401 || status === 403) return "authentication";
  if (status === 429 || speaksOfQuota(verdict)) return "rate_limit";
  if (status === 408 || status === 504) return "timeout";
  if (speaksOfOverflow(verdict)) return "context_overflow";
  if (status === 413 && !bulkPhrases.test(verdict.text.toLowerCase())) {
    return "context_overflow";
  }
  return "provider_error";
}

/** True for a limit that waiting lifts: not for a spent quota, nor for a request larger than it. */
export function waitingHelps({ codes, text }: ProviderVerdict): boolean {
  if (spentPhrases.test([...codes, text.toLowerCase()].join("\n"))) {
    return false;
  }
  return !exceedsLimitAlone(text);
}

/** True if the request alone is larger than the limit it ran into. */
export function exceedsLimitAlone(text: string): boolean {
  const plain = text.replaceAll(/(\d),(?=\d{3})/g, "$1");
  const numbers = /limit:?\s*(\d+)\D.*requested:?\s*(\d+)/is.exec(plain);
  return numbers !== null && Number(numbers[2]) > Number(numbers[1]);
}

const faultCodes: ReadonlySet<string> = new Set([
  "api_error",
  "internal",
  "internal_error",
  "internal_server_error",
  "overloaded",
  "overloaded_error",
  "server_error",
  "service_unavailable",
  "unavailable",
]);

/** True if the provider takes the blame: by its status or, inside a stream, by name. */
export function isServerFault({ status, codes }: ProviderVerdict): boolean {
  return status === undefined
    ? codes.some((code) => faultCodes.has(code))
    : status >= 500;
}

/** Collects what a provider's error object says: flat, nested or a plain text. */
export function verdictOf(
  status: number | undefined,
  body: unknown,
): ProviderVerdict {
  const codes: string[] = [];
  const texts: string[] = [];
  let named: number | undefined;
  for (const layer of layersOf(body)) {
    if (typeof layer === "string") {
      texts.push(layer.trim());
      continue;
    }
    for (const code of [layer.code, layer.type, layer.status]) {
      if (typeof code === "string") codes.push(code.trim().toLowerCase());
      named ??= httpStatus(code);
    }
    for (const text of [layer.message, layer.detail]) {
      if (typeof text === "string") texts.push(text.trim());
    }
  }
  return {
    status: status ?? named,
    codes,
    text: [...new Set(texts)].filter((text) => text !== "").join(": "),
  };
}

function layersOf(
  body: unknown,
): readonly (Record<string, unknown> | string)[] {
  const layers: (Record<string, unknown> | string)[] = [];
  for (
    let layer = body;
    layers.length < 4;
    layer = layer.error ?? layer.errors
  ) {
    // Some servers wrap the error in a list.
    if (Array.isArray(layer)) layer = layer[0];
    if (typeof layer === "string") return [...layers, layer];
    if (!isJsonObject(layer)) break;
    layers.push(layer);
  }
  return layers;
}

function httpStatus(code: unknown): number | undefined {
  const number = typeof code === "string" && /^\d{3}$/.test(code)
    ? Number(code)
    : code;
  return Number.isInteger(number) && (number as number) >= 400 &&
      (number as number) <= 599
    ? number as number
    : undefined;
}

function speaksOfQuota({ codes, text }: ProviderVerdict): boolean {
  return quotaPhrases.test([...codes, text.toLowerCase()].join("\n"));
}

function speaksOfOverflow({ codes, text }: ProviderVerdict): boolean {
  const lower = text.toLowerCase();
  return codes.some((code) => overflowCodes.has(code)) ||
    overflowCodes.has(lower) ||
    overflowPhrases.some((phrase) => phrase.test(lower));
}
