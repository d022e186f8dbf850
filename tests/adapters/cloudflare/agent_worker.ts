/** A Worker with an agent in every Durable Object. */

import {
  type AgentObjectClass,
  defineAgentObject,
  type KvNamespace,
} from "../../../adapters/cloudflare/mod.ts";
import { Agent } from "../../../src/agent/agent.ts";
import { ChatModelAdapter } from "../../../src/chat/adapter.ts";
import { createModelConfig } from "../../../src/chat/config.ts";
import type { AgentMessage } from "../../../src/messages/message.ts";
import { ScriptedModel } from "../../../src/testing/scripted_model.ts";
import { s } from "../../../src/testing/session_drafts.ts";
import { calls, type ScriptStep, text } from "../../../src/testing/steps.ts";
import { defineTool } from "../../../src/tools/define_tool.ts";
import { type Deferred, deferred } from "../../support/deferred.ts";
import { liveTimerCount } from "./live_timers.ts";
// @ts-types="./workers.d.ts"
import { DurableObject } from "cloudflare:workers";

interface Env {
  readonly KV: KvNamespace;
  readonly OBJECTS: {
    idFromName(name: string): unknown;
    get(id: unknown): ChatStub;
  };
}

interface ChatStub {
  fetch(request: Request): Promise<Response>;
  run(task: string): Promise<{ readonly output: string | null }>;
  branches(): Promise<readonly { readonly branchId: string }[]>;
}

// What a test lets go, by session; the values hold no connection of any request.
const released = new Map<string, Deferred<void>>();
const finished = new Map<string, Deferred<void>>();

const warnings: string[] = [];

type Base = typeof DurableObject<Env>;
const ObjectWithAgent: AgentObjectClass<Base> = defineAgentObject(
  DurableObject<Env>,
  {
    agent: ({ KV }, { sessionId }) => ({
      agentId: agentIdOf(sessionId),
      systemPrompt: "",
      model: new ScriptedModel(async ({ messages }) => {
        if (messages.at(-1)!.content === "Think") {
          await once(released, sessionId).promise;
        }
        return answerTo(messages);
      }),
      tools: [defineTool({
        name: "work",
        description: "Works until it is told to stop.",
        async execute() {
          const count = Number(await KV.get(sessionId) ?? 0) + 1;
          await KV.put(sessionId, String(count));
          await once(released, sessionId).promise;
          return { count };
        },
      })],
      eventSink: {
        emit({ kind }) {
          if (kind === "agent_finished") once(finished, sessionId).resolve();
        },
      },
    }),
    resume: true,
    alarmMs: 300,
    logger: {
      warn: (message, details) =>
        warnings.push(`${message}: ${JSON.stringify(details)}`),
    },
  },
);

export class TestObject extends ObjectWithAgent {
  override async fetch(request: Request): Promise<Response> {
    const [, name, action] = new URL(request.url).pathname.split("/");
    switch (action) {
      case "release":
        once(released, name!).resolve();
        return new Response();
      case "finished":
        await once(finished, name!).promise;
        return new Response();
      case "evict":
        this.ctx.abort("Evicted");
        return new Response();
      case "empty":
        await this.ctx.storage.deleteAll();
        return new Response();
      case "timers":
        return Response.json(liveTimerCount());
      case "warnings":
        return Response.json(warnings.splice(0));
      case "fork": {
        const { branch } = await this.sessions.fork(this.sessionId, {
          branchId: "idea",
        });
        return Response.json(branch.sourceBranchId);
      }
      case "alarm":
        return Response.json(await this.ctx.storage.getAlarm());
      default:
        return await super.fetch(request);
    }
  }
}

// An adapter holds settings and no connection, so requests may share it.
const model = new ChatModelAdapter(createModelConfig({
  model: "m",
  apiKey: "k",
  baseUrl: "http://provider.example/v1",
}));

export default {
  /** The first segment of the path names the object; without one an agent of this request answers. */
  async fetch(request: Request, { OBJECTS, KV }: Env): Promise<Response> {
    const [, name, action] = new URL(request.url).pathname.split("/");
    if (name === "") {
      const agent = new Agent({ agentId: "stateless", model });
      return new Response(await agent.runText("Hello"));
    }
    const chat = OBJECTS.get(OBJECTS.idFromName(name!));
    switch (action) {
      case "effects":
        return new Response(await KV.get(name!));
      case "rpc": {
        const { output } = await chat.run("Hello");
        return Response.json({ output, branches: await chat.branches() });
      }
      default:
        return await chat.fetch(request);
    }
  },
};

function agentIdOf(sessionId: string): string {
  // What a function that reads a missing setting does.
  if (sessionId === "broken") throw new TypeError("MODEL is not set");
  return sessionId === s ? "contract-agent" : "worker";
}

function answerTo(messages: readonly AgentMessage[]): ScriptStep {
  const last = messages.at(-1)!;
  if (last.role === "user" && last.content === "Work") {
    return calls([{ name: "work", id: "call_work" }]);
  }
  const count = messages.filter(({ role }) => role !== "system").length;
  return text(`${count}: ${last.content}`);
}

function once(
  map: Map<string, Deferred<void>>,
  name: string,
): Deferred<void> {
  const known = map.get(name) ?? deferred<void>();
  map.set(name, known);
  return known;
}
