import { followSignal } from "../base/abort.ts";
import { withDeadline } from "../base/deadline.ts";
import { errorText } from "../base/errors.ts";
import type { Clock, Logger } from "../base/ports.ts";
import type { McpServer } from "./config.ts";
import type { ReportDiagnostic } from "./diagnostic.ts";
import { McpServerError } from "./errors.ts";
import {
  isUnknownSession,
  serverFailure,
  wantsAuthorization,
} from "./failure.ts";
import type { McpHooks } from "./hooks.ts";
import { unlessAborted } from "./pending.ts";
import type { McpClientInfo, McpTool } from "./protocol.ts";
import { McpSession, type SessionCall } from "./session.ts";
import { readTools } from "./tool_list.ts";
import {
  makeTransport,
  type McpHttpOptions,
  type McpTransportFactory,
} from "./transport.ts";
import { type McpVariables, withVariables } from "./variables.ts";

/** How a server is. */
export interface McpServerStatus {
  /** `"closed"` before start-up, after shutdown, and when the connection was lost. */
  readonly status:
    | "connected"
    | "failed"
    | "needs_auth"
    | "closed"
    | "disabled";
  /** Why it failed. */
  readonly error?: string;
}

/** What all connections of a manager share. */
export interface ConnectionOptions {
  /** Milliseconds that connecting and listing may take. */
  readonly connectTimeoutMs: number;
  /** How the client introduces itself. */
  readonly clientInfo: McpClientInfo;
  /** What servers may ask of the client. */
  readonly hooks: McpHooks;
  /** Values for `${NAME}`; undefined expands nothing. */
  readonly variables: McpVariables | undefined;
  /** Starts child processes. */
  readonly stdio: McpTransportFactory | undefined;
  /** How remote servers are talked to. */
  readonly http: McpHttpOptions | undefined;
  /** Drives the waits. */
  readonly clock: Clock;
  /** Told what is only good to know. */
  readonly logger: Logger;
  /** Told what somebody should know. */
  readonly report: ReportDiagnostic;
  /** The tools of the connection are others now. */
  readonly onToolsChanged: (connection: McpConnection) => void;
}

const changesSettleMs = 300;
const terminateTimeoutMs = 2000;

/** One server: its session as long as there is one, its tools, and how it is. */
export class McpConnection {
  /** Name of the server in the configuration. */
  readonly name: string;
  /** The server. */
  readonly server: McpServer;
  readonly #options: ConnectionOptions;
  #session: McpSession | undefined;
  #unauthorized: McpSession | undefined;
  #opening: Promise<void> | undefined;
  #attempt: AbortController | undefined;
  #tools: readonly McpTool[] = [];
  #status: McpServerStatus;
  #cancelRefresh: (() => void) | undefined;

  /** Connects nothing yet. */
  constructor(name: string, server: McpServer, options: ConnectionOptions) {
    this.name = name;
    this.server = server;
    this.#options = options;
    this.#status = { status: server.disabled ? "disabled" : "closed" };
  }

  /** How the server is. */
  get status(): McpServerStatus {
    return this.#status;
  }

  /** What the server listed last; stays when the connection is lost. */
  get tools(): readonly McpTool[] {
    return this.#tools;
  }

  /** What the server says about its use. */
  get instructions(): string | undefined {
    return this.#session?.instructions;
  }

  /**
   * Connects and lists the tools, in a fresh session; whoever asks meanwhile waits
   * for the same.
   *
   * @throws {McpServerError} It did not work; `status` says so as well.
   */
  open(): Promise<void> {
    this.#opening ??= this.#open().finally(() => this.#opening = undefined);
    return this.#opening;
  }

