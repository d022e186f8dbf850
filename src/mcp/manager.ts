import { throwIfAborted, unlessAborted } from "../base/abort.ts";
import {
  consoleLogger,
  containedLogger,
  type Logger,
  longestTimerMs,
  systemClock,
} from "../base/ports.ts";
import { requireMethods, requireNumber } from "../base/require.ts";
import { UnknownToolError } from "../tools/errors.ts";
import { callHook } from "../base/call_hook.ts";
import { parseMcpConfig } from "./config.ts";
import { McpConnection } from "./connection.ts";
import { type McpDiagnostic, McpDiagnostics } from "./diagnostic.ts";
import { McpServerError } from "./errors.ts";
import { Lifecycle } from "./lifecycle.ts";
import { requireMcpOptions } from "./option_check.ts";
import type { McpServerManagerOptions } from "./options.ts";
import type { McpProgress, McpTool, McpToolResult } from "./protocol.ts";
import type { McpServerStatus } from "./server_status.ts";
import { type Route, type Routes, routesOf, toolChanges } from "./routes.ts";

/** What a call is made with. */
export interface McpCallOptions {
  /** Ends the call, on the server as well. */
  readonly signal?: AbortSignal | undefined;
  /** Told how far the call is. */
  readonly progress?: ((progress: McpProgress) => void) | undefined;
}

/**
 * Knows servers and calls their tools.
 *
 * {@linkcode McpServerManager} is one; another one may share connections between
 * agents, or have no connections at all.
 */
export interface McpManager {
  /** Makes it ready; called before anything else. */
  startup(): void | Promise<void>;
  /** Gives back what `startup` took. */
  shutdown(): void | Promise<void>;
  /** The tools under the names that the model sees. */
  listTools(): readonly McpTool[] | Promise<readonly McpTool[]>;
  /** Calls a tool by the name that the model sees. */
  callTool(
    name: string,
    args: Readonly<Record<string, unknown>>,
    options: McpCallOptions,
  ): Promise<McpToolResult>;
  /** Tells about other tools as soon as there are any. @returns A function that ends it. */
  watchTools?(changed: (tools: readonly McpTool[]) => void): () => void;
  /** How a server is; undefined if there is none of this name. */
  serverStatus?(server: string): McpServerStatus | undefined;
  /** What a server says about its use. */
  serverInstructions?(server: string): string | undefined;
  /** Takes the code that the user brought back from the authorization server. */
  finishAuth?(server: string, code: string): Promise<void>;
  /** Connects to a server anew. */
  reconnect?(server: string): Promise<void>;
  /** What somebody should know. */
  readonly diagnostics?: readonly McpDiagnostic[];
  /** Names of the servers, in order. */
  readonly serverNames?: readonly string[];
}

/**
 * Connects to servers, keeps the connections, and calls the tools behind them.
 *
 * A server that cannot be connected does not stop the others, unless it is required.
 */
export class McpServerManager implements McpManager {
  readonly #options: McpServerManagerOptions;
  readonly #logger: Logger;
  readonly #timeoutMs: number;
  readonly #maxTotalTimeoutMs: number | null;
  readonly #connections: readonly McpConnection[];
  readonly #diagnostics: McpDiagnostics;
  readonly #watchers = new Set<(tools: readonly McpTool[]) => void>();
  readonly #lifecycle = new Lifecycle();
  #routes: Routes = new Map();

