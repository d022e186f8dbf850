/**
 * Ready-made middleware around model requests: retries, a second model, a
 * cache, redaction.
 *
 * Choose this entry for what most programs want between an agent and its
 * provider; anything else is an `aroundModel` of a few lines. The first
 * middleware of a list is the outermost, so a good order is redaction, cache,
 * fallback, retry.
 *
 * @example Cached, with a reserve and retries
 * ```ts
 * import { Agent } from "@ejagent/core";
 * import { cacheModel, fallbackModel, retryModel } from "@ejagent/core/middleware";
 * import { ScriptedModel, text } from "@ejagent/core/testing";
 * import { equal } from "node:assert/strict";
 *
 * const agent = new Agent({
 *   agentId: "sturdy",
 *   model: new ScriptedModel([text("Fine")]),
 *   middleware: [
 *     cacheModel({ store: new Map() }),
 *     fallbackModel(new ScriptedModel([])),
 *     retryModel(),
 *   ],
 * });
 *
 * equal(await agent.runText("How are you?"), "Fine");
 * ```
 *
 * @module
 */

export {
  type ModelRetry,
  retryModel,
  type RetryModelOptions,
} from "./retry.ts";
export { fallbackModel, type FallbackModelOptions } from "./fallback.ts";
export {
  cacheModel,
  type CacheModelOptions,
  type ModelCacheStore,
  requestKey,
} from "./cache.ts";
export { type Redact, redactModel, type RedactModelOptions } from "./redact.ts";
