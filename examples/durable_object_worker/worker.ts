/**
 * A Worker with one agent for every chat: `POST /chats/<name>/run`.
 *
 * The agent lives in a Durable Object and records itself there. In a copy of this
 * folder `npx jsr add @ejagent/core` installs the package, `npx wrangler deploy`
 * deploys the Worker, and `npx wrangler secret put MODEL_API_KEY` gives it its key;
 * `npx wrangler dev` runs it here, with the key in `.dev.vars`. Then
 *
 *     curl -N -d '{"task":"My lamp is broken"}' <address>/chats/ada/run
 *
 * @module
 */

import { defineTool } from "@ejagent/core";
import {
  ChatModelAdapter,
  modelConfigFromEnv,
  type ModelEnvironment,
} from "@ejagent/core/chat";
import {
  type AgentObject,
  type AgentObjectClass,
  defineAgentObject,
} from "@ejagent/core/cloudflare";
// @ts-types="./workers.d.ts"
import { DurableObject } from "cloudflare:workers";

interface Env extends ModelEnvironment {
  readonly CHATS: {
    idFromName(name: string): unknown;
    get(id: unknown): Pick<AgentObject, "fetch">;
  };
}

const ticket = defineTool({
  name: "open_ticket",
  description: "Opens a ticket for the support team.",
  parameters: {
    type: "object",
    properties: { subject: { type: "string" } },
    required: ["subject"],
  },
  execute: ({ subject }) => ({ number: 4711, subject }),
});

const ChatAgent: AgentObjectClass<typeof DurableObject<Env>> =
  defineAgentObject(DurableObject<Env>, {
    agent: (env) => ({
      agentId: "support",
      model: new ChatModelAdapter(modelConfigFromEnv(env)),
      tools: [ticket],
    }),
    resume: true,
  });

/** One chat. */
export class Chat extends ChatAgent {}

export default {
  /** Hands a request on to its chat; check here who may talk to which one. */
  async fetch(request: Request, { CHATS }: Env): Promise<Response> {
    const [, kind, name] = new URL(request.url).pathname.split("/");
    if (kind !== "chats" || !name) {
      return new Response("Try POST /chats/<name>/run", { status: 404 });
    }
    return await CHATS.get(CHATS.idFromName(name)).fetch(request);
  },
};