  /**
   * Connects nothing yet.
   *
   * @throws {TypeError} There is neither or both of `config` and `servers`, or one is wrong.
   */
  constructor(options: McpServerManagerOptions) {
    requireMcpOptions(options);
    const { config, servers, logger = consoleLogger, maxTotalTimeoutMs } =
      options;
    if ((config === undefined) === (servers === undefined)) {
      throw new TypeError("McpServerManager needs either config or servers");
    }
    requireMethods("logger", logger, ["warn"]);
    this.#options = options;
    this.#logger = containedLogger(logger);
    this.#timeoutMs = requireMs("timeoutMs", options.timeoutMs ?? 60_000);
    this.#maxTotalTimeoutMs = maxTotalTimeoutMs === undefined
      ? null
      : requireMs("maxTotalTimeoutMs", maxTotalTimeoutMs);
    this.#diagnostics = new McpDiagnostics(logger, options.onDiagnostic);
    const { mcpServers } = parseMcpConfig(config ?? { mcpServers: servers });
    const shared = {
      connectTimeoutMs: requireMs(
        "connectTimeoutMs",
        options.connectTimeoutMs ?? 30_000,
      ),
      clientInfo: options.clientInfo ?? { name: "ejagent", version: "1" },
      hooks: options,
      variables: options.env,
      stdio: options.stdio,
      http: options.http,
      clock: options.clock ?? systemClock,
      logger: this.#logger,
      report: this.#diagnostics.report,
      onToolsChanged: (server: string) => this.#publish(this.#find(server)),
    };
    this.#connections = Object.entries(mcpServers).map(([name, server]) =>
      new McpConnection(name, server, shared)
    );
  }

  /** Names of the servers, in the order of the configuration. */
  get serverNames(): readonly string[] {
    return this.#connections.map(({ name }) => name);
  }

  /** What is wrong with servers and tools, oldest first. */
  get diagnostics(): readonly McpDiagnostic[] {
    return this.#diagnostics.all;
  }

  /** How a server is; undefined if there is none of this name. */
  serverStatus(server: string): McpServerStatus | undefined {
    return this.#find(server)?.status;
  }

  /** What a server says about its use; nobody else shows it to the model. */
  serverInstructions(server: string): string | undefined {
    return this.#find(server)?.instructions;
  }

  /**
   * Connects to all servers at once. Does nothing if it is started; waits for a
   * shutdown that is under way.
   *
   * @throws {McpServerError} A required server failed; the others are closed again.
   * @throws {AgentCancelledError} `shutdown` was called meanwhile.
   */
  startup(): Promise<void> {
    return this.#lifecycle.startup((signal) => this.#start(signal));
  }

  async #start(signal: AbortSignal): Promise<void> {
    this.#diagnostics.clear();
    const enabled = this.#connections.filter(({ server }) => !server.disabled);
    try {
      await Promise.all(
        enabled.map((connection) => this.#connect(connection, signal)),
      );
    } catch (error) {
      this.#forgetTools();
      await this.#close();
      throw error;
    }
    throwIfAborted(signal);
  }

  /** Closes all connections, last first, and forgets the tools; ends a start-up. */
  shutdown(): Promise<void> {
    const done = this.#lifecycle.shutdown(() => this.#close());
    this.#forgetTools();
    return done;
  }

  // First of all, so that no call opens again what is being closed.
  #forgetTools(): void {
    for (const connection of this.#connections) connection.stop();
    this.#publish();
  }

  async #close(): Promise<void> {
    for (const connection of [...this.#connections].reverse()) {
      await connection.close();
    }
  }

  /** The tools of all servers: in the order of the configuration, then of each server. */
  listTools(): readonly McpTool[] {
    return [...this.#routes.values()].map(({ tool }) => tool);
  }

  /** Tells about other tools as soon as there are any. @returns A function that ends it. */
  watchTools(changed: (tools: readonly McpTool[]) => void): () => void {
    // The same function may watch twice, and then ends twice.
    const watcher = (tools: readonly McpTool[]) => changed(tools);
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  }

  /**
   * Calls a tool, after connecting again if its connection was lost. A call is sent
   * twice only if its server did not know the session any longer and thus refused it.
   *
   * @throws {UnknownToolError} As a rejection: no server has this tool (any longer).
   * @throws {McpServerError} As a rejection: the server did not answer.
   * @throws The reason of the signal, as a rejection, if it aborts.
   */
  async callTool(
    name: string,
    args: Readonly<Record<string, unknown>>,
    options: McpCallOptions = {},
  ): Promise<McpToolResult> {
    const result = await this.#call(name, args, options);
    if (result !== "session_lost") return result;
    const again = await this.#call(name, args, options);
    if (again !== "session_lost") return again;
    const server = this.#requireRoute(name).connection.name;
    throw new McpServerError(`MCP server ${server} is not connected`, {
      server,
    });
  }

  /**
   * Takes the code that the user brought back from the authorization server of a
   * server that needs authorization, and connects to it. Before `startup` it only lets
   * the provider keep the tokens.
   *
   * @throws {RangeError} As a rejection: there is no server of this name.
   * @throws {McpServerError} As a rejection: it did not work.
   */
  async finishAuth(server: string, code: string): Promise<void> {
    const connection = this.#require(server);
    await connection.finishAuth(code);
    if (this.#lifecycle.isUp) await connection.open();
  }

  /**
   * Connects to a server anew, also if it had failed before, and lists its tools.
   *
   * @throws {RangeError} As a rejection: there is no server of this name.
   * @throws {McpServerError} As a rejection: it did not work, or nothing is started up.
   */
  async reconnect(server: string): Promise<void> {
    await this.#require(server).open();
  }

  async #call(
    name: string,
    args: Readonly<Record<string, unknown>>,
    { signal, progress = ignore }: McpCallOptions,
  ): Promise<McpToolResult | "session_lost"> {
    const { connection } = this.#requireRoute(name);
    signal?.throwIfAborted();
    await unlessAborted(connection.ensureOpen(), signal);
    // Connecting again lists the tools again, and this one may be gone.
    const { tool } = this.#requireRoute(name);
    return await connection.callTool({
      toolName: tool.toolName!,
      arguments: args,
      timeoutMs: timerMs(connection.server.timeoutMs ?? this.#timeoutMs),
      resetTimeoutOnProgress: this.#options.resetTimeoutOnProgress ?? true,
      maxTotalTimeoutMs: this.#maxTotalTimeoutMs,
      signal,
      onProgress: progress,
    });
  }

  /** Connects one server; only a required one that fails ends the start-up. */
  async #connect(
    connection: McpConnection,
    signal: AbortSignal,
  ): Promise<void> {
    try {
      await connection.start();
    } catch (error) {
      // Neither a shutdown nor the end of this start-up says anything of the server.
      if (signal.aborted || !connection.isStarted) return;
      const { name, server, status } = connection;
      if (server.required) throw error;
      this.#diagnostics.report({
        kind: "server_failed",
        server: name,
        message: status.error ?? `MCP server ${name} failed`,
      });
    }
  }

  #publish(source?: McpConnection): void {
    const before = this.#routes;
    this.#routes = routesOf(
      this.#connections,
      // Who connects first at start-up must not decide who gets a name.
      this.#lifecycle.isUp ? before : new Map(),
      this.#diagnostics.report,
    );
    const tools = this.listTools();
    for (const watcher of this.#watchers) {
      callHook("A watcher of MCP tools", this.#logger, () => watcher(tools));
    }
    if (source === undefined || !this.#lifecycle.isUp) return;
    const changes = toolChanges(before, this.#routes, source);
    if (changes === undefined) return;
    callHook("onToolsChanged", this.#logger, () => {
      return this.#options.onToolsChanged?.(source.name, changes);
    });
  }

  #find(server: string): McpConnection | undefined {
    return this.#connections.find(({ name }) => name === server);
  }

  #require(server: string): McpConnection {
    const connection = this.#find(server);
    if (connection !== undefined) return connection;
    throw new RangeError(`There is no MCP server "${server}"`);
  }

  #requireRoute(name: string): Route {
    const route = this.#routes.get(name);
    if (route !== undefined) return route;
    throw new UnknownToolError(name, this.#routes.keys());
  }
}

function requireMs(name: string, value: unknown): number {
  return timerMs(requireNumber(name, value, 1));
}

function timerMs(ms: number): number {
  return Math.min(ms, longestTimerMs);
}

function ignore(): void {}
