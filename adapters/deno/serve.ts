import type {
  FetchHandler,
  HttpServer,
  ServeOptions,
} from "../../src/http/server.ts";
import { serve as serveOverNodeHttp } from "../node/serve.ts";

/**
 * Serves a handler over HTTP.
 *
 * Bodies are streamed both ways and no faster than they are read. The signal of
 * a request fires when its client goes away before the response is complete,
 * whether or not that has begun.
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
  // Not Deno.serve: it misses clients that leave after a large request or amid
  // the answer, and without a flag it warns whoever looks at the signal.
  return serveOverNodeHttp(handler, options);
}
