/**
 * What the core needs from Node.js: a server and the environment.
 *
 * @example Let the environment choose the model
 * ```ts ignore
 * import { Agent } from "@ejagent/core";
 * import { ChatModelAdapter, modelConfigFromEnv } from "@ejagent/core/chat";
 * import { environment } from "@ejagent/core/node";
 *
 * const model = new ChatModelAdapter(modelConfigFromEnv(environment()));
 * const agent = new Agent({ agentId: "assistant", model });
 * console.log(await agent.runText("Hello"));
 * ```
 *
 * @module
 */

export { environment } from "./env.ts";
export { serve } from "./serve.ts";
export type {
  FetchHandler,
  HttpServer,
  ServeOptions,
} from "../../src/http/server.ts";
export type { ModelEnvironment } from "../../src/chat/config.ts";
