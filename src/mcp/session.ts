import { withDeadline } from "../base/deadline.ts";
import type { Clock } from "../base/ports.ts";
import { McpServerError } from "./errors.ts";
import {
  connectionLost,
  endingText,
  isConnectionLost,
  serverFailure,
  timeoutText,
  totalTimeout,
} from "./failure.ts";
import { ListRefresh } from "./list_refresh.ts";
import { capabilitiesOf, installHooks, type McpHooks } from "./hooks.ts";
import { whilePending } from "./pending.ts";
import type {
  McpClientInfo,
  McpEnding,
  McpProgress,
  McpToolResult,
  McpTransport,
} from "./protocol.ts";
import {
  Client,
  ResultSchema,
  ToolListChangedNotificationSchema,
  type Transport,
} from "./sdk.ts";
import { readAllPages } from "./tool_list.ts";

/** What a session is opened with. */
export interface SessionOptions {
  /** Name of the server. */
  readonly server: string;
  /** How the client introduces itself. */
  readonly clientInfo: McpClientInfo;
  /** What the server may ask of the client. */
  readonly hooks: McpHooks;
  /** The server says that its tools are no longer the same; they have to be listed. */
  readonly onToolsChanged: () => void;
  /** The connection is gone. */
  readonly onClosed: () => void;
  /** Drives the waits. */
  readonly clock: Clock;
  /** Something went wrong that ends no request. */
  readonly onTrouble: (error: unknown) => void;
}

/** One call. */
export interface SessionCall {
  /** Name of the tool on the server. */
  readonly toolName: string;
  /** Its arguments. */
  readonly arguments: Readonly<Record<string, unknown>>;
  /** Milliseconds without an answer or progress. */
  readonly timeoutMs: number;
  /** Whether progress starts the time anew. */
  readonly resetTimeoutOnProgress: boolean;
  /** Milliseconds in all; null for no bound. */
  readonly maxTotalTimeoutMs: number | null;
  /** Cancels the call on the server as well. */
  readonly signal: AbortSignal | undefined;
  /** Told how far the call is. */
  readonly onProgress: (progress: McpProgress) => void;
}

/**
 * One connection to one server, from its handshake to its end. It is never opened
 * again: the client of the SDK cannot be.
 */
export class McpSession {
  readonly #client: Client;
  readonly #transport: McpTransport;
  readonly #options: SessionOptions;
  readonly #toolList: ListRefresh;
  readonly #calls = new Set<Promise<unknown>>();
  #isUsed = false;

