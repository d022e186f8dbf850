/**
 * Model adapter for the OpenAI chat completions API over the `openai` client.
 *
 * Choose this entry if the program configures that client anyway, for example
 * for another way to authenticate; otherwise `./chat` does the same without a
 * package.
 *
 * @example The client is made and dropped with the agent
 * ```ts
 * import { Agent } from "@ejagent/core";
 * import { OpenAIModelAdapter } from "@ejagent/core/openai";
 *
 * const agent = new Agent({
 *   agentId: "assistant",
 *   model: new OpenAIModelAdapter({
 *     model: "gpt-5-mini",
 *     apiKey: "sk-...",
 *     baseUrl: "https://api.openai.com/v1",
 *   }),
 *   systemPrompt: "You are brief.",
 * });
 * ```
 *
 * @module
 */

export type { ChatCompat } from "../chat/compat.ts";
export {
  createModelConfig,
  type ModelConfig,
  modelConfigFromEnv,
  type ModelConfigInput,
  type ModelEnvironment,
} from "../chat/config.ts";
export type {
  ChatRequest,
  ChatTransport,
  FetchLike,
} from "../chat/transport.ts";
export { ChatModelAdapter, type ChatModelOptions } from "../chat/adapter.ts";
export { OpenAIModelAdapter, type OpenAIModelOptions } from "./adapter.ts";
export {
  type OpenAIClient,
  type OpenAIPendingResponse,
  type OpenAIRequestOptions,
  openAITransport,
  type OpenAITransportOptions,
} from "./transport.ts";