  /**
   * Connects again if the connection was lost.
   *
   * @throws {McpServerError} It is lost and stays so.
   */
  async ensureOpen(): Promise<void> {
    if (this.#session !== undefined) return;
    try {
      await this.open();
    } catch (cause) {
      throw notConnected(this.name, cause);
    }
  }

  /**
   * Calls a tool.
   *
   * @returns `"session_lost"` if the server did not know the session, so that the
   * call was certainly not executed.
   * @throws {McpServerError} The call failed.
   * @throws The reason of the signal if it aborts.
   */
  async callTool(call: SessionCall): Promise<object | "session_lost"> {
    const session = this.#session;
    if (session === undefined) throw notConnected(this.name);
    try {
      return await session.callTool(call);
    } catch (error) {
      if (call.signal?.aborted) throw call.signal.reason;
      if (!session.isKeptByServer || !isUnknownSession(error)) {
        throw serverFailure(error, this.name);
      }
      // Somebody else may have replaced the session by now.
      if (this.#session === session) this.#drop();
      return "session_lost";
    }
  }

  /** Takes the code that the user brought back from the authorization server, and connects. */
  async finishAuth(code: string): Promise<void> {
    try {
      await this.#unauthorized?.finishAuth(code);
    } catch (error) {
      throw serverFailure(error, this.name);
    }
    await this.open();
  }

  /** Ends the session and forgets the tools. */
  async close(): Promise<void> {
    this.#attempt?.abort(notConnected(this.name));
    await this.#opening?.catch(() => {});
    const session = this.#session;
    this.#forgetSession();
    this.#tools = [];
    if (this.#status.status !== "disabled") this.#status = { status: "closed" };
    if (session === undefined) return;
    const { clock, logger } = this.#options;
    const say = (error: unknown) =>
      logger.info?.("An MCP server could not be told that its session ends", {
        server: this.name,
        error: serverFailure(error, this.name).message,
      });
    await withDeadline(() => session.terminate(), {
      clock,
      ms: terminateTimeoutMs,
      what: `Ending the session with MCP server ${this.name}`,
    }).catch(say);
    await session.close().catch(say);
  }

  async #open(): Promise<void> {
    const { name } = this;
    const { clock, connectTimeoutMs } = this.#options;
    this.#drop();
    const attempt = new AbortController();
    this.#attempt = attempt;
    const cancelTimer = clock.setTimer(connectTimeoutMs, () => {
      const message =
        `MCP server ${name} did not connect within ${connectTimeoutMs} ms`;
      attempt.abort(new McpServerError(message, { server: name }));
    });
    try {
      await unlessAborted(attempt.signal, this.#connect(attempt.signal));
    } catch (error) {
      const failure = serverFailure(error, name);
      this.#status = {
        status: wantsAuthorization(error) ? "needs_auth" : "failed",
        error: failure.message,
      };
      throw failure;
    } finally {
      cancelTimer();
      this.#attempt = undefined;
    }
  }

  async #connect(signal: AbortSignal): Promise<void> {
    const { connectTimeoutMs } = this.#options;
    const transport = await this.#makeTransport();
    // Nobody would close what is opened after the end of the attempt.
    signal.throwIfAborted();
    const session = this.#newSession(transport);
    const unfollow = followSignal(signal, () => session.abandon());
    try {
      await session.open(connectTimeoutMs, signal);
      const listed = await session.listTools(connectTimeoutMs);
      signal.throwIfAborted();
      this.#adopt(session, listed);
    } catch (error) {
      session.abandon();
      if (wantsAuthorization(error)) this.#unauthorized = session;
      throw error;
    } finally {
      unfollow();
    }
  }

  async #makeTransport() {
    const { variables, stdio, http, logger } = this.#options;
    const { name } = this;
    const server = variables === undefined
      ? this.server
      : withVariables(name, this.server, variables);
    return await makeTransport(name, server, {
      ...(stdio !== undefined && { stdio }),
      ...(http !== undefined && { http }),
      onLine: (line) =>
        logger.info?.("An MCP server wrote to standard error", {
          server: name,
          line,
        }),
    });
  }

  #newSession(transport: Awaited<ReturnType<typeof makeTransport>>) {
    const { clientInfo, hooks, logger } = this.#options;
    const session: McpSession = new McpSession(transport, {
      server: this.name,
      clientInfo,
      hooks,
      onToolsChanged: () => this.#refreshSoon(session),
      onClosed: () => {
        if (this.#session === session) this.#drop();
      },
      onTrouble: (error) =>
        logger.info?.("An MCP server causes trouble", {
          server: this.name,
          error: serverFailure(error, this.name).message,
        }),
    });
    return session;
  }

  #adopt(session: McpSession, listed: readonly unknown[]): void {
    this.#readTools(listed);
    this.#session = session;
    this.#unauthorized = undefined;
    this.#status = { status: "connected" };
    this.#options.onToolsChanged(this);
  }

  #readTools(listed: readonly unknown[]): void {
    const { tools, leftOut } = readTools(listed, this.name);
    this.#tools = tools;
    for (const { toolName, message } of leftOut) {
      this.#options.report({
        kind: "tool_left_out",
        server: this.name,
        toolName,
        message,
      });
    }
  }

  // Servers announce several changes at once, one by one.
  #refreshSoon(session: McpSession): void {
    this.#cancelRefresh?.();
    this.#cancelRefresh = this.#options.clock.setTimer(
      changesSettleMs,
      () => void this.#refresh(session),
    );
  }

  async #refresh(session: McpSession): Promise<void> {
    const { connectTimeoutMs, report, onToolsChanged } = this.#options;
    try {
      const listed = await session.listTools(connectTimeoutMs);
      if (this.#session !== session) return;
      this.#readTools(listed);
      onToolsChanged(this);
    } catch (error) {
      if (this.#session !== session) return;
      report({
        kind: "list_failed",
        server: this.name,
        message: errorText(serverFailure(error, this.name)),
      });
    }
  }

  #drop(): void {
    const session = this.#session;
    this.#forgetSession();
    this.#status = { status: "closed" };
    session?.abandon();
  }

  #forgetSession(): void {
    this.#cancelRefresh?.();
    this.#cancelRefresh = undefined;
    this.#session = undefined;
  }
}

function notConnected(server: string, cause?: unknown): McpServerError {
  return new McpServerError(`MCP server ${server} is not connected`, {
    server,
    cause,
  });
}
