import {
  type Clock,
  consoleLogger,
  type IdSource,
  type Logger,
  randomIds,
  systemClock,
} from "../base/ports.ts";
import type { FetchHandler } from "../http/server.ts";
import type { AgentLike } from "../pipeline/agent_like.ts";
import { A2ARefusal } from "./errors.ts";
import { answerRpc, readRpc, refusalResponse } from "./rpc.ts";
import { A2AService } from "./service.ts";
import { type A2ATaskStore, MemoryTaskStore } from "./tasks.ts";
import {
  A2A_VERSION,
  type A2AAgentCard,
  type A2ASkill,
  CARD_PATH,
} from "./wire.ts";

/** What a served agent says about itself; the rest of its card follows from the handler. */
export interface A2ACardInput {
  /** Shown to people. */
  readonly name: string;
  /** What the agent is for. */
  readonly description: string;
  /** Version of the agent. */
  readonly version: string;
  /** Address of the endpoint. @default the origin of the request for the card, and `path` */
  readonly url?: string | undefined;
  /** What it can do. @default {[]} */
  readonly skills?: readonly A2ASkill[] | undefined;
  /** Media types that it reads. @default {["text/plain"]} */
  readonly defaultInputModes?: readonly string[] | undefined;
}

/** How {@linkcode createA2AHandler} serves. */
export interface A2AHandlerOptions {
  /**
   * Finds the agent of a conversation; called for each message. A stateful agent
   * is one conversation, so each context needs one of its own. Context ids come
   * from clients: one that is meant for others must not be enough to reach theirs.
   * What it throws answers the request with an internal error.
   */
  readonly agentFor: (
    contextId: string,
    request: Request,
  ) => AgentLike | Promise<AgentLike>;
  /** What the agent says about itself. */
  readonly card: A2ACardInput;
  /** Path of the endpoint. @default {"/"} */
  readonly path?: string | undefined;
  /** Keeps tasks. @default a {@linkcode MemoryTaskStore} of 1000 tasks */
  readonly tasks?: A2ATaskStore | undefined;
  /** Returns a response to turn a request to the endpoint away; the card is for everybody. */
  readonly authorize?:
    | ((
      request: Request,
    ) => Response | void | Promise<Response | void>)
    | undefined;
  /** Tells clients why a run failed or was refused; such texts can hold secrets. @default {false} */
  readonly exposeErrors?: boolean | undefined;
  /** Told what clients are not. @default {consoleLogger} */
  readonly logger?: Logger | undefined;
  /** Stamps tasks. @default {systemClock} */
  readonly clock?: Clock | undefined;
  /** Makes the ids of tasks, contexts and messages. @default {randomIds} */
  readonly ids?: IdSource | undefined;
}

const maxBodyBytes = 1024 * 1024;

/**
 * Serves an agent to others over A2A 1.0, JSON-RPC binding.
 *
 * Clients can send a message and wait or read along, ask for a task and cancel
 * it. They see the text of answers and how the task is, neither thinking nor
 * tools. A client that leaves cancels its run, unless it said that it would not
 * wait (`returnImmediately`) and asks for the task later. The card is below the origin at
 * `/.well-known/agent-card.json`, and below `path` as well.
 *
 * @returns A handler for any server that speaks `Request` and `Response`.
 * @throws {TypeError} `path` does not begin with a slash.
 *
 * @example One agent for each conversation
 * ```ts
 * import { Agent } from "@ejagent/core";
 * import { createA2AHandler } from "@ejagent/core/a2a";
 * import { ScriptedModel } from "@ejagent/core/testing";
 * import { equal } from "node:assert/strict";
 *
 * const agents = new Map<string, Agent>();
 * const handler = createA2AHandler({
 *   card: { name: "Guide", description: "Shows the way.", version: "1.0.0" },
 *   agentFor(contextId) {
 *     const agent = agents.get(contextId) ??
 *       new Agent({ agentId: "guide", model: new ScriptedModel([]) });
 *     agents.set(contextId, agent);
 *     return agent;
 *   },
 * });
 *
 * const url = "http://localhost/.well-known/agent-card.json";
 * const card = await (await handler(new Request(url))).json();
 * equal(card.supportedInterfaces[0].url, "http://localhost/");
 * ```
 *
 * @see Agent2Agent Protocol 1.0.
 */
