import { answerWatch, type McpFetch } from "./answer_watch.ts";
import { isHeader, isHttp } from "./config_members.ts";
import type { McpRemoteServer, McpServer, McpStdioServer } from "./config.ts";
import { McpServerError } from "./errors.ts";
import type { McpTransport } from "./protocol.ts";
import { createFetchWithInit, StreamableHTTPClientTransport } from "./sdk.ts";
import type { GuardedServer, SignIn } from "./sign_in.ts";

/** How remote servers are talked to. */
export interface McpHttpOptions {
  /** Replaces the platform's `fetch`. */
  readonly fetch?:
    | ((
      url: string | URL,
      init?: RequestInit,
    ) => Promise<Response>)
    | undefined;
  /** Sent with every request; headers of the server go over its headers. */
  readonly requestInit?: RequestInit | undefined;
  /** Whether redirects may lead to another origin. @default {"same-origin"} */
  readonly redirectPolicy?: "same-origin" | "follow" | undefined;
  /** How a stream of events that broke is taken up again. */
  readonly reconnectionOptions?: McpReconnectionOptions | undefined;
}

/** How a stream of events that broke is taken up again. */
export interface McpReconnectionOptions {
  /** Milliseconds before the first attempt. @default {1000} */
  readonly initialReconnectionDelay: number;
  /** Most milliseconds before any attempt. @default {30000} */
  readonly maxReconnectionDelay: number;
  /** By what the wait grows. @default {1.5} */
  readonly reconnectionDelayGrowFactor: number;
  /** Attempts before it is given up. @default {2} */
  readonly maxRetries: number;
}

/** A program to start, and where what it writes to standard error goes. */
export interface McpStdioRequest {
  /** Name of the server in the configuration. */
  readonly name: string;
  /** The program. */
  readonly server: McpStdioServer;
  /** Takes one line that the program wrote to standard error. */
  readonly onLine: (line: string) => void;
}

/** Makes the transport to a child process; `@ejagent/core/mcp-stdio` has one. */
export type McpTransportFactory = (request: McpStdioRequest) => McpTransport;

/** What making a transport may need. */
export interface TransportOptions {
  /** Starts child processes. */
  readonly stdio?: McpTransportFactory | undefined;
  /** How remote servers are talked to. */
  readonly http?: McpHttpOptions | undefined;
  /** Gets the tokens of a remote server that has a provider of them. */
  readonly signIn?: SignIn | undefined;
  /** Takes one line of a child process. */
  readonly onLine: (line: string) => void;
}

/** Makes a fresh transport, not yet started. @throws {McpServerError} This runtime has none of the kind. */
export async function makeTransport(
  name: string,
  server: McpServer,
  options: TransportOptions,
): Promise<McpTransport> {
  switch (server.kind) {
    case "custom":
      return await server.transport();
    case "stdio": {
      const { stdio, onLine } = options;
      if (stdio !== undefined) return stdio({ name, server, onLine });
      throw new McpServerError(
        `stdio transport is not available on this runtime; for MCP server ${name} pass stdio: stdioTransport of @ejagent/core/mcp-stdio`,
        { server: name },
      );
    }
    case "streamable-http": {
      const { url, settings } = httpSettings(name, server, options.http);
      const guarded = guardedServer(url, settings);
      const watch = answerWatch(fetchOf(guarded, options.signIn));
      const transport = new StreamableHTTPClientTransport(url, {
        ...settings,
        fetch: watch.fetch,
      });
      watch.follow(transport);
      return withCodes(transport, guarded, options.signIn);
    }
    case "sse": {
      const { url, settings } = httpSettings(name, server, options.http);
      const { SSEClientTransport, SseError } = await import(
        "@modelcontextprotocol/sdk/client/sse.js"
      );
      const guarded = guardedServer(url, settings);
      const transport = new SSEClientTransport(url, {
        ...settings,
        fetch: fetchOf(guarded, options.signIn),
      });
      // Its stream would be taken up again for a session that shook no hands. The
      // event source starts a timer for that behind this very call.
      transport.onerror = (error: Error) => {
        if (error instanceof SseError) queueMicrotask(() => transport.close());
      };
      const start = transport.start.bind(transport);
      // The event source keeps only the words of an error.
      transport.start = () =>
        start().catch((error: unknown) => {
          throw options.signIn?.failure ?? error;
        });
      return withCodes(transport, guarded, options.signIn);
    }
  }
}

// A Worker refuses a fetch that is called as the member of an object.
const platformFetch: McpFetch = (url, init) => fetch(url, init);

function guardedServer(url: URL, settings: HttpSettings): GuardedServer {
  const { requestInit, redirectPolicy } = settings;
  const send = settings.fetch ?? platformFetch;
  const ask = createFetchWithInit(send, requestInit);
  return {
    url,
    send,
    ask: redirectPolicy === "follow"
      // The SDK does not know of the policy here and asks for the opposite.
      ? (url, init) => ask(url, { ...init, redirect: "follow" })
      : ask,
  };
}

function fetchOf(guarded: GuardedServer, signIn: SignIn | undefined): McpFetch {
  if (signIn === undefined) return guarded.send;
  return (url, init) => signIn.fetch(guarded, url, init);
}

// The SDK is given no provider, and so takes no codes either.
function withCodes<T extends { finishAuth(code: string): Promise<void> }>(
  transport: T,
  guarded: GuardedServer,
  signIn: SignIn | undefined,
): T {
  if (signIn !== undefined) {
    transport.finishAuth = (code) => signIn.finish(guarded, code);
  }
  return transport;
}

type HttpSettings = NonNullable<
  ConstructorParameters<typeof StreamableHTTPClientTransport>[1]
>;

function httpSettings(
  name: string,
  server: McpRemoteServer,
  options: McpHttpOptions = {},
): { readonly url: URL; readonly settings: HttpSettings } {
  const { requestInit, ...rest } = options;
  const { auth } = server;
  const headers = new Headers(requestInit?.headers);
  for (const header of Object.entries(server.headers ?? {})) {
    if (!isHeader(header)) {
      throw new McpServerError(
        `MCP server ${name} has a value for the header ${
          header[0]
        } that HTTP does not allow`,
        { server: name },
      );
    }
    headers.set(...header);
  }
  if (auth !== undefined) headers.set("authorization", `Bearer ${auth}`);
  const settings = {
    ...rest,
    requestInit: { ...requestInit, headers },
  };
  return {
    url: parseUrl(name, server.url),
    settings: settings as HttpSettings,
  };
}

function parseUrl(server: string, url: string): URL {
  if (isHttp(url)) return new URL(url);
  throw new McpServerError(
    `MCP server ${server} has a url that does not begin with http:// or https://`,
    { server },
  );
}