  /** Connects nothing yet. */
  constructor(transport: McpTransport, options: SessionOptions) {
    const { server, clientInfo, hooks, clock, onToolsChanged } = options;
    this.#transport = transport;
    this.#options = options;
    this.#toolList = new ListRefresh(clock, onToolsChanged);
    this.#client = new Client({ ...clientInfo }, {
      capabilities: capabilitiesOf(hooks),
      // The validator of the SDK generates code, which Workers forbid, and checks
      // the tools of the last page only.
      jsonSchemaValidator: acceptAll,
    });
    installHooks(this.#client, server, hooks);
  }

  /** What the server says about its use. */
  get instructions(): string | undefined {
    return this.#client.getInstructions();
  }

  /** True if the server can forget this session without closing the connection. */
  get isKeptByServer(): boolean {
    return this.#transport.sessionId !== undefined;
  }

  /** Nobody was told of an end that came before the session was used. @throws {McpError} It has ended. */
  requireOpen(): void {
    if (this.#client.transport === undefined) throw connectionLost();
  }

  /** Shakes hands. */
  async open(timeoutMs: number, signal: AbortSignal): Promise<void> {
    const { onClosed, onTrouble } = this.#options;
    const client = this.#client;
    this.#isUsed = true;
    client.onclose = onClosed;
    client.onerror = onTrouble;
    await whilePending(signal, async (own) => {
      await client.connect(this.#transport as Transport, {
        timeout: timeoutMs,
        signal: own.signal,
      });
    });
    if (client.getServerCapabilities()?.tools?.listChanged === true) {
      client.setNotificationHandler(
        ToolListChangedNotificationSchema,
        () => this.#toolList.announce(),
      );
    }
  }

  /** Everything that the server lists as a tool, unread. */
  async listTools(timeoutMs: number): Promise<readonly unknown[]> {
    if (this.#client.getServerCapabilities()?.tools === undefined) return [];
    // The schema of the SDK would refuse the whole list for one odd tool.
    const listPage = (cursor: string | undefined) =>
      this.#client.request(
        {
          method: "tools/list",
          params: cursor === undefined ? {} : { cursor },
        },
        ResultSchema,
        { timeout: timeoutMs },
      );
    return await this.#toolList.read(() => readAllPages(listPage));
  }

  /** Calls a tool. */
  async callTool(call: SessionCall): Promise<McpToolResult> {
    const pending = this.#call(call);
    this.#calls.add(pending);
    try {
      return await pending;
    } finally {
      this.#calls.delete(pending);
    }
  }

  /** Resolves when no call is pending. */
  async callsSettled(): Promise<void> {
    await Promise.allSettled(this.#calls);
  }

  async #call(call: SessionCall): Promise<McpToolResult> {
    return await whilePending(call.signal, async (own) => {
      const cancelTimer = this.#limit(own, call.maxTotalTimeoutMs);
      try {
        return await this.#request(call, own.signal);
      } finally {
        cancelTimer();
      }
    });
  }

  async #request(call: SessionCall, signal: AbortSignal) {
    const result: unknown = await this.#client.request(
      {
        method: "tools/call",
        params: { name: call.toolName, arguments: { ...call.arguments } },
      },
      ResultSchema,
      {
        signal,
        // Without a listener the server would not be asked for progress, and
        // progress would not extend the time.
        onprogress: call.onProgress,
        timeout: call.timeoutMs,
        resetTimeoutOnProgress: call.resetTimeoutOnProgress,
      },
    );
    return result as McpToolResult;
  }

  // The SDK has such a limit as well, but looks at it when progress comes and does not
  // tell the server.
  #limit(own: AbortController, maxTotalTimeoutMs: number | null): () => void {
    if (maxTotalTimeoutMs === null) return () => {};
    return this.#options.clock.setTimer(
      maxTotalTimeoutMs,
      () => own.abort(totalTimeout()),
    );
  }

  /** How the program of the server ended; undefined if there is none or it is still there. */
  async ending(): Promise<McpEnding | undefined> {
    const { clock } = this.#options;
    const { ending } = this.#transport;
    if (ending === undefined) return undefined;
    return await withDeadline(() => ending.call(this.#transport), {
      clock,
      ms: endingTimeoutMs,
      what: "Asking how a program ended",
    }).catch(() => undefined);
  }

  /** That the program of the server ended, as an error; undefined as `ending`. */
  async lastWords(cause?: unknown): Promise<McpServerError | undefined> {
    const { server } = this.#options;
    const ending = await this.ending();
    if (ending === undefined) return undefined;
    return new McpServerError(endingText(server, ending), { server, cause });
  }

  /** Why the session could not be opened. */
  async explain(error: unknown): Promise<unknown> {
    if (!isConnectionLost(error)) return error;
    return await this.lastWords(error) ?? error;
  }

  /** Why a call failed, in words that the model may read. */
  async explainCall(
    error: unknown,
    call: SessionCall,
  ): Promise<McpServerError> {
    const { server } = this.#options;
    const late = timeoutText(error, server, call);
    if (late !== undefined) return failed(late);
    if (!isConnectionLost(error)) return serverFailure(error, server);
    const ending = await this.ending();
    const how = ending === undefined ? "" : ` (its program ${ending.how})`;
    return failed(
      `MCP server ${server} closed the connection${how}; the call may have been carried out`,
    );

    function failed(message: string): McpServerError {
      return new McpServerError(message, { server, cause: error });
    }
  }

  /** Lets the server forget the session, if it is one that it keeps. */
  async terminate(): Promise<void> {
    const { terminateSession } = this.#transport as Terminable;
    await terminateSession?.call(this.#transport);
  }

  /** Gives a code that the user brought back to the provider of tokens. */
  async finishAuth(code: string): Promise<void> {
    const { finishAuth } = this.#transport as Terminable;
    if (finishAuth === undefined) {
      const { server } = this.#options;
      throw new McpServerError(
        `MCP server ${server} has a transport that knows no authorization`,
        { server },
      );
    }
    await finishAuth.call(this.#transport, code);
  }

  /** Ends the connection. */
  async close(): Promise<void> {
    this.#toolList.end();
    // A client closes only what it has opened.
    await (this.#isUsed ? this.#client : this.#transport).close();
  }
}

// Its connection has ended, so this takes long only if the program closed its output and stays.
const endingTimeoutMs = 500;

interface Terminable {
  terminateSession?(): Promise<void>;
  finishAuth?(code: string): Promise<void>;
}

const acceptAll = {
  getValidator: () => (input: unknown) => ({
    valid: true as const,
    data: input as never,
    errorMessage: undefined,
  }),
};
