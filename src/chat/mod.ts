/**
 * Model adapter for every server with the OpenAI chat completions API, over
 * plain `fetch` and without any package.
 *
 * Choose this entry for OpenAI, compatible services and local servers alike, on
 * every runtime. `./openai` is the same adapter over the `openai` client, for
 * programs that configure that client anyway.
 *
 * @example Ask once
 * ```ts ignore
 * import { Agent } from "@ejagent/core";
 * import { ChatModelAdapter, modelConfigFromEnv } from "@ejagent/core/chat";
 * import { environment } from "@ejagent/core/deno";
 *
 * const agent = new Agent({
 *   agentId: "assistant",
 *   model: new ChatModelAdapter(modelConfigFromEnv(environment())),
 *   systemPrompt: "You are brief.",
 * });
 * console.log(await agent.runText("What is a monad?"));
 * ```
 *
 * @module
 */

export { ChatModelAdapter, type ChatModelOptions } from "./adapter.ts";
export type { ChatCompat } from "./compat.ts";
export {
  createModelConfig,
  type ModelConfig,
  modelConfigFromEnv,
  type ModelConfigInput,
  type ModelEnvironment,
} from "./config.ts";
export {
  type ChatRequest,
  type ChatTransport,
  type FetchLike,
  fetchTransport,
  type FetchTransportOptions,
} from "./transport.ts";
