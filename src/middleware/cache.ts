import { errorText } from "../base/errors.ts";
import { canonicalJson } from "../base/json.ts";
import { consoleLogger, type Logger } from "../base/ports.ts";
import { requireMethods, requireObject } from "../base/require.ts";
import type {
  ModelRequest,
  ModelResponse,
  ModelResponseCompleted,
} from "../model/adapter.ts";
import type { ModelMiddleware } from "../pipeline/middleware.ts";

/**
 * Keeps answers; a `Map` is one.
 *
 * Answers are plain data. A rejection is logged, and the model is asked as if
 * there were no cache.
 */
export interface ModelCacheStore {
  /** The answer under a key, if there is one. */
  get(
    key: string,
  ): ModelResponse | undefined | PromiseLike<ModelResponse | undefined>;
  /** Keeps an answer. */
  set(key: string, answer: ModelResponse): unknown;
}

/** Where {@linkcode cacheModel} keeps answers and by what it finds them. */
export interface CacheModelOptions {
  /** Where answers are kept; how long is its own business. */
  readonly store: ModelCacheStore;
  /**
   * Finds the key of a request; null leaves it out of the cache.
   *
   * @default {requestKey}
   */
  readonly key?:
    | ((
      request: ModelRequest,
    ) => string | null | Promise<string | null>)
    | undefined;
  /** Told when the store fails. @default {consoleLogger} */
  readonly logger?: Logger | undefined;
}

/**
 * Answers a model request that was answered before without asking again.
 *
 * A cached answer costs nothing: it reports no usage and counts no request. Its
 * text is shown as one delta. Opaque data that providers want back for the rest
 * of an exchange only (`replay`) is not kept.
 *
 * @throws {TypeError} There is no store, or it cannot `get` and `set`.
 *
 * @example Ask the same twice, pay once
 * ```ts
 * import { Agent } from "@ejagent/core";
 * import { cacheModel } from "@ejagent/core/middleware";
 * import { ScriptedModel, text } from "@ejagent/core/testing";
 * import { equal } from "node:assert/strict";
 *
 * const model = new ScriptedModel([text("Paris")]);
 * const cache = cacheModel({ store: new Map() });
 * for (const agentId of ["first", "second"]) {
 *   const agent = new Agent({ agentId, model, middleware: [cache] });
 *   equal(await agent.runText("The capital of France?"), "Paris");
 * }
 * equal(model.requests.length, 1);
 * ```
 */
export function cacheModel(options: CacheModelOptions): ModelMiddleware {
  const { store: given, key: keyOf = requestKey, logger = consoleLogger } =
    requireObject("The options of cacheModel()", options);
  const store = contained(given, logger);
  return {
    name: "cacheModel",
    async *aroundModel(request, next) {
      const key = await keyOf(request);
      if (key === null) return yield* next(request);
      const known = await store.get(key);
      if (known !== undefined) {
        const { content } = known.message;
        if (content) yield { kind: "text_delta", delta: content };
        return { ...known, kind: "completed", usage: null };
      }
      const answer = yield* next(request);
      await store.set(key, kept(answer));
      return answer;
    },
  };
}

/**
 * The key of a request: a SHA-256 digest, in hexadecimal, of the canonical JSON
 * of its target, messages, tools and options.
 */
export async function requestKey(request: ModelRequest): Promise<string> {
  const { target, options, context: { llmMessages, tools } } = request;
  const form = canonicalJson({ target, options, messages: llmMessages, tools });
  const bytes = new TextEncoder().encode(form);
  const digest = await crypto.subtle.digest("SHA-256", bytes);
  return Array.from(
    new Uint8Array(digest),
    (byte) => byte.toString(16).padStart(2, "0"),
  ).join("");
}

function kept(answer: ModelResponseCompleted): ModelResponse {
  const { replay: _, ...message } = answer.message;
  return {
    message,
    usage: answer.usage ?? null,
    finishReason: answer.finishReason ?? null,
  };
}

/** A store whose failures cost no more than the cache. */
function contained(
  store: ModelCacheStore,
  logger: Logger,
): {
  get(key: string): Promise<ModelResponse | undefined>;
  set(key: string, answer: ModelResponse): Promise<void>;
} {
  requireMethods("The store of a model cache", store, ["get", "set"]);
  const warn = (what: string, error: unknown) =>
    logger.warn(what, { error: errorText(error) });
  return {
    async get(key) {
      try {
        return await store.get(key);
      } catch (error) {
        warn("A model cache could not be read", error);
      }
    },
    async set(key, answer) {
      try {
        await store.set(key, answer);
      } catch (error) {
        warn("A model cache could not keep an answer", error);
      }
    },
  };
}
