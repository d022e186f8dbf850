import { errorText } from "../base/errors.ts";
import { every } from "../base/every.ts";
import {
  type Clock,
  consoleLogger,
  type Logger,
  systemClock,
} from "../base/ports.ts";
import type { AgentEvent } from "../events/event.ts";
import type { AgentRunStream } from "../pipeline/agent_like.ts";

/** How {@linkcode toEventStream} answers. */
export interface EventStreamOptions {
  /** Headers over the usual ones. */
  readonly headers?:
    | Headers
    | Record<string, string>
    | [string, string][]
    | undefined;
  /** Milliseconds of silence after which a comment keeps the connection open. @default {15000} */
  readonly pingMs?: number | undefined;
  /** Drives the pings. @default {systemClock} */
  readonly clock?: Clock | undefined;
  /** Told why a run was rejected, which the client is not. @default {consoleLogger} */
  readonly logger?: Logger | undefined;
}

/**
 * Shows a run to a front end as server-sent events.
 *
 * Each event is a frame with the kind as `event`, the sequence number as `id`
 * and the event as JSON; the last frame is `result` with the result of the run.
 * A run that is rejected ends with the frame `error` and a text that says
 * nothing. The run starts when the body is read; a client that leaves cancels it.
 *
 * This is a view for one's own programs, not a protocol between agents; and it
 * shows everything, tools and thinking too. Put `mapEvents` in front of it to
 * show less.
 *
 * @example Serve an agent
 * ```ts
 * import { Agent } from "@ejagent/core";
 * import { toEventStream } from "@ejagent/core/http";
 * import { ScriptedModel, text } from "@ejagent/core/testing";
 * import { match } from "node:assert/strict";
 *
 * const agent = new Agent({ agentId: "a", model: new ScriptedModel([text("Hi")]) });
 * const handler = async (request: Request) =>
 *   toEventStream(agent.stream(await request.text(), { signal: request.signal }));
 *
 * const request = new Request("http://localhost/", { method: "POST", body: "Hello" });
 * const body = await (await handler(request)).text();
 * match(body, /^event: agent_started\nid: 1\ndata: \{/);
 * match(body, /\nevent: result\ndata: \{.*"output":"Hi".*\}\n\n$/);
 * ```
 *
 * @see WHATWG HTML, section 9.2, server-sent events.
 */
export function toEventStream(
  stream: AgentRunStream,
  options: EventStreamOptions = {},
): Response {
  const headers = new Headers({
    "content-type": "text/event-stream",
    "cache-control": "no-cache, no-transform",
    // Proxies of the nginx family would collect the frames otherwise.
    "x-accel-buffering": "no",
  });
  new Headers(options.headers).forEach((value, name) =>
    headers.set(name, value)
  );
  return new Response(bodyOf(stream, options), { headers });
}

function bodyOf(
  stream: AgentRunStream,
  options: EventStreamOptions,
): ReadableStream<Uint8Array> {
  const {
    pingMs = 15_000,
    clock = systemClock,
    logger = consoleLogger,
  } = options;
  const encoder = new TextEncoder();
  const events = stream[Symbol.asyncIterator]();
  let left = false;
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      // A run settles after its client has left; there is nowhere to write then.
      const write = (text: string) => {
        if (!left) controller.enqueue(encoder.encode(text));
      };
      const end = (text: string) => {
        write(text);
        if (!left) controller.close();
      };
      const stopPings = every(clock, pingMs, () => write(": ping\n\n"));
      try {
        const step = await events.next();
        if (!step.done) return write(frameOf(step.value));
        const result = await stream.finalResult();
        end(`event: result\ndata: ${JSON.stringify(result)}\n\n`);
      } catch (error) {
        logger.warn("A served run was rejected", { error: errorText(error) });
        end('event: error\ndata: {"error":"The run failed"}\n\n');
      } finally {
        stopPings();
      }
    },
    async cancel() {
      left = true;
      await stream.close("the client left");
    },
  }, { highWaterMark: 0 });
}

function frameOf(event: AgentEvent): string {
  return `event: ${event.kind}\nid: ${event.sequence}\ndata: ${
    jsonOf(event)
  }\n\n`;
}

/** An event as JSON; only its envelope if a tool put something into it that JSON cannot express. */
function jsonOf(event: AgentEvent): string {
  try {
    return JSON.stringify(event);
  } catch {
    const { kind, agentId, runId, sequence, timeMs } = event;
    return JSON.stringify({ kind, agentId, runId, sequence, timeMs });
  }
}
