import { followSignal, unlessAborted } from "../base/abort.ts";
import { isJsonObject } from "../base/json.ts";
import { type Clock, systemClock } from "../base/ports.ts";
import type { AgentMessage } from "../messages/message.ts";
import type { OpenAIFunctionTool } from "../messages/tool.ts";
import type { ModelStreamEvent } from "../model/adapter.ts";
import { bodyStream } from "./body_stream.ts";
import { type Script, type ScriptItem, ScriptPlayer } from "./script.ts";
import {
  type Delivery,
  respond,
  type RespondStep,
  serverKinds,
  type ServerStep,
} from "./server_steps.ts";
import { playStep } from "./steps.ts";
import {
  errorObject,
  errorResponse,
  wireBody,
  type WireEnvelope,
  wireEvents,
} from "./wire_answer.ts";
import { findRequestFault } from "./wire_rules.ts";

/** The body of a chat completions request. */
export interface ChatRequestBody {
  /** The model that is asked for. */
  readonly model: string;
  /** The conversation, oldest first. */
  readonly messages: readonly AgentMessage[];
  /** Tools that are offered. */
  readonly tools?: readonly OpenAIFunctionTool[];
  /** True if the answer is to be streamed. */
  readonly stream?: boolean;
  /** `include_usage`: end the stream with a report of usage. */
  readonly stream_options?: { readonly include_usage?: boolean };
  /** All other options of the request. */
  readonly [option: string]: unknown;
}

/** How a {@linkcode modelServer} behaves apart from its script. */
export interface ModelServerOptions {
  /**
   * Refuses with status 400 what providers refuse: calls without an answer,
   * answers without a call, call ids that occur twice, empty assistant
   * messages, unknown keys, broken text, bad tool names and the like.
   *
   * @default {true}
   */
  readonly strict?: boolean | undefined;
  /** Keys of messages and calls that strictness lets pass, for example `"reasoning_content"`. */
  readonly extraKeys?: readonly string[] | undefined;
  /** Refuses other keys with status 401. @default any key is fine */
  readonly apiKey?: string | undefined;
  /** How all responses travel, unless a step says otherwise. */
  readonly delivery?: Delivery | undefined;
  /** Drives delays and stamps answers. @default the system's clock */
  readonly clock?: Clock | undefined;
}

/** A provider in memory. */
export interface ModelServer {
  /**
   * Answers one HTTP request; give it to a server, or to an adapter in place of
   * the global `fetch`. Needs no `this`.
   *
   * Like that one it rejects, and errors the body, with the reason of the
   * request's signal.
   */
  readonly fetch: (
    input: Request | URL | string,
    init?: RequestInit,
  ) => Promise<Response>;
  /** Bodies of all requests so far, in order, refused ones included. */
  readonly requests: readonly ChatRequestBody[];
  /** Headers of the same requests. */
  readonly headers: readonly Headers[];
  /** Why requests were refused, in order. */
  readonly refusals: readonly string[];
  /** Requests whose response has been neither read to its end nor given up. */
  readonly openCount: number;
  /** Adds steps behind the others. */
  push(...items: readonly ScriptItem<ServerStep>[]): void;
  /** Checks the end of a test. @throws {ScriptError} Steps were left over or a request found none. */
  assertDone(): void;
}

/**
 * Speaks the chat completions API of OpenAI and plays a script, one step per
 * request, with all faults that providers and networks are known for.
 *
 * It is nothing but a fetch handler: `serve` of the `./deno`, `./node` and
 * `./bun` entries make it listen.
 *
 * A step fails before its first event with the HTTP status that fits the error,
 * later with an error event inside the stream. A {@linkcode block} that is never
 * released never answers.
 *
 * @param script Steps in the order of the requests, or a function that answers every request.
 * @throws {TypeError} It is neither, or holds something that is no step.
 *
 * @example Ask it directly
 * ```ts
 * import { modelServer, text } from "@ejagent/core/testing";
 * import { equal } from "node:assert/strict";
 *
 * const server = modelServer([text("Hello!")]);
 * const response = await server.fetch("http://model.test/v1/chat/completions", {
 *   method: "POST",
 *   body: JSON.stringify({ model: "m", messages: [{ role: "user", content: "Hi" }] }),
 * });
 * equal((await response.json()).choices[0].message.content, "Hello!");
 * server.assertDone();
 * ```
 */
