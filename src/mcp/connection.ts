import { followSignal, unlessAborted } from "../base/abort.ts";
import { errorText } from "../base/errors.ts";
import type { McpServer } from "./config.ts";
import type { ConnectionOptions } from "./connection_options.ts";
import { McpServerError } from "./errors.ts";
import {
  closedServer,
  isUnknownSession,
  isUserAway,
  needsAuthorization,
  notConnected,
  serverFailure,
  troubleText,
  wantsAuthorization,
} from "./failure.ts";
import type { McpTool } from "./protocol.ts";
import { McpSession, type SessionCall } from "./session.ts";
import { SessionEnds } from "./session_ends.ts";
import { failedStatus, type McpServerStatus } from "./server_status.ts";
import { type SignIn, signInAt } from "./sign_in.ts";
import { readTools } from "./tool_list.ts";
import { makeTransport } from "./transport.ts";
import { withVariables } from "./variables.ts";

/** One server: its session as long as there is one, its tools, and how it is. */
export class McpConnection {
  /** Name of the server in the configuration. */
  readonly name: string;
  /** The server. */
  readonly server: McpServer;
  readonly #options: ConnectionOptions;
  #session: McpSession | undefined;
  /** The session that sent the user away for a code. */
  #awaitingCode: McpSession | undefined;
  readonly #signIn: SignIn | undefined;
  readonly #ends: SessionEnds;
  #isStarted = false;
  #opening: Promise<void> | undefined;
  #attempt: AbortController | undefined;
  #tools: readonly McpTool[] = [];
  #status: McpServerStatus;
  /** The session whose end the status tells of. */
  #lost: McpSession | undefined;

  /** Connects nothing yet. */
  constructor(name: string, server: McpServer, options: ConnectionOptions) {
    this.name = name;
    this.server = server;
    this.#options = options;
    this.#signIn = signInAt(server, options);
    this.#ends = new SessionEnds(name, options);
    this.#status = { status: server.disabled ? "disabled" : "closed" };
  }

