import { ChatModelAdapter, type ChatModelOptions } from "../chat/adapter.ts";
import type { ModelConfigInput } from "../chat/config.ts";
import { openAITransport, type OpenAITransportOptions } from "./transport.ts";

/** Options of {@linkcode OpenAIModelAdapter}. */
export interface OpenAIModelOptions
  extends Omit<ChatModelOptions, "transport">, OpenAITransportOptions {}

/**
 * {@linkcode ChatModelAdapter} with the `openai` client as its transport.
 *
 * Reading, assembly, token counts and errors are those of the base class. Without
 * a `client` it makes one at startup and lets go of it at shutdown.
 *
 * @example Use a client that the program has anyway
 * ```ts
 * import { OpenAIModelAdapter } from "@ejagent/core/openai";
 * import OpenAI from "openai";
 *
 * const config = {
 *   model: "gpt-5-mini",
 *   apiKey: "sk-...",
 *   baseUrl: "https://api.openai.com/v1",
 * };
 * const client = new OpenAI({ apiKey: config.apiKey, baseURL: config.baseUrl });
 * const model = new OpenAIModelAdapter(config, { client });
 * await model.startup();
 * await model.shutdown();
 * ```
 */
export class OpenAIModelAdapter extends ChatModelAdapter {
  /** Opens nothing yet. @throws As {@linkcode ChatModelAdapter}. */
  constructor(config: ModelConfigInput, options: OpenAIModelOptions = {}) {
    super(config, { ...options, transport: openAITransport(options) });
  }
}