export function modelServer(
  script: Script<ServerStep>,
  options: ModelServerOptions = {},
): ModelServer {
  const { clock = systemClock } = options;
  const player = new ScriptPlayer(script, serverKinds);
  const requests: ChatRequestBody[] = [];
  const headers: Headers[] = [];
  const refusals: string[] = [];
  const open = new Set<AbortController>();
  let accepted = 0;

  return {
    fetch,
    requests,
    headers,
    refusals,
    get openCount() {
      return open.size;
    },
    push: (...items) => player.push(...items),
    assertDone: () => player.assertDone(),
  };

  async function fetch(
    input: Request | URL | string,
    init?: RequestInit,
  ): Promise<Response> {
    const request = input instanceof Request && init === undefined
      ? input
      : new Request(input, init);
    const signal = init?.signal ?? request.signal;
    signal.throwIfAborted();
    const client = new AbortController();
    const unfollow = followSignal(signal, (reason) => client.abort(reason));
    const onEnd = () => {
      unfollow();
      open.delete(client);
      client.abort(new Error("Nobody waits for the response any longer"));
    };
    open.add(client);
    try {
      const { step, delivery } = await unlessAborted(
        answer(request, client.signal),
        client.signal,
      );
      const body = bodyStream(step.body, {
        delivery,
        signal: client.signal,
        clock,
        onEnd,
      });
      return new Response(body, { status: step.status, headers: step.headers });
    } catch (error) {
      onEnd();
      throw error;
    }
  }

  async function answer(
    request: Request,
    signal: AbortSignal,
  ): Promise<Answer> {
    const body = await readJson(request);
    if (isJsonObject(body)) {
      requests.push(body as unknown as ChatRequestBody);
      headers.push(request.headers);
    }
    const refusal = findRefusal(request, body, options);
    if (refusal === null) return await play(body as ChatRequestBody, signal);
    refusals.push(refusal.reason);
    return { step: refusal.step, delivery: options.delivery ?? {} };
  }

  async function play(
    body: ChatRequestBody,
    signal: AbortSignal,
  ): Promise<Answer> {
    const { messages = [], tools = [] } = body;
    const request = { index: accepted++, messages, tools, signal };
    const onError = (error: unknown) => player.note(error);
    let delivery = options.delivery ?? {};
    try {
      let step = await player.next(request);
      if (step.kind === "deliver") {
        delivery = { ...delivery, ...step.delivery };
        step = step.step;
      }
      if (step.kind === "respond") return { step, delivery };
      const events = playStep(step, request);
      const envelope: WireEnvelope = {
        id: `chatcmpl-${request.index + 1}`,
        created: Math.floor(clock.now() / 1000),
        model: body.model,
        includeUsage: body.stream_options?.include_usage === true,
        onError,
      };
      const streamed = body.stream === true && delivery.streamed !== false;
      return {
        step: streamed
          ? await streamedAnswer(events, envelope)
          : respond(200, { body: await wireBody(events, envelope) }),
        delivery,
      };
    } catch (error) {
      onError(error);
      return { step: errorResponse(error), delivery };
    }
  }
}

interface Answer {
  readonly step: RespondStep;
  readonly delivery: Delivery;
}

interface Refusal {
  readonly reason: string;
  readonly step: RespondStep;
}

function findRefusal(
  request: Request,
  body: unknown,
  options: ModelServerOptions,
): Refusal | null {
  const { pathname } = new URL(request.url);
  if (!pathname.endsWith("/chat/completions") || request.method !== "POST") {
    return refusal(404, `No such endpoint: ${request.method} ${pathname}`);
  }
  const { apiKey, strict = true } = options;
  const given = request.headers.get("authorization");
  if (apiKey !== undefined && given !== `Bearer ${apiKey}`) {
    return refusal(401, "Incorrect API key provided", "invalid_api_key");
  }
  if (!isJsonObject(body)) return refusal(400, "body: must be a JSON object");
  const fault = strict ? findRequestFault(body, options) : null;
  return fault === null ? null : refusal(400, fault);
}

function refusal(
  status: number,
  reason: string,
  code: string | null = null,
): Refusal {
  return {
    reason,
    step: respond(status, { body: errorObject(reason, code) }),
  };
}

async function readJson(request: Request): Promise<unknown> {
  try {
    return await request.json();
  } catch {
    return undefined;
  }
}

/** Waits for the first event, so that an early failure has a status of its own. */
async function streamedAnswer(
  events: AsyncGenerator<ModelStreamEvent, void, void>,
  envelope: WireEnvelope,
): Promise<RespondStep> {
  const first = await events.next();
  async function* all(): AsyncGenerator<ModelStreamEvent, void, void> {
    if (first.done) return;
    yield first.value;
    yield* events;
  }
  return {
    kind: "respond",
    status: 200,
    headers: {
      "content-type": "text/event-stream; charset=utf-8",
      "cache-control": "no-cache",
    },
    body: wireEvents(all(), envelope),
  };
}
