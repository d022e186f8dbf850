import { AgentConfigurationError } from "../base/errors.ts";
import { longestTimerMs } from "../base/ports.ts";
import {
  requireBoolean,
  requireNumber,
  requireObject,
  requireText,
} from "../base/require.ts";

/** Which model to ask, where, and how patiently. */
export interface ModelConfig {
  /** Name of the model. */
  readonly model: string;
  /** Key that is sent as bearer token. */
  readonly apiKey: string;
  /** Address below which `/chat/completions` lies, for example `"https://api.openai.com/v1"`. */
  readonly baseUrl: string;
  /** Milliseconds to wait for the response, and for each further piece of it. */
  readonly timeoutMs: number;
  /** Sampling temperature; null sends none and leaves it to the provider. */
  readonly temperature: number | null;
  /** True to ask for token counts in streams; some older servers refuse the option. */
  readonly includeUsage: boolean;
}

/** What {@linkcode createModelConfig} takes. */
export interface ModelConfigInput {
  /** See {@linkcode ModelConfig.model}. */
  readonly model: string;
  /** See {@linkcode ModelConfig.apiKey}; any text for servers that need none. */
  readonly apiKey: string;
  /** See {@linkcode ModelConfig.baseUrl}. */
  readonly baseUrl: string;
  /** See {@linkcode ModelConfig.timeoutMs}. @default {60000} */
  readonly timeoutMs?: number | undefined;
  /** See {@linkcode ModelConfig.temperature}. @default {null} */
  readonly temperature?: number | null | undefined;
  /** See {@linkcode ModelConfig.includeUsage}. @default {true} */
  readonly includeUsage?: boolean | undefined;
}

/** Variables that {@linkcode modelConfigFromEnv} reads. */
export interface ModelEnvironment {
  /** Name of the model; required. */
  readonly CHAT_MODEL?: string | undefined;
  /** API key; required. */
  readonly MODEL_API_KEY?: string | undefined;
  /** Base address; required. */
  readonly MODEL_URL?: string | undefined;
  /** Timeout in whole seconds. */
  readonly LLM_TIMEOUT?: string | undefined;
  /** Sampling temperature. */
  readonly LLM_TEMPERATURE?: string | undefined;
  /** `true` or `false`, in any case. */
  readonly LLM_INCLUDE_USAGE?: string | undefined;
}

/**
 * Checks a configuration and fills in what is left out.
 *
 * @throws {TypeError} A member has the wrong type.
 * @throws {RangeError} A text is blank, the key cannot stand in a header, or a
 * number is out of range.
 *
 * @example The defaults
 * ```ts
 * import { createModelConfig } from "@ejagent/core/chat";
 * import { equal } from "node:assert/strict";
 *
 * const config = createModelConfig({
 *   model: "gpt-5-mini",
 *   apiKey: "sk-...",
 *   baseUrl: "https://api.openai.com/v1",
 * });
 * equal(config.timeoutMs, 60_000);
 * equal(config.temperature, null);
 * ```
 */
export function createModelConfig(input: ModelConfigInput): ModelConfig {
  requireObject("The configuration of a model", input);
  const temperature = input.temperature ?? null;
  return Object.freeze({
    model: requireText("model", input.model),
    apiKey: requireKey(input.apiKey),
    baseUrl: requireText("baseUrl", input.baseUrl),
    timeoutMs: requireTimeout(input.timeoutMs ?? 60_000),
    temperature: temperature === null
      ? null
      : requireNumber("temperature", temperature, 0),
    includeUsage: requireBoolean("includeUsage", input.includeUsage ?? true),
  });
}

/**
 * Reads a configuration out of environment variables.
 *
 * Takes a plain record and reads nothing by itself: `environment()` of `./deno`,
 * `./node` and `./bun` collects one, Workers pass their bindings.
 *
 * @throws {AgentConfigurationError} A required variable is missing or blank, one
 * is no text, or another one cannot be read. The text names the variables, never their values.
 *
 * @example
 * ```ts
 * import { modelConfigFromEnv } from "@ejagent/core/chat";
 * import { equal } from "node:assert/strict";
 *
 * const config = modelConfigFromEnv({
 *   CHAT_MODEL: "gpt-5-mini",
 *   MODEL_API_KEY: "sk-...",
 *   MODEL_URL: "https://api.openai.com/v1",
 *   LLM_TIMEOUT: "12",
 * });
 * equal(config.timeoutMs, 12_000);
 * ```
 */
