import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";
import { detach } from "../../src/base/abort.ts";
import {
  type FetchHandler,
  type GuardedHandler,
  guardHandler,
  type HttpServer,
  reportFailure,
  type ServeOptions,
  urlOf,
} from "../../src/http/server.ts";

/**
 * Serves a handler over HTTP with `node:http`.
 *
 * Bodies are streamed both ways and no faster than they are read. The signal of
 * a request fires when its client goes away before the response is complete.
 *
 * @example Serve and stop
 * ```ts ignore
 * import { serve } from "@ejagent/core/node";
 *
 * const server = await serve(() => new Response("Hello"));
 * console.log(await (await fetch(server.url)).text());
 * await server.close();
 * ```
 */
export async function serve(
  handler: FetchHandler,
  options: ServeOptions = {},
): Promise<HttpServer> {
  const { port = 0, hostname = "127.0.0.1", logger } = options;
  const guarded = guardHandler(handler, logger);
  const server = createServer(async (message, response) => {
    const request = requestOf(message, response);
    if (request === undefined) return;
    try {
      await exchange(guarded, request, response);
    } catch (error) {
      reportFailure(error, request, logger);
      breakOff(response);
    }
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, hostname, () => {
      server.off("error", reject);
      resolve();
    });
  });
  const { port: actualPort } = server.address() as AddressInfo;
  let closed: Promise<void> | undefined;
  return {
    url: urlOf(hostname, actualPort),
    port: actualPort,
    close: () => closed ??= closeServer(server),
  };
}

function closeServer(server: Server): Promise<void> {
  return new Promise<void>((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

/** What a handler gets; undefined if no Request can express the message, which is answered then. */
function requestOf(
  message: IncomingMessage,
  response: ServerResponse,
): Request | undefined {
  const client = new AbortController();
  response.once("close", () => {
    if (!response.writableFinished) {
      client.abort(new DOMException("The client went away", "AbortError"));
    }
  });
  try {
    return toRequest(message, client.signal);
  } catch {
    response.writeHead(400).end();
    return undefined;
  }
}

function toRequest(message: IncomingMessage, signal: AbortSignal): Request {
  const { method = "GET", rawHeaders } = message;
  const fields = new Headers();
  for (let index = 0; index < rawHeaders.length; index += 2) {
    fields.append(rawHeaders[index]!, rawHeaders[index + 1]!);
  }
  const bodiless = method === "GET" || method === "HEAD";
  return new Request(targetOf(message), {
    method,
    headers: fields,
    signal,
    body: bodiless ? null : toStream(message),
    // Required for bodies that are streams; the type does not know it everywhere.
    ...({ duplex: "half" } as object),
  });
}

function targetOf({ headers, url = "/" }: IncomingMessage): URL {
  const { host = "localhost" } = headers;
  const base = new URL(`http://${host}`);
  // A host is no more than that, and a path that begins with two slashes names none.
  if (base.href !== `${base.origin}/` || /[/?#\\]/.test(host)) {
    throw new TypeError("Not a host");
  }
  return new URL(url.startsWith("/") ? base.origin + url : url, base);
}

/** The body of a request; nothing is taken from the socket before it is asked for. */
function toStream(message: IncomingMessage): ReadableStream<Uint8Array> {
  let started = false;
  let over = false;
  return new ReadableStream<Uint8Array>({
    pull(controller) {
      if (started) return void message.resume();
      started = true;
      const end = (finish: () => void) => () => {
        if (over) return;
        over = true;
        finish();
      };
      const fail = (reason: unknown) => end(() => controller.error(reason))();
      const breakOff = () => fail(new TypeError("The request body broke off"));
      // Neither data nor events come any more if the client has left already.
      if (message.destroyed || message.readableEnded) return breakOff();
      message.on("data", (bytes: Uint8Array) => {
        if (over) return;
        controller.enqueue(bytes);
        message.pause();
      });
      message.once("end", end(() => controller.close()));
      message.once("error", fail);
      message.once("close", breakOff);
    },
    cancel() {
      over = true;
      message.resume();
    },
  }, { highWaterMark: 0 });
}

async function exchange(
  handler: GuardedHandler,
  request: Request,
  response: ServerResponse,
): Promise<void> {
  const { status, statusText, headers, body } = await handler(request);
  response.statusCode = status;
  if (statusText !== "") response.statusMessage = statusText;
  for (const [name, value] of headers) {
    if (name !== "set-cookie") response.setHeader(name, value);
  }
  const cookies = headers.getSetCookie();
  if (cookies.length > 0) response.setHeader("set-cookie", cookies);

  if (body === null || request.method === "HEAD" || response.destroyed) {
    detach(body?.cancel());
    response.end();
    return;
  }
  await pump(body.getReader(), response);
}

async function pump(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  response: ServerResponse,
): Promise<void> {
  const giveUp = () => detach(reader.cancel());
  response.once("close", giveUp);
  try {
    // The first event of a stream may be a long time coming; its headers are not.
    response.flushHeaders();
    while (true) {
      const { done, value } = await reader.read();
      if (done) break;
      if (!response.write(value)) await drained(response);
    }
    response.end();
  } catch (error) {
    giveUp();
    throw error;
  } finally {
    response.off("close", giveUp);
  }
}

/** Ends an answer that failed; half of one must not look like a whole one. */
function breakOff(response: ServerResponse): void {
  if (response.headersSent) return void response.destroy();
  for (const name of response.getHeaderNames()) response.removeHeader(name);
  response.writeHead(500, "Internal Server Error");
  response.end("Internal Server Error");
}

/** Waits until the socket takes more, or is gone. */
function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const settle = () => {
      response.off("drain", settle);
      response.off("close", settle);
      resolve();
    };
    response.once("drain", settle);
    response.once("close", settle);
    if (response.destroyed) settle();
  });
}