  /** True from a start to the next stop. */
  get isStarted(): boolean {
    return this.#isStarted;
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

  /** Connects for the first time; until `close` the others may do so again. @throws {McpServerError} As `open`. */
  async start(): Promise<void> {
    this.#isStarted = true;
    await this.open();
  }

  /**
   * Connects and lists the tools, in a fresh session; whoever asks meanwhile waits
   * for the same.
   *
   * @throws {McpServerError} It did not work, as `status` says as well; or nobody would
   * close what is opened here.
   */
  async open(): Promise<void> {
    if (!this.#isStarted) throw closedServer(this.name, this.server);
    this.#opening ??= this.#open().finally(() => this.#opening = undefined);
    await this.#opening;
  }

  /**
   * Connects again if the connection was lost.
   *
   * @throws {McpServerError} It is lost and stays so, or its user has not come back yet.
   */
  async ensureOpen(): Promise<void> {
    // Another attempt would send the user away again and make the code worthless
    // that is on its way.
    if (this.#awaitingCode !== undefined) throw needsAuthorization(this.name);
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
      const result = await session.callTool(call);
      this.#noteAnswer(session);
      return result;
    } catch (error) {
      if (call.signal?.aborted) throw call.signal.reason;
      this.#noteAuthorization(session, error);
      if (!session.isKeptByServer || !isUnknownSession(error)) {
        throw await session.explainCall(error, call);
      }
      // Somebody else may have replaced the session by now.
      if (this.#session === session) this.#letGo(session);
      return "session_lost";
    }
  }

  /**
   * Takes the code that the user brought back from the authorization server; also for
   * a user whom another process sent there.
   *
   * @throws {McpServerError} The code is not taken.
   */
  async finishAuth(code: string): Promise<void> {
    const awaiting = this.#awaitingCode;
    const session = awaiting ?? this.#newSession(await this.#makeTransport());
    try {
      await session.finishAuth(code);
    } catch (error) {
      throw serverFailure(error, this.name);
    } finally {
      if (awaiting === undefined) this.#ends.close(session);
    }
    this.#awaitingCode = undefined;
    if (this.#session === session) this.#letGo(session);
  }

  /** Forgets the tools, and lets nobody connect until the next start. */
  stop(): void {
    this.#isStarted = false;
    this.#tools = [];
    this.#attempt?.abort(notConnected(this.name));
  }

  /** Stops and ends the session; programs that were started have ended then. */
  async close(): Promise<void> {
    this.stop();
    await this.#opening?.catch(() => {});
    const session = this.#session;
    this.#forgetSession();
    if (this.#status.status !== "disabled") this.#status = { status: "closed" };
    if (session !== undefined) await this.#ends.terminate(session);
    await this.#ends.finish();
  }

  // Other calls of it may still be answered, or hear by themselves that it is gone.
  #letGo(session: McpSession): void {
    this.#forgetSession();
    this.#status = { status: "closed" };
    this.#ends.closeWhenIdle(session);
  }

  async #open(): Promise<void> {
    const { name } = this;
    const { clock, connectTimeoutMs } = this.#options;
    this.#drop();
    const attempt = new AbortController();
    this.#attempt = attempt;
    const cancelTimer = clock.setTimer(connectTimeoutMs, () => {
      const message =
        `MCP server ${name} did not connect within ${connectTimeoutMs} ms (connectTimeoutMs)`;
      attempt.abort(new McpServerError(message, { server: name }));
    });
    try {
      await unlessAborted(this.#connect(attempt.signal), attempt.signal);
    } catch (error) {
      const failure = serverFailure(error, name);
      this.#status = failedStatus(this.server, error, failure);
      throw failure;
    } finally {
      cancelTimer();
      this.#attempt = undefined;
    }
  }

  async #connect(signal: AbortSignal): Promise<void> {
    const { connectTimeoutMs } = this.#options;
    this.#signIn?.startOver();
    const transport = await this.#makeTransport();
    // Nobody would close what is opened after the end of the attempt.
    signal.throwIfAborted();
    const session = this.#newSession(transport);
    const unfollow = followSignal(signal, () => this.#ends.close(session));
    try {
      await session.open(connectTimeoutMs, signal);
      const listed = await session.listTools(connectTimeoutMs);
      signal.throwIfAborted();
      session.requireOpen();
      this.#adopt(session, listed);
    } catch (error) {
      this.#ends.close(session);
      if (isUserAway(error)) this.#awaitingCode = session;
      throw await session.explain(error);
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
      signIn: this.#signIn,
      onLine: (line) =>
        logger.info?.("An MCP server wrote to standard error", {
          server: name,
          line,
        }),
    });
  }

  #newSession(transport: Awaited<ReturnType<typeof makeTransport>>) {
    const { clientInfo, hooks, clock, logger } = this.#options;
    const session: McpSession = new McpSession(transport, {
      server: this.name,
      clientInfo,
      hooks,
      clock,
      onToolsChanged: () => void this.#refresh(session),
      onClosed: () => {
        if (this.#session !== session) return;
        this.#drop();
        void this.#noteEnding(session);
      },
      onTrouble: (error) =>
        logger.info?.("An MCP server causes trouble", {
          server: this.name,
          error: troubleText(error, this.name),
        }),
    });
    return session;
  }

  #adopt(session: McpSession, listed: readonly unknown[]): void {
    this.#readTools(listed);
    this.#session = session;
    this.#awaitingCode = undefined;
    this.#status = { status: "connected" };
    this.#options.onToolsChanged(this.name);
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

  async #refresh(session: McpSession): Promise<void> {
    const { connectTimeoutMs, report, onToolsChanged } = this.#options;
    if (this.#session !== session) return;
    try {
      const listed = await session.listTools(connectTimeoutMs);
      if (this.#session !== session) return;
      this.#readTools(listed);
      onToolsChanged(this.name);
    } catch (error) {
      if (this.#session !== session) return;
      this.#noteAuthorization(session, error);
      report({
        kind: "list_failed",
        server: this.name,
        message: errorText(serverFailure(error, this.name)),
      });
    }
  }

  // It may have wanted to know who asks for something else.
  #noteAnswer(session: McpSession): void {
    if (this.#session !== session || this.#awaitingCode !== undefined) return;
    this.#status = { status: "connected" };
  }

  #noteAuthorization(session: McpSession, error: unknown): void {
    if (!wantsAuthorization(error)) return;
    const { message } = serverFailure(error, this.name);
    this.#status = { status: "needs_auth", error: message };
    if (isUserAway(error)) this.#awaitingCode = session;
  }

  // A program that ended is known to have a moment after its connection.
  async #noteEnding(session: McpSession): Promise<void> {
    this.#lost = session;
    const error = await session.lastWords();
    if (error === undefined || this.#lost !== session) return;
    const { server, message } = error;
    this.#status = { status: "closed", error: message };
    this.#options.report({ kind: "server_failed", server, message });
  }

  #drop(): void {
    const session = this.#session;
    this.#forgetSession();
    this.#status = { status: "closed" };
    if (session !== undefined) this.#ends.close(session);
  }

  #forgetSession(): void {
    this.#session = undefined;
    this.#lost = undefined;
  }
}
