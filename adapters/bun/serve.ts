import {
  type FetchHandler,
  guardHandler,
  type HttpServer,
  type ServeOptions,
  urlOf,
} from "../../src/http/server.ts";

/** The part of Bun that is used here. */
interface BunRuntime {
  serve(options: {
    readonly port: number;
    readonly hostname: string;
    readonly idleTimeout: number;
    readonly fetch: FetchHandler;
  }): { readonly port: number; stop(closeConnections: boolean): Promise<void> };
}

/**
 * Serves a handler over HTTP with `Bun.serve`.
 *
 * Bun sends the headers of a response together with the first bytes of its body.
 *
 * @example Serve and stop
 * ```ts ignore
 * import { serve } from "@ejagent/core/bun";
 *
 * const server = await serve(() => new Response("Hello"));
 * console.log(await (await fetch(server.url)).text());
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
  const { Bun } = globalThis as unknown as { readonly Bun: BunRuntime };
  const server = Bun.serve({
    port,
    hostname,
    // A model may think for longer than the ten seconds that Bun allows by default.
    idleTimeout: 0,
    fetch: guardHandler(handler, logger),
  });
  // Read now: a stopped server has none.
  const { port: actualPort } = server;
  return {
    url: urlOf(hostname, actualPort),
    port: actualPort,
    close: () => server.stop(true),
  };
}
