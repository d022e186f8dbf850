import { consoleLogger, type Logger } from "../base/ports.ts";

/** Answers one request; the same everywhere, also as the `fetch` of a Worker. */
export type FetchHandler = (request: Request) => Response | Promise<Response>;

/** Where a server listens. */
export interface ServeOptions {
  /** TCP port; 0 lets the system choose a free one. @default {0} */
  readonly port?: number | undefined;
  /** Address to listen on. @default {"127.0.0.1"} */
  readonly hostname?: string | undefined;
  /** Told when a handler throws; the client only gets status 500. @default {consoleLogger} */
  readonly logger?: Logger | undefined;
}

/** A server that listens. */
export interface HttpServer {
  /** Where it can be reached, without a slash at the end, for example `"http://127.0.0.1:8080"`. */
  readonly url: string;
  /** The port it got. */
  readonly port: number;
  /**
   * Stops listening and ends all connections; the signals of open requests fire.
   *
   * @returns Fulfils when the port is free again; safe to call twice.
   */
  close(): Promise<void>;
}

/** The address of a server; `0.0.0.0` and `::` are reached by the loopback name. */
export function urlOf(hostname: string, port: number): string {
  const everywhere = hostname === "0.0.0.0" || hostname === "::";
  const host = hostname.includes(":") ? `[${hostname}]` : hostname;
  return `http://${everywhere ? "localhost" : host}:${port}`;
}

/** Makes a handler that never rejects and tells its client nothing about an error. */
export function guardHandler(
  handler: FetchHandler,
  logger: Logger = consoleLogger,
): (request: Request) => Promise<Response> {
  return async (request) => {
    try {
      return await handler(request);
    } catch (error) {
      // What fails after the client has gone is its way of stopping.
      if (!request.signal.aborted) {
        logger.warn("A request handler failed", { error });
      }
      return new Response("Internal Server Error", { status: 500 });
    }
  };
}
