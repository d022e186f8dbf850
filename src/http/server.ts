import { isJsonObject } from "../base/json.ts";
import { consoleLogger, type Logger } from "../base/ports.ts";

/** Answers one request; the same everywhere, also as the `fetch` of a Worker. */
export type FetchHandler = (request: Request) => Response | Promise<Response>;

/** Where a server listens. */
export interface ServeOptions {
  /** TCP port; 0 lets the system choose a free one. @default {0} */
  readonly port?: number | undefined;
  /** Address to listen on. @default {"127.0.0.1"} */
  readonly hostname?: string | undefined;
  /** Told when a handler or its body fails; the client sees status 500 or half a body. @default {consoleLogger} */
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

/** A handler that neither rejects nor answers with what cannot be sent. */
export type GuardedHandler = (request: Request) => Promise<Response>;

/** Makes a handler that tells its operator about a failure and its client nothing. */
export function guardHandler(
  handler: FetchHandler,
  logger: Logger = consoleLogger,
): GuardedHandler {
  return async (request) => {
    try {
      return requireSendable(await handler(request));
    } catch (error) {
      reportFailure(error, request, logger);
      return new Response("Internal Server Error", { status: 500 });
    }
  };
}

/** Tells the operator why a request has failed. */
export function reportFailure(
  error: unknown,
  { signal }: Request,
  logger: Logger = consoleLogger,
): void {
  // What fails after the client has gone is its way of stopping.
  if (!signal.aborted) logger.warn("A request handler failed", { error });
}

function requireSendable(answer: Response): Response {
  if (!isJsonObject(answer)) {
    throw new TypeError("A request handler must return a Response");
  }
  const { status, bodyUsed, body } = answer;
  if (!(status >= 200 && status <= 599)) {
    throw new TypeError(`A response with status ${status} cannot be sent`);
  }
  if (bodyUsed || body?.locked) {
    throw new TypeError(
      "The body of a response was read already; return a clone of it",
    );
  }
  return answer;
}