export function createA2AHandler(
  options: A2AHandlerOptions,
): (request: Request) => Promise<Response> {
  const { path = "/", clock = systemClock, logger = consoleLogger } = options;
  if (!path.startsWith("/")) {
    throw new TypeError("path must begin with a slash");
  }
  const service = new A2AService({
    agentFor: options.agentFor,
    tasks: options.tasks ?? new MemoryTaskStore(),
    exposeErrors: options.exposeErrors ?? false,
    clock,
    ids: options.ids ?? randomIds,
    logger,
  });
  const endpoint: FetchHandler = async (request) => {
    const turnedAway = await options.authorize?.(request);
    if (turnedAway) return turnedAway;
    return await answerEndpoint(request, service, { clock, logger });
  };
  const routes = new Map<string, { method: string; handler: FetchHandler }>([
    [withoutSlash(path), { method: "POST", handler: endpoint }],
    ...[CARD_PATH, withoutSlash(path) + CARD_PATH].map((place) =>
      [place, {
        method: "GET",
        handler: (request: Request) =>
          Response.json(cardOf(options.card, path, request)),
      }] as const
    ),
  ]);
  return async (request) => {
    const route = routes.get(withoutSlash(new URL(request.url).pathname));
    if (route === undefined) return new Response("Not Found", { status: 404 });
    if (request.method !== route.method) {
      return new Response("Method Not Allowed", {
        status: 405,
        headers: { allow: route.method },
      });
    }
    return await route.handler(request);
  };
}

async function answerEndpoint(
  request: Request,
  service: A2AService,
  ports: { readonly clock: Clock; readonly logger: Logger },
): Promise<Response> {
  const version = request.headers.get("a2a-version");
  if (version !== null && version !== A2A_VERSION) {
    return refusalResponse(
      new A2ARefusal(
        "version_not_supported",
        `Only version ${A2A_VERSION} of the protocol is spoken here`,
      ),
    );
  }
  const type = request.headers.get("content-type") ?? "";
  if (!/^application\/(a2a\+)?json\b/i.test(type)) {
    return refusalResponse(
      new A2ARefusal(
        "content_type_not_supported",
        "The request must be application/json",
      ),
    );
  }
  const body = await readBody(request);
  if (body === undefined) {
    return new Response("Content Too Large", { status: 413 });
  }
  const call = readRpc(body);
  if (call instanceof A2ARefusal) return refusalResponse(call);
  return await answerRpc(call, {
    serve: (call) => service.serve(call, request),
    ...ports,
  });
}

/** The text of a body; undefined if it is too large. */
async function readBody(request: Request): Promise<string | undefined> {
  if (Number(request.headers.get("content-length")) > maxBodyBytes) {
    return undefined;
  }
  const decoder = new TextDecoder();
  let text = "";
  let length = 0;
  const reader = request.body?.getReader();
  for (;;) {
    const piece = await reader?.read();
    if (piece === undefined || piece.done) return text + decoder.decode();
    length += piece.value.length;
    if (length > maxBodyBytes) {
      await reader?.cancel();
      return undefined;
    }
    text += decoder.decode(piece.value, { stream: true });
  }
}

function cardOf(
  input: A2ACardInput,
  path: string,
  request: Request,
): A2AAgentCard {
  return {
    name: input.name,
    description: input.description,
    version: input.version,
    supportedInterfaces: [{
      url: input.url ?? new URL(path, request.url).href,
      protocolBinding: "JSONRPC",
      protocolVersion: A2A_VERSION,
    }],
    capabilities: { streaming: true, pushNotifications: false },
    defaultInputModes: input.defaultInputModes ?? ["text/plain"],
    defaultOutputModes: ["text/plain"],
    skills: input.skills ?? [],
  };
}

function withoutSlash(path: string): string {
  return path.replace(/\/+$/, "");
}