export function modelConfigFromEnv(env: ModelEnvironment): ModelConfig {
  requireObject("The environment", env);
  for (const name of Object.values(variables)) {
    const value: unknown = env[name];
    if (value !== undefined && typeof value !== "string") {
      throw new AgentConfigurationError(
        `${name} must be a text, as every environment variable is`,
      );
    }
  }
  const { CHAT_MODEL = "", MODEL_API_KEY = "", MODEL_URL = "" } = env;
  const missing = Object.entries({ CHAT_MODEL, MODEL_API_KEY, MODEL_URL })
    .flatMap(([name, value]) => value.trim() === "" ? [name] : []);
  if (missing.length > 0) {
    throw new AgentConfigurationError(
      "CHAT_MODEL, MODEL_API_KEY and MODEL_URL must all be set and not blank; " +
        `missing: ${missing.join(", ")}`,
    );
  }
  const input: ModelConfigInput = {
    model: CHAT_MODEL,
    apiKey: MODEL_API_KEY,
    baseUrl: MODEL_URL,
    ...(env.LLM_TIMEOUT !== undefined &&
      { timeoutMs: seconds(env.LLM_TIMEOUT) * 1000 }),
    ...(env.LLM_TEMPERATURE !== undefined &&
      { temperature: decimal(env.LLM_TEMPERATURE) }),
    ...(env.LLM_INCLUDE_USAGE !== undefined &&
      { includeUsage: flag(env.LLM_INCLUDE_USAGE) }),
  };
  try {
    return createModelConfig(input);
  } catch (error) {
    throw new AgentConfigurationError(inVariables((error as Error).message));
  }
}

const variables: Readonly<Record<string, keyof ModelEnvironment>> = {
  model: "CHAT_MODEL",
  apiKey: "MODEL_API_KEY",
  baseUrl: "MODEL_URL",
  timeoutMs: "LLM_TIMEOUT",
  temperature: "LLM_TEMPERATURE",
  includeUsage: "LLM_INCLUDE_USAGE",
};

/** What is wrong with a member, said of the variable that it came from. */
function inVariables(message: string): string {
  const [member = ""] = message.split(" ", 1);
  return `${variables[member] ?? member}${message.slice(member.length)}`;
}

function requireKey(value: unknown): string {
  const key = requireText("apiKey", value);
  // A key that no header can carry would come back in the error text of the platform.
  if (!/^[\x21-\x7e]+$/.test(key)) {
    throw new RangeError("apiKey must hold visible ASCII characters only");
  }
  return key;
}

function requireTimeout(value: unknown): number {
  const timeoutMs = requireNumber("timeoutMs", value, 0);
  if (timeoutMs === 0 || timeoutMs > longestTimerMs) {
    throw new RangeError(
      `timeoutMs must be greater than 0 and at most ${longestTimerMs} ms`,
    );
  }
  return timeoutMs;
}

function seconds(text: string): number {
  if (!/^[+-]?\d+$/.test(text.trim())) throw notNumeric("LLM_TIMEOUT");
  const value = Number(text);
  if (value <= 0) {
    throw new AgentConfigurationError("LLM_TIMEOUT must be greater than 0");
  }
  return value;
}

// Number() alone would also take "", "0x10" and "Infinity".
function decimal(text: string): number {
  if (!/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text.trim())) {
    throw notNumeric("LLM_TEMPERATURE");
  }
  return Number(text);
}

function notNumeric(name: keyof ModelEnvironment): AgentConfigurationError {
  return new AgentConfigurationError(
    "LLM_TIMEOUT must be a whole number of seconds and LLM_TEMPERATURE a number; " +
      `${name} is none`,
  );
}

function flag(text: string): boolean {
  const word = text.trim().toLowerCase();
  if (word !== "true" && word !== "false") {
    throw new AgentConfigurationError(
      "LLM_INCLUDE_USAGE must be true or false",
    );
  }
  return word === "true";
}
