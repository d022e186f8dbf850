import { detach, followSignal } from "../base/abort.ts";
import { isJsonObject } from "../base/json.ts";
import { EventSplitter } from "../base/sse.ts";
import { A2AError, type WireRpcError } from "./errors.ts";
import { A2A_VERSION } from "./wire.ts";

/** Asks over HTTP; the platform's `fetch`, or a function that stands in for it. */
export type FetchLike = (
  url: string,
  init: RequestInit,
) => Promise<Response>;

/** Where and how a remote agent is asked. */
export interface Connection {
  /** The platform's, or what stands in for it. */
  readonly fetch: FetchLike;
  /** Headers over the usual ones. */
  readonly headers: Headers;
  /** Limit of one event, and of an answer that is no stream, in characters. */
  readonly maxEventBytes: number;
  /** Aborts what is under way. */
  readonly signal: AbortSignal;
}

/** One call. */
export interface RpcCall {
  /** Name of the method. */
  readonly method: string;
  /** Its parameters. */
  readonly params: unknown;
  /** Pairs question and answer. */
  readonly id: string;
}

const maxRedirects = 5;

/**
 * Calls a method and waits for its result.
 *
 * @throws {A2AError} No answer, or one that is an error or no JSON-RPC.
 */
export async function callMethod(
  url: string,
  call: RpcCall,
  connection: Connection,
): Promise<unknown> {
  const response = await post(url, call, connection, "application/json");
  return resultOf(await jsonOf(response, connection), response);
}

/**
 * Calls a method and yields its results as they come.
 *
 * A server that does not stream gives its one result.
 *
 * @throws {A2AError} As {@linkcode callMethod}; or an event is larger than allowed.
 */
export async function* streamMethod(
  url: string,
  call: RpcCall,
  connection: Connection,
): AsyncGenerator<unknown, void, void> {
  const response = await post(url, call, connection, "text/event-stream");
  if (!typeOf(response).startsWith("text/event-stream")) {
    yield resultOf(await jsonOf(response, connection), response);
    return;
  }
  const events = new EventSplitter();
  for await (const text of bodyText(response, connection.signal)) {
    for (const data of events.push(text)) {
      yield resultOf(parse(data, connection), response);
    }
    requireSize(events.pendingLength, connection);
  }
}

/** Reads a JSON document. @throws {A2AError} No answer, no success, or no JSON. */
export async function getJson(
  url: string,
  connection: Connection,
): Promise<unknown> {
  const headers = new Headers({ accept: "application/json" });
  const response = await send(url, { method: "GET", headers }, connection);
  const value = await jsonOf(response, connection);
  if (!response.ok) throw statusError(response);
  return value;
}

function post(
  url: string,
  { method, params, id }: RpcCall,
  connection: Connection,
  accept: string,
): Promise<Response> {
  const headers = new Headers({
    "content-type": "application/json",
    accept,
    "a2a-version": A2A_VERSION,
  });
  const body = JSON.stringify({ jsonrpc: "2.0", id, method, params });
  return send(url, { method: "POST", headers, body }, connection);
}

/** Follows redirects by itself, because headers with secrets must stay at their origin. */
async function send(
  url: string,
  init: RequestInit & { readonly headers: Headers },
  { fetch, headers, signal }: Connection,
): Promise<Response> {
  headers.forEach((value, name) => init.headers.set(name, value));
  let place = url;
  for (let redirects = 0; redirects <= maxRedirects; redirects++) {
    const response = await reach(
      place,
      () => fetch(place, { ...init, signal, redirect: "manual" }),
      signal,
    );
    const target = redirectTarget(place, response);
    if (target === undefined) return response;
    detach(response.body?.cancel());
    place = target;
  }
  throw new A2AError(`The agent at ${originOf(url)} redirects without end`);
}

async function reach(
  url: string,
  ask: () => Promise<Response>,
  signal: AbortSignal,
): Promise<Response> {
  try {
    return await ask();
  } catch (error) {
    signal.throwIfAborted();
    // The cause may repeat the whole address, which may hold a key.
    throw new A2AError(`The agent at ${originOf(url)} could not be reached`, {
      cause: error,
      retryable: true,
    });
  }
}

function redirectTarget(url: string, response: Response): string | undefined {
  const { status } = response;
  if (response.type !== "opaqueredirect" && (status < 300 || status > 399)) {
    return undefined;
  }
  const location = response.headers.get("location");
  const target = location === null ? undefined : new URL(location, url);
  // 307 and 308 alone repeat the request as it was.
  if (target?.origin === originOf(url) && (status === 307 || status === 308)) {
    return target.href;
  }
  throw new A2AError(
    `The agent at ${originOf(url)} redirects elsewhere; use its new address`,
    { status },
  );
}

async function jsonOf(
  response: Response,
  connection: Connection,
): Promise<unknown> {
  let body = "";
  for await (const text of bodyText(response, connection.signal)) {
    body += text;
    requireSize(body.length, connection);
  }
  try {
    return JSON.parse(body);
  } catch {
    // The parser's own message quotes the answer, which may quote the request.
    if (!response.ok) throw statusError(response);
    throw new A2AError("The agent answered with something that is no JSON");
  }
}

function parse(data: string, connection: Connection): unknown {
  requireSize(data.length, connection);
  try {
    return JSON.parse(data);
  } catch {
    throw new A2AError("The agent sent an event that is no JSON");
  }
}

function resultOf(answer: unknown, response: Response): unknown {
  if (isJsonObject(answer) && isJsonObject(answer.error)) {
    const { code, message } = answer.error as unknown as WireRpcError;
    throw new A2AError(`The agent refused with ${code}: ${message}`, {
      rpcCode: code,
    });
  }
  if (!response.ok) throw statusError(response);
  if (isJsonObject(answer) && answer.result !== undefined) return answer.result;
  throw new A2AError("The agent answered with something that is no JSON-RPC");
}

function statusError({ status }: Response): A2AError {
  return new A2AError(`The agent answered with HTTP status ${status}`, {
    status,
    retryable: status === 429 || status >= 500,
  });
}

/** The text of a body; an abort and a reader that leaves cancel it. */
async function* bodyText(
  response: Response,
  signal: AbortSignal,
): AsyncGenerator<string, void, void> {
  if (response.body === null) return;
  const reader = response.body.getReader();
  // A body that does not know the signal must end as well.
  const unfollow = followSignal(
    signal,
    (reason) => detach(reader.cancel(reason)),
  );
  const decoder = new TextDecoder();
  try {
    for (;;) {
      const { done, value } = await readFrom(reader, signal);
      signal.throwIfAborted();
      if (done) return;
      yield decoder.decode(value, { stream: true });
    }
  } finally {
    unfollow();
    detach(reader.cancel());
  }
}

async function readFrom(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  signal: AbortSignal,
): Promise<ReadableStreamReadResult<Uint8Array>> {
  try {
    return await reader.read();
  } catch (error) {
    signal.throwIfAborted();
    throw new A2AError("The connection to the agent broke off", {
      cause: error,
      retryable: true,
    });
  }
}

function requireSize(length: number, { maxEventBytes }: Connection): void {
  if (length <= maxEventBytes) return;
  throw new A2AError(
    `The agent sent more than ${maxEventBytes} bytes in one piece; ` +
      "raise maxEventBytes if that is right",
  );
}

function typeOf(response: Response): string {
  return response.headers.get("content-type")?.toLowerCase() ?? "";
}

function originOf(url: string): string {
  return new URL(url).origin;
}
