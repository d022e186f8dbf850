import { errorText } from "../base/errors.ts";
import type { EventQueue } from "../base/event_queue.ts";
import { isJsonObject } from "../base/json.ts";
import { every } from "../base/every.ts";
import type { Clock, Logger } from "../base/ports.ts";
import { A2ARefusal, toRpcError } from "./errors.ts";
import type { A2AFrame } from "./wire.ts";

/** Pairs answers with questions. */
export type RpcId = string | number | null;

/** A call that was read. */
export interface RpcRequest {
  /** Its id. */
  readonly id: RpcId;
  /** Name of the method. */
  readonly method: string;
  /** Not checked yet. */
  readonly params: unknown;
}

/** What a method answers: a result, or frames for as long as somebody reads. */
export type RpcAnswer =
  | { readonly result: unknown }
  | { readonly frames: EventQueue<A2AFrame>; leave(): Promise<void> };

const pingMs = 15_000;

/** Reads the body of a request. @returns The call, or why it is none. */
export function readRpc(body: string): RpcRequest | A2ARefusal {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    return new A2ARefusal("parse_error", "The request is no JSON");
  }
  if (
    !isJsonObject(value) || value.jsonrpc !== "2.0" ||
    typeof value.method !== "string" || !isId(value.id)
  ) {
    return new A2ARefusal("invalid_request", "The request is no JSON-RPC call");
  }
  const { id = null, method, params } = value;
  return { id: id as RpcId, method, params };
}

/**
 * Answers a call: one document, or a stream of events.
 *
 * What is thrown and is no refusal is told to the logger alone.
 */
export async function answerRpc(
  call: RpcRequest,
  parts: {
    readonly serve: (call: RpcRequest) => Promise<RpcAnswer>;
    readonly clock: Clock;
    readonly logger: Logger;
  },
): Promise<Response> {
  const { id, method } = call;
  try {
    const answer = await parts.serve(call);
    return "result" in answer
      ? Response.json({ jsonrpc: "2.0", id, result: answer.result })
      : new Response(eventBody(answer, { id, clock: parts.clock }), {
        headers: {
          "content-type": "text/event-stream",
          "cache-control": "no-cache, no-transform",
        },
      });
  } catch (error) {
    if (error instanceof A2ARefusal) return refusalResponse(error, id);
    parts.logger.warn("A call failed", { method, error: errorText(error) });
    return refusalResponse(internalError(), id);
  }
}

/** An error as a whole answer. */
export function refusalResponse(
  refusal: A2ARefusal,
  id: RpcId = null,
): Response {
  return Response.json({ jsonrpc: "2.0", id, error: toRpcError(refusal) });
}

function eventBody(
  { frames, leave }: Extract<RpcAnswer, { readonly frames: unknown }>,
  { id, clock }: { readonly id: RpcId; readonly clock: Clock },
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let left = false;
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const write = (text: string) => {
        if (!left) controller.enqueue(encoder.encode(text));
      };
      // Thinking and tools are silent; without a word proxies would hang up.
      const stopPings = every(clock, pingMs, () => write(": ping\n\n"));
      try {
        const step = await frames.next();
        if (!step.done) return write(frameText({ id, result: step.value }));
      } catch {
        // Whoever failed the frames has told why; the client must not know.
        const error = toRpcError(internalError());
        write(`event: error\n${frameText({ id, error })}`);
      } finally {
        stopPings();
      }
      if (!left) controller.close();
    },
    async cancel() {
      left = true;
      await leave();
    },
  });
}

function frameText(answer: Readonly<Record<string, unknown>>): string {
  return `data: ${JSON.stringify({ jsonrpc: "2.0", ...answer })}\n\n`;
}

function internalError(): A2ARefusal {
  return new A2ARefusal("internal_error", "The agent could not answer");
}

function isId(value: unknown): boolean {
  return value === undefined || value === null || typeof value === "string" ||
    typeof value === "number";
}
