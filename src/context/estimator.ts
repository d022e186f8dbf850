import { isFrozenTree } from "../base/freeze.ts";
import { requireInteger } from "../base/require.ts";
import { type AgentMessage, isInternalKey } from "../messages/message.ts";
import type { OpenAIFunctionTool } from "../messages/tool.ts";
import { originOf } from "../model/provider_data.ts";
import { jsonSize } from "./json_size.ts";

/**
 * Guesses how many tokens a message or a list of tools takes.
 *
 * Called for every message of every request, so it should be cheap; messages
 * never change. Both methods return whole tokens of at least 0 and may not
 * look at the keys that are never sent (`usage`, `_ejagent_…`).
 *
 * @example Count words
 * ```ts
 * import { contentText, type MessageTokenEstimator } from "@ejagent/core";
 *
 * const words: MessageTokenEstimator = {
 *   estimateMessage: (message) => contentText(message.content ?? "").split(" ").length,
 *   estimateTools: (tools) => 50 * tools.length,
 * };
 * ```
 */
export interface MessageTokenEstimator {
  /** Tokens of one message. */
  estimateMessage(message: AgentMessage): number;
  /** Tokens of all tools of a request together; 0 for none. */
  estimateTools(tools: readonly OpenAIFunctionTool[]): number;
}

/** How a {@linkcode HeuristicMessageTokenEstimator} counts. */
export interface HeuristicEstimatorOptions {
  /**
   * Tokens of an image, sound or file part, whatever its size; `"text"` counts
   * its JSON text instead, and base64 in texts like any other text.
   *
   * @default {1200}
   */
  readonly inlineBinaryTokens?: number | "text" | undefined;
}

const binaryParts: ReadonlySet<unknown> = new Set([
  "image_url",
  "input_audio",
  "file",
]);

const sentMembers = ["content", "tool_calls", "tool_call_id"];

/**
 * Counts characters: compact JSON without internal keys, a quarter token for
 * each ASCII character and one for each other code point, rounded up once; then
 * 4 more per message and 8 more for a list of tools.
 *
 * An image, sound or file part counts a flat number of tokens. A run of 1024 or
 * more base64 characters of all kinds in a text counts one token per character.
 * Every frozen message is counted once and remembered.
 *
 * @example A short message
 * ```ts
 * import { HeuristicMessageTokenEstimator, userMessage } from "@ejagent/core";
 * import { equal } from "node:assert/strict";
 *
 * const estimator = new HeuristicMessageTokenEstimator();
 * equal(estimator.estimateMessage(userMessage("a".repeat(40))), 21);
 * ```
 *
 * @see EJAgent Core 0.6.0, token estimate, for the constants.
 */
export class HeuristicMessageTokenEstimator implements MessageTokenEstimator {
  readonly #partTokens: number | "text";
  readonly #known = new WeakMap<object, number>();

  /**
   * Makes an estimator with a memory of its own.
   *
   * @throws {TypeError} `inlineBinaryTokens` is neither an integer nor `"text"`.
   * @throws {RangeError} It is negative.
   */
  constructor(options: HeuristicEstimatorOptions = {}) {
    const tokens = options.inlineBinaryTokens ?? 1200;
    this.#partTokens = tokens === "text"
      ? tokens
      : requireInteger("inlineBinaryTokens", tokens, 0);
  }

  /** Tokens of one message. @throws {TypeError} It holds something that is not JSON. */
  estimateMessage(message: AgentMessage): number {
    const counted = countedForm(message);
    return this.#known.get(counted) ??
      this.#remember(counted, 4 + this.#messageTokens(counted));
  }

  /** Tokens of a list of tools. @throws {TypeError} It holds something that is not JSON. */
  estimateTools(tools: readonly OpenAIFunctionTool[]): number {
    if (tools.length === 0) return 0;
    return this.#known.get(tools) ??
      this.#remember(tools, 8 + this.#jsonTokens(tools));
  }

  #remember(value: object, tokens: number): number {
    if (isSettled(value)) this.#known.set(value, tokens);
    return tokens;
  }

  #messageTokens(message: AgentMessage): number {
    const { content } = message;
    if (this.#partTokens === "text" || !Array.isArray(content)) {
      return this.#jsonTokens(message);
    }
    const texts = content.filter((part) => !isBinaryPart(part));
    return this.#partTokens * (content.length - texts.length) +
      this.#jsonTokens({ ...message, content: texts });
  }

  #jsonTokens(value: object): number {
    const size = jsonSize(value, {
      skips: isInternalKey,
      encodedRuns: this.#partTokens !== "text",
    });
    return Math.ceil(size.asciiCount / 4 + size.otherCount);
  }
}

/** What is used where the application chose none; shared, so that every message is counted once. */
export const defaultEstimator: MessageTokenEstimator =
  /* @__PURE__ */ new HeuristicMessageTokenEstimator();

function isSettled(value: object): boolean {
  return isFrozenTree(value) ||
    Array.isArray(value) && Object.isFrozen(value) && value.every(isFrozenTree);
}

function isBinaryPart(part: { readonly type?: unknown }): boolean {
  return binaryParts.has(part?.type);
}

// A message of a request is mostly one of the history without its internal keys, which count nothing.
function countedForm(message: AgentMessage): AgentMessage {
  const origin = originOf(message);
  if (origin === message) return message;
  const same = sentMembers.every((key) =>
    Reflect.get(origin, key) === Reflect.get(message, key)
  );
  return same ? origin : message;
}
