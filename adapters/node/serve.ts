import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";
import {
  type FetchHandler,
  guardHandler,
  type HttpServer,
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
  const server = createServer((message, response) =>
    void exchange(guarded, message, response)
  );
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

async function exchange(
  handler: FetchHandler,
  message: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const client = new AbortController();
  response.once("close", () => {
    if (!response.writableFinished) {
      client.abort(new DOMException("The client went away", "AbortError"));
    }
  });
  let request: Request;
  try {
    request = toRequest(message, client.signal);
  } catch {
    // A target, host or method that no Request can express.
    response.writeHead(400).end();
    return;
  }
  const answer = await handler(request);
  await writeResponse(answer, response, message.method === "HEAD");
}

function toRequest(message: IncomingMessage, signal: AbortSignal): Request {
  const { method = "GET", headers, rawHeaders, url = "/" } = message;
  const fields = new Headers();
  for (let index = 0; index < rawHeaders.length; index += 2) {
    fields.append(rawHeaders[index]!, rawHeaders[index + 1]!);
  }
  const bodiless = method === "GET" || method === "HEAD";
  return new Request(new URL(url, `http://${headers.host ?? "localhost"}`), {
    method,
    headers: fields,
    signal,
    body: bodiless ? null : toStream(message),
    // Required for bodies that are streams; the type does not know it everywhere.
    ...({ duplex: "half" } as object),
  });
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
      message.on("data", (bytes: Uint8Array) => {
        if (over) return;
        controller.enqueue(bytes);
        message.pause();
      });
      message.once("end", end(() => controller.close()));
      message.once("error", fail);
      message.once(
        "close",
        () => fail(new TypeError("The request body broke off")),
      );
    },
    cancel() {
      over = true;
      message.resume();
    },
  }, { highWaterMark: 0 });
}

async function writeResponse(
  answer: Response,
  response: ServerResponse,
  headOnly: boolean,
): Promise<void> {
  response.statusCode = answer.status;
  if (answer.statusText !== "") response.statusMessage = answer.statusText;
  for (const [name, value] of answer.headers) {
    if (name !== "set-cookie") response.setHeader(name, value);
  }
  const cookies = answer.headers.getSetCookie();
  if (cookies.length > 0) response.setHeader("set-cookie", cookies);

  if (answer.body === null || headOnly || response.destroyed) {
    await answer.body?.cancel();
    response.end();
    return;
  }
  // The first event of a stream may be a long time coming; its headers are not.
  response.flushHeaders();
  await pump(answer.body.getReader(), response);
}

async function pump(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  response: ServerResponse,
): Promise<void> {
  const giveUp = () => void reader.cancel().catch(() => {});
  response.once("close", giveUp);
  try {
    while (true) {
      const { done, value } = await reader.read();
      if (done) break;
      if (!response.write(value)) await drained(response);
    }
    response.end();
  } catch {
    // Half an answer must not look like a whole one.
    response.destroy();
  } finally {
    response.off("close", giveUp);
  }
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
