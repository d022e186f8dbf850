import { followSignal } from "../base/abort.ts";
import { isJsonObject } from "../base/json.ts";
import { closedText } from "./failure.ts";
import { ErrorCode } from "./sdk.ts";

/** What sends HTTP requests. */
export type McpFetch = (
  url: string | URL,
  init?: RequestInit,
) => Promise<Response>;

/** The part of a transport that is followed; its client calls `onmessage` before its own. */
export interface FollowedTransport {
  // deno-lint-ignore no-explicit-any -- the message types of the SDK are not ours to name
  onmessage?: (message: any) => void;
}

/** Watches over the requests of one transport. */
export interface AnswerWatch {
  /** For the transport to send with. */
  readonly fetch: McpFetch;
  /** Begins to watch; before the transport is given to its client. */
  follow(transport: FollowedTransport): void;
}

/**
 * Ends requests over HTTP that nobody will answer any longer.
 *
 * Without it a call whose response broke off waits for all of its time, and the response
 * to a call that was given up stays open. Of responses whose events have
 * ids only the latter are ended: the SDK takes them up again where they broke off.
 */
export function answerWatch(send: McpFetch): AnswerWatch {
  const waiting = new Map<unknown, Exchange>();

  async function ask(
    id: unknown,
    url: string | URL,
    init: RequestInit,
  ): Promise<Response> {
    const exchange = new Exchange(id, {
      signal: init.signal ?? undefined,
      forget: () => waiting.delete(id),
    });
    waiting.set(id, exchange);
    try {
      const response = await send(url, { ...init, signal: exchange.signal });
      return exchange.watch(response);
    } catch (error) {
      exchange.settle();
      throw error;
    }
  }

  return {
    async fetch(url, init = {}) {
      const { id, method, params } = messageIn(init);
      if (method === "notifications/cancelled") {
        const { requestId } = Object(params);
        waiting.get(requestId)?.giveUp();
        waiting.delete(requestId);
      }
      return id === undefined || method === undefined
        ? await send(url, init)
        : await ask(id, url, init);
    },
    follow(transport) {
      transport.onmessage = ({ id, method, params }) => {
        if (method === undefined) waiting.delete(id);
        if (method !== endNotice || !waiting.has(params?.requestId)) return;
        transport.onmessage?.(connectionClosed(params.requestId));
      };
    },
  };
}

/** Comes behind everything that a response held, through the same readers. */
const endNotice = "notifications/ejagent/response_ended";

/** One request and its response. */
class Exchange {
  readonly #id: unknown;
  readonly #controller = new AbortController();
  readonly #unfollow: () => void;
  readonly #forget: () => void;
  #isResumable = false;
  #isGivenUp = false;

  constructor(
    id: unknown,
    { signal, forget }: {
      readonly signal: AbortSignal | undefined;
      readonly forget: () => void;
    },
  ) {
    this.#id = id;
    this.#forget = forget;
    this.#unfollow = followSignal(
      signal,
      (reason) => this.#controller.abort(reason),
    );
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Ends it, as nothing can come any longer that the SDK would not see by itself. */
  settle(): void {
    this.#unfollow();
    this.#forget();
  }

  /** Closes the response, as its answer interests nobody. */
  giveUp(): void {
    this.#isGivenUp = true;
    this.#controller.abort();
  }

  /** The same response with a notice at its end. */
  watch(response: Response): Response {
    const { ok, body, headers } = response;
    if (!ok || body === null) {
      this.settle();
      return response;
    }
    const hasEvents = headers.get("content-type")?.includes("event-stream");
    const watched = hasEvents ? this.#withNotice(body) : this.#whole(body);
    return new Response(watched, response);
  }

  #withNotice(body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
    const findsId = eventIdDetector();
    return passedOn(body, {
      onPiece: (piece) => this.#isResumable ||= findsId(piece),
      onEnd: (error) => {
        this.#unfollow();
        if (this.#isResumable) return this.#isGivenUp ? noEnd : error;
        const isClosing = this.signal.aborted && !this.#isGivenUp;
        return isClosing ? error : noticeOf(this.#id);
      },
    });
  }

  #whole(body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
    return passedOn(body, {
      onPiece() {},
      onEnd: (error) => {
        this.settle();
        return error;
      },
    });
  }
}

/** What is made of a body on its way. */
interface Passage {
  readonly onPiece: (piece: Uint8Array) => void;
  /**
   * Gives back the last piece or the error to end with, undefined for neither, or
   * `noEnd` for a body that ends without anybody being told.
   */
  readonly onEnd: (error: unknown) => unknown;
}

/** For a response that the SDK would ask for again if it saw it end. */
const noEnd = Symbol("no end");

function passedOn(
  body: ReadableStream<Uint8Array>,
  { onPiece, onEnd }: Passage,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      let failure: unknown;
      try {
        const { value } = await reader.read();
        if (value !== undefined) {
          onPiece(value);
          return controller.enqueue(value);
        }
      } catch (error) {
        failure = error;
      }
      const last = onEnd(failure);
      if (last === noEnd) return new Promise(() => {});
      if (last instanceof Uint8Array) controller.enqueue(last);
      else if (last !== undefined) return controller.error(last);
      controller.close();
    },
    cancel(reason) {
      onEnd(undefined);
      return reader.cancel(reason);
    },
  });
}

/** Tells whether an event of a stream has an id, given piece after piece. */
function eventIdDetector(): (piece: Uint8Array) => boolean {
  const decoder = new TextDecoder();
  let last = "\n";
  return (piece) => {
    const text = last + decoder.decode(piece, { stream: true });
    last = text.slice(-3);
    return /[\r\n]id:/.test(text);
  };
}

function noticeOf(requestId: unknown): Uint8Array {
  const notice = { jsonrpc: "2.0", method: endNotice, params: { requestId } };
  // The line breaks end an event that broke off.
  return new TextEncoder().encode(`\n\ndata: ${JSON.stringify(notice)}\n\n`);
}

function connectionClosed(id: unknown): object {
  const error = { code: ErrorCode.ConnectionClosed, message: closedText };
  return { jsonrpc: "2.0", id, error };
}

interface SentMessage {
  readonly id?: unknown;
  readonly method?: unknown;
  readonly params?: unknown;
}

/** The message in the body of a request; requests for tokens have none. */
function messageIn({ method, body }: RequestInit): SentMessage {
  if (method !== "POST" || typeof body !== "string") return {};
  try {
    const message: unknown = JSON.parse(body);
    return isJsonObject(message) && message.jsonrpc === "2.0" ? message : {};
  } catch {
    return {};
  }
}
