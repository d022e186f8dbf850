/**
 * The Worker whose size is kept: an agent in every Durable Object, with the
 * openai client, checked tool arguments and its session in the object.
 *
 * @module
 */

import {
  type AgentObject,
  type AgentObjectClass,
  defineAgentObject,
} from "../adapters/cloudflare/mod.ts";
import { Agent, defineTool } from "../mod.ts";
import {
  modelConfigFromEnv,
  type ModelEnvironment,
  OpenAIModelAdapter,
} from "../src/openai/mod.ts";
import { ToolSchemaValidationMiddleware } from "../src/validation/mod.ts";
// @ts-types="../examples/durable_object_worker/workers.d.ts"
import { DurableObject } from "cloudflare:workers";

interface Env extends ModelEnvironment {
  readonly OBJECTS: {
    idFromName(name: string): unknown;
    get(id: unknown): Pick<AgentObject, "fetch">;
  };
}

const order = defineTool({
  name: "find_order",
  description: "Finds an order by its number.",
  parameters: {
    type: "object",
    properties: { number: { type: "integer", minimum: 1 } },
    required: ["number"],
    additionalProperties: false,
  },
  effect: "read_only",
  execute: ({ number }) => ({ number, status: "on its way" }),
});

const ChatAgent: AgentObjectClass<typeof DurableObject<Env>> =
  defineAgentObject(DurableObject<Env>, { agent: agentOptions, resume: true });

/** One chat. */
export class Chat extends ChatAgent {}

export default {
  /** `/<chat>/<route>` is for a chat; anything else is answered without one. */
  async fetch(request: Request, env: Env): Promise<Response> {
    const [, name, route] = new URL(request.url).pathname.split("/");
    if (name && route) {
      const { OBJECTS } = env;
      return await OBJECTS.get(OBJECTS.idFromName(name)).fetch(request);
    }
    const agent = new Agent(agentOptions(env));
    return new Response(await agent.runText(await request.text()));
  },
};

function agentOptions(env: Env) {
  return {
    agentId: "support",
    model: new OpenAIModelAdapter(modelConfigFromEnv(env)),
    tools: [order],
    middleware: [new ToolSchemaValidationMiddleware()],
  };
}
