import OpenAI from "openai";
import { longestTimerMs } from "../base/ports.ts";
import type { ModelConfig } from "../chat/config.ts";
import { untilAborted } from "../chat/exchange.ts";
import type {
  ChatRequest,
  ChatTransport,
  FetchLike,
} from "../chat/transport.ts";

/** The part of the `openai` client that the transport uses. */
export interface OpenAIClient {
  /** Sends a request; `asResponse` gives the response with its body unread. */
  post(path: string, options: OpenAIRequestOptions): OpenAIPendingResponse;
}

/** What the transport asks of {@linkcode OpenAIClient.post}. */
export interface OpenAIRequestOptions {
  /** JSON as UTF-8, sent as it is. */
  readonly body: Uint8Array<ArrayBuffer>;
  /** Headers over those of the client. */
  readonly headers: Record<string, string>;
  /** Ends the request. */
  readonly signal: AbortSignal;
  /** Always 0: retries are the business of middleware. */
  readonly maxRetries: number;
  /** Milliseconds until the client gives up; longer than the adapter ever waits. */
  readonly timeout: number;
  /** Redirects come back as they are: another host gets neither keys nor conversation. */
  readonly fetchOptions: { readonly redirect: "manual" };
}

/** What {@linkcode OpenAIClient.post} returns. */
export interface OpenAIPendingResponse {
  /** The response as soon as its headers are there. */
  asResponse(): Promise<Response>;
}

/** Options of {@linkcode openAITransport}. */
export interface OpenAITransportOptions {
  /**
   * A client of yours: it decides about address, key and headers, and stays open.
   * Without one the transport makes its own at startup.
   */
  readonly client?: OpenAIClient | undefined;
  /** Replaces the platform's `fetch` in the transport's own client. */
  readonly fetch?: FetchLike | undefined;
}

/**
 * The transport over the `openai` client.
 *
 * The client neither retries nor logs nor parses; it gets the finished body and
 * gives back the raw response.
 */
export function openAITransport(
  options: OpenAITransportOptions = {},
): ChatTransport {
  const { client } = options;
  return client === undefined
    ? ownClient(options.fetch)
    : injectedClient(client);
}

function injectedClient(client: OpenAIClient): ChatTransport {
  return {
    send(request) {
      const { authorization: _, ...headers } = request.headers;
      return post(client, "/chat/completions", { ...request, headers });
    },
  };
}

function ownClient(replacement: FetchLike | undefined): ChatTransport {
  let client: OpenAI | undefined;
  return {
    startup(config) {
      client = createClient(config, replacement);
    },
    shutdown() {
      client = undefined;
    },
    async send(request) {
      if (client === undefined) throw new Error("The transport is not started");
      try {
        return await post(client, request.url, request);
      } catch (error) {
        const cause = error instanceof Error ? error.cause : undefined;
        if (cause instanceof Refusal) return cause.response;
        throw error;
      }
    },
  };
}

function post(
  client: OpenAIClient,
  path: string,
  request: ChatRequest,
): Promise<Response> {
  const { body, headers, signal } = request;
  const options: OpenAIRequestOptions = {
    body,
    headers: { ...headers },
    signal,
    maxRetries: 0,
    // The adapter measures its waits by itself, so the client's own timer must never be first.
    timeout: longestTimerMs,
    fetchOptions: { redirect: "manual" },
  };
  return client.post(path, options).asResponse();
}

// What is left out here, the client would look for in the environment.
function createClient(
  config: ModelConfig,
  replacement: FetchLike | undefined,
): OpenAI {
  return new SealedClient({
    apiKey: config.apiKey,
    baseURL: config.baseUrl,
    organization: null,
    project: null,
    adminAPIKey: null,
    webhookSecret: null,
    maxRetries: 0,
    logLevel: "off",
    fetch: async (url, init = {}) => {
      const pending = (replacement ?? fetch)(String(url), init);
      // The client's timer would stay behind a fetch that ignores its signal.
      const response =
        await (init.signal ? untilAborted(pending, init.signal) : pending);
      if (!response.ok) throw new Refusal(response);
      return response;
    },
  });
}

/** A client without the headers that OPENAI_CUSTOM_HEADERS would add, wherever requests go. */
class SealedClient extends OpenAI {
  protected override prepareRequest(
    request: RequestInit,
    { options }: { readonly options: { readonly headers?: unknown } },
  ): Promise<void> {
    const headers = request.headers as Headers; // the client has made them
    for (const name of [...headers.keys()]) {
      const isOwn = name === "user-agent" || name.startsWith("x-stainless-");
      if (!isOwn && !(name in (options.headers as ChatRequest["headers"]))) {
        headers.delete(name);
      }
    }
    return Promise.resolve();
  }
}

/**
 * Carries a response with a bad status around the client, which would read the
 * whole of its body however long it is.
 */
class Refusal extends Error {
  readonly response: Response;

  constructor(response: Response) {
    super("Refused");
    this.response = response;
  }
}
