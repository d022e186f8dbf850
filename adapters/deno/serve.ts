import { followSignal } from "../../src/base/abort.ts";
import {
  type FetchHandler,
  guardHandler,
  type HttpServer,
  type ServeOptions,
  urlOf,
} from "../../src/http/server.ts";

/**
 * Serves a handler over HTTP with `Deno.serve`.
 *
 * @example Serve and stop
 * ```ts
 * import { serve } from "@ejagent/core/deno";
 * import { equal } from "node:assert/strict";
 *
 * const server = await serve(() => new Response("Hello"));
 * equal(await (await fetch(server.url)).text(), "Hello");
 * await server.close();
 * ```
 */
export function serve(
  handler: FetchHandler,
  options: ServeOptions = {},
): Promise<HttpServer> {
  // A port that is taken rejects, it does not throw.
  return new Promise((resolve) => resolve(listen(handler, options)));
}

function listen(handler: FetchHandler, options: ServeOptions): HttpServer {
  const { port = 0, hostname = "127.0.0.1", logger } = options;
  const guarded = guardHandler(handler, logger);
  const closing = new AbortController();
  const { addr, finished } = Deno.serve({
    port,
    hostname,
    signal: closing.signal,
    onListen: () => {},
  }, (request, { completed }) => {
    const client = new AbortController();
    const abort = (reason: unknown) => client.abort(reason);
    // Deno's own signal also fires after a complete response, and Deno warns of
    // whoever listens then. So it counts until there is a response, and what
    // becomes of that one from then on.
    const unfollow = followSignal(request.signal, abort);
    completed.catch(abort);
    Object.defineProperty(request, "signal", { value: client.signal });
    return guarded(request).finally(unfollow);
  });
  return {
    url: urlOf(hostname, addr.port),
    port: addr.port,
    close() {
      closing.abort();
      return finished;
    },
  };
}
