import type { JsonObject } from "../base/json.ts";
import { scriptKinds, type ScriptStep, type StepKinds } from "./steps.ts";

/** How the bytes of a response travel. */
export interface Delivery {
  /** Largest number of bytes in one piece. @default one event a piece */
  readonly chunkBytes?: number;
  /** Milliseconds on the server's clock before every piece. @default {0} */
  readonly delayMs?: number;
  /** Awaited before every piece, so that a test can hold it back; pieces count from 0. */
  readonly beforeChunk?: (index: number) => void | Promise<void>;
  /** The response breaks off after this many events. */
  readonly cutAfterEvents?: number;
  /** The response breaks off after this many bytes. */
  readonly cutAfterBytes?: number;
  /** How it breaks off: with an error, or as if it were complete. @default `"reset"` */
  readonly cut?: "reset" | "end";
  /** False answers with one JSON body although a stream was asked for. @default {true} */
  readonly streamed?: boolean;
}

/** A response given word by word. */
export interface RespondStep {
  /** Tells the steps apart. */
  readonly kind: "respond";
  /** HTTP status. */
  readonly status: number;
  /** HTTP headers. */
  readonly headers: Readonly<Record<string, string>>;
  /** The body, piece by piece; each counts as one event. */
  readonly body:
    | Iterable<string | Uint8Array>
    | AsyncIterable<string | Uint8Array>;
}

/** A step whose response travels in a special way. */
export interface DeliverStep {
  /** Tells the steps apart. */
  readonly kind: "deliver";
  /** What is answered. */
  readonly step: ScriptStep | RespondStep;
  /** How it travels. */
  readonly delivery: Delivery;
}

/** What a model server does when it is asked once. */
export type ServerStep = ScriptStep | RespondStep | DeliverStep;

/** The kinds that a model server plays. */
export const serverKinds: StepKinds<ServerStep> = {
  ...scriptKinds,
  respond: true,
  deliver: true,
};

/**
 * Responds with any status, body and headers.
 *
 * @param status HTTP status.
 * @param content `body`: a text, pieces of text or bytes, or an object that is
 * sent as JSON; `headers`: the content type follows from the body by default.
 *
 * @example A limit that asks to wait for two seconds
 * ```ts
 * import { respond } from "@ejagent/core/testing";
 *
 * const step = respond(429, {
 *   body: { error: { message: "Slow down" } },
 *   headers: { "retry-after": "2" },
 * });
 * ```
 */
export function respond(
  status: number,
  content: {
    readonly body?: string | JsonObject | readonly (string | Uint8Array)[];
    readonly headers?: Readonly<Record<string, string>>;
  } = {},
): RespondStep {
  const { body = "", headers } = content;
  const [type, pieces] = typeof body === "string"
    ? ["text/plain; charset=utf-8", [body]]
    : Array.isArray(body)
    ? ["text/plain; charset=utf-8", body]
    : ["application/json", [JSON.stringify(body)]];
  return {
    kind: "respond",
    status,
    headers: { "content-type": type, ...headers },
    body: pieces,
  };
}

/**
 * Responds with a stream of server-sent events.
 *
 * @param data The value of each event: objects are sent as JSON, texts as they are.
 *
 * @example A chunk that is no JSON
 * ```ts
 * import { sse } from "@ejagent/core/testing";
 *
 * const step = sse([
 *   { choices: [{ index: 0, delta: { content: "Hel" } }] },
 *   '{"choices":[{"ind',
 *   "[DONE]",
 * ]);
 * ```
 */
export function sse(data: readonly (JsonObject | string)[]): RespondStep {
  return respond(200, {
    body: data.map((item) =>
      sseEvent(typeof item === "string" ? item : JSON.stringify(item))
    ),
    headers: { "content-type": "text/event-stream" },
  });
}

/**
 * Lets the response to a step travel in a special way: slowly, in small pieces,
 * cut off, or unstreamed.
 *
 * @example A connection that breaks after the second event
 * ```ts
 * import { deliver, text } from "@ejagent/core/testing";
 *
 * const step = deliver(text("Hello"), { cutAfterEvents: 2 });
 * ```
 */
export function deliver(
  step: ScriptStep | RespondStep,
  delivery: Delivery,
): DeliverStep {
  return { kind: "deliver", step, delivery };
}

/** One server-sent event. */
export function sseEvent(data: string): string {
  return `data: ${data}\n\n`;
}
