import type { ModelConfig } from "./config.ts";

/** One request, ready to be sent. */
export interface ChatRequest {
  /** Complete address of the endpoint. */
  readonly url: string;
  /** Lower-case names; holds the key as `authorization`. */
  readonly headers: Readonly<Record<string, string>>;
  /** JSON as UTF-8. Belongs to the transport; the adapter does not touch it again. */
  readonly body: Uint8Array<ArrayBuffer>;
  /** Ends the request and the reading of its response. */
  readonly signal: AbortSignal;
}

/**
 * Carries requests to the server and brings back untouched responses.
 *
 * `startup` is called before the first request and again after a `shutdown`.
 * Neither retries, parses nor logs.
 *
 * @example A transport that answers by itself
 * ```ts
 * import type { ChatTransport } from "@ejagent/core/chat";
 *
 * const canned: ChatTransport = {
 *   send: () => Promise.resolve(Response.json({ choices: [] })),
 * };
 * ```
 */
export interface ChatTransport {
  /** Takes what requests need. */
  startup?(config: ModelConfig): Promise<void> | void;
  /** Gives back what `startup` took; injected clients stay open. */
  shutdown?(): Promise<void> | void;
  /**
   * Sends one request, once.
   *
   * Resolves as soon as the headers are there, whatever the status, with the
   * body unread; the adapter reads or cancels it. Redirects are not followed
   * but handed back. A client that insists on
   * throwing for a bad status must leave `status`, `headers` and the parsed
   * body as `error` on what it throws.
   */
  send(request: ChatRequest): Promise<Response>;
}

/** The part of the platform's `fetch` that transports use. */
export type FetchLike = (url: string, init: RequestInit) => Promise<Response>;

/** Options of {@linkcode fetchTransport}. */
export interface FetchTransportOptions {
  /** Replaces the platform's `fetch`, for proxies, service bindings and tests. */
  readonly fetch?: FetchLike | undefined;
}

/** The transport over the platform's `fetch`; needs no package. */
export function fetchTransport(
  options: FetchTransportOptions = {},
): ChatTransport {
  return {
    send({ url, headers, body, signal }) {
      const send = options.fetch ?? fetch;
      return send(url, {
        method: "POST",
        headers: { ...headers },
        body,
        signal,
        // Another host is to get neither keys nor the conversation.
        redirect: "manual",
      });
    },
  };
}
