import { canonicalJson } from "../base/json.ts";
import {
  type Clock,
  consoleLogger,
  type Logger,
  systemClock,
} from "../base/ports.ts";
import { requireMethods, requireNumber } from "../base/require.ts";
import { UnknownToolError } from "../tools/errors.ts";
import { type McpServerInput, parseMcpConfig } from "./config.ts";
import { McpConnection, type McpServerStatus } from "./connection.ts";
import { type McpDiagnostic, McpDiagnostics } from "./diagnostic.ts";
import { McpServerError } from "./errors.ts";
import type { McpHooks } from "./hooks.ts";
import { exposedToolNames } from "./names.ts";
import { unlessAborted } from "./pending.ts";
import type {
  McpClientInfo,
  McpProgress,
  McpTool,
  McpToolResult,
} from "./protocol.ts";
import type { McpHttpOptions, McpTransportFactory } from "./transport.ts";
import type { McpVariables } from "./variables.ts";

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
  /** What somebody should know. */
  readonly diagnostics?: readonly McpDiagnostic[];
  /** Names of the servers, in order. */
  readonly serverNames?: readonly string[];
}

/** How the tools of a server changed, by the names that the model sees. */
export interface McpToolChanges {
  /** Tools that are new. */
  readonly added: readonly string[];
  /** Tools that are gone. */
  readonly removed: readonly string[];
  /** Tools that are described in another way. */
  readonly changed: readonly string[];
}

/** How servers are connected and talked to. */
export interface McpConnectionOptions extends McpHooks {
  /** Values for `${NAME}` in configurations; without them nothing is expanded. */
  readonly env?: McpVariables;
  /** Starts child processes: `stdioTransport` of `@ejagent/core/mcp-stdio`. */
  readonly stdio?: McpTransportFactory;
  /** How remote servers are talked to. */
  readonly http?: McpHttpOptions;
  /** How the client introduces itself. @default {{ name: "ejagent", version: "1" }} */
  readonly clientInfo?: McpClientInfo;
  /** Milliseconds that connecting to a server and listing its tools may take. @default {30000} */
  readonly connectTimeoutMs?: number;
  /** Milliseconds that a call may take without progress. @default {60000} */
  readonly timeoutMs?: number;
  /** Whether progress starts the time of a call anew. @default {true} */
  readonly resetTimeoutOnProgress?: boolean;
  /** Milliseconds that a call may take in all; no bound if omitted. */
  readonly maxTotalTimeoutMs?: number;
  /** Told when a server has other tools than before. */
  readonly onToolsChanged?: (server: string, changes: McpToolChanges) => void;
  /** Told of everything that is wrong with servers and tools. */
  readonly onDiagnostic?: (diagnostic: McpDiagnostic) => void;
  /** Warned once of each thing that is wrong. @default {consoleLogger} */
  readonly logger?: Logger;
  /** Drives the waits, except those for answers. @default {systemClock} */
  readonly clock?: Clock;
}

/** What an {@linkcode McpServerManager} is made from: either `config` or `servers`. */
export interface McpServerManagerOptions extends McpConnectionOptions {
  /** A configuration, see {@linkcode parseMcpConfig}. */
  readonly config?: unknown;
  /** Servers by name. */
  readonly servers?: Readonly<Record<string, McpServerInput>>;
}

interface Route {
  readonly connection: McpConnection;
  readonly tool: McpTool;
}

/**
 * Connects to servers, keeps the connections, and calls the tools behind them.
 *
 * A server that cannot be connected does not stop the others, unless it is required.
 */
export class McpServerManager implements McpManager {
  readonly #options: McpServerManagerOptions;
  readonly #connections: readonly McpConnection[];
  readonly #diagnostics: McpDiagnostics;
  readonly #watchers = new Set<(tools: readonly McpTool[]) => void>();
  #routes: ReadonlyMap<string, Route> = new Map();
  #started = false;

  /**
   * Connects nothing yet.
   *
   * @throws {TypeError} There is neither or both of `config` and `servers`, or one is wrong.
   */
  constructor(options: McpServerManagerOptions) {
    const { config, servers, logger = consoleLogger } = options;
    if ((config === undefined) === (servers === undefined)) {
      throw new TypeError("McpServerManager needs either config or servers");
    }
    requireMethods("logger", logger, ["warn"]);
    const connectTimeoutMs = requireNumber(
      "connectTimeoutMs",
      options.connectTimeoutMs ?? 30_000,
      1,
    );
    requireNumber("timeoutMs", options.timeoutMs ?? 1, 1);
    requireNumber("maxTotalTimeoutMs", options.maxTotalTimeoutMs ?? 1, 1);
    this.#options = options;
    this.#diagnostics = new McpDiagnostics(logger, options.onDiagnostic);
    const { mcpServers } = parseMcpConfig(config ?? { mcpServers: servers });
    const shared = {
      connectTimeoutMs,
      clientInfo: options.clientInfo ?? { name: "ejagent", version: "1" },
      hooks: options,
      variables: options.env,
      stdio: options.stdio,
      http: options.http,
      clock: options.clock ?? systemClock,
      logger,
      report: this.#diagnostics.report,
      onToolsChanged: (connection: McpConnection) => this.#publish(connection),
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
   * Connects to all servers at once. Does nothing if it is started.
   *
   * @throws {McpServerError} A required server failed; the others are closed again.
   */
  async startup(): Promise<void> {
    if (this.#started) return;
    this.#started = true;
    const failures = await Promise.all(
      this.#connections
        .filter(({ server }) => !server.disabled)
        .map((connection) => this.#connect(connection)),
    );
    const fatal = failures.find((failure) => failure !== undefined);
    if (fatal === undefined) return;
    await this.shutdown();
    throw fatal;
  }

  /** Closes all connections, last first, and forgets the tools. */
  async shutdown(): Promise<void> {
    this.#started = false;
    for (const connection of [...this.#connections].reverse()) {
      await connection.close();
    }
    this.#publish();
  }

  /** The tools of all servers: in the order of the configuration, then of each server. */
  listTools(): readonly McpTool[] {
    return [...this.#routes.values()].map(({ tool }) => tool);
  }

  /** Tells about other tools as soon as there are any. @returns A function that ends it. */
  watchTools(changed: (tools: readonly McpTool[]) => void): () => void {
    this.#watchers.add(changed);
    return () => this.#watchers.delete(changed);
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
   * server that needs authorization, and connects it.
   *
   * @throws {RangeError} As a rejection: there is no server of this name.
   * @throws {McpServerError} As a rejection: it did not work.
   */
  async finishAuth(server: string, code: string): Promise<void> {
    const connection = this.#find(server);
    if (connection === undefined) {
      throw new RangeError(`There is no MCP server "${server}"`);
    }
    await connection.finishAuth(code);
  }

  async #call(
    name: string,
    args: Readonly<Record<string, unknown>>,
    { signal, progress = ignore }: McpCallOptions,
  ): Promise<McpToolResult | "session_lost"> {
    const { connection } = this.#requireRoute(name);
    await unlessAborted(signal, connection.ensureOpen());
    // Connecting again lists the tools again, and this one may be gone.
    const { tool } = this.#requireRoute(name);
    const { timeoutMs = 60_000, resetTimeoutOnProgress = true } = this.#options;
    return await connection.callTool({
      toolName: tool.toolName!,
      arguments: args,
      timeoutMs: connection.server.timeoutMs ?? timeoutMs,
      resetTimeoutOnProgress,
      maxTotalTimeoutMs: this.#options.maxTotalTimeoutMs ?? null,
      signal,
      onProgress: progress,
    });
  }

  /** Connects one server. @returns Why the start-up has to fail, if it has to. */
  async #connect(connection: McpConnection): Promise<unknown> {
    try {
      await connection.open();
      return undefined;
    } catch (error) {
      const { name, server, status } = connection;
      if (server.required) return error;
      this.#diagnostics.report({
        kind: "server_failed",
        server: name,
        message: status.error ?? `MCP server ${name} failed`,
      });
      return undefined;
    }
  }

  #publish(source?: McpConnection): void {
    const before = this.#routes;
    this.#routes = this.#routesNow();
    const tools = this.listTools();
    for (const watcher of this.#watchers) watcher(tools);
    if (source === undefined || !this.#started) return;
    const changes = changesBetween(before, this.#routes, source);
    if (changes !== undefined) {
      this.#options.onToolsChanged?.(source.name, changes);
    }
  }

  #routesNow(): ReadonlyMap<string, Route> {
    const all = this.#connections.flatMap((connection) =>
      connection.tools.map((tool) => ({ connection, tool }))
    );
    const names = exposedToolNames(all.map(({ connection, tool }) => ({
      server: connection.name,
      tool: tool.name,
    })));
    const routes = new Map<string, Route>();
    all.forEach(({ connection, tool }, index) => {
      const name = names[index]!;
      if (!routes.has(name)) {
        const exposed = Object.freeze({ ...tool, name });
        routes.set(name, { connection, tool: exposed });
        return;
      }
      this.#diagnostics.report({
        kind: "tool_left_out",
        server: connection.name,
        toolName: tool.name,
        message: `Another server has the tool ${name}`,
      });
    });
    return routes;
  }

  #find(server: string): McpConnection | undefined {
    return this.#connections.find(({ name }) => name === server);
  }

  #requireRoute(name: string): Route {
    const route = this.#routes.get(name);
    if (route !== undefined) return route;
    throw new UnknownToolError(name, this.#routes.keys());
  }
}

function changesBetween(
  before: ReadonlyMap<string, Route>,
  after: ReadonlyMap<string, Route>,
  source: McpConnection,
): McpToolChanges | undefined {
  const of = (routes: ReadonlyMap<string, Route>) =>
    [...routes].filter(([, { connection }]) => connection === source);
  const added = of(after).filter(([name]) => !before.has(name));
  const removed = of(before).filter(([name]) => !after.has(name));
  const changed = of(after).filter(([name, { tool }]) => {
    const old = before.get(name)?.tool;
    return old !== undefined && canonicalJson(old) !== canonicalJson(tool);
  });
  const names = (routes: readonly (readonly [string, Route])[]) =>
    routes.map(([name]) => name);
  if (added.length + removed.length + changed.length === 0) return undefined;
  return {
    added: names(added),
    removed: names(removed),
    changed: names(changed),
  };
}

function ignore(): void {}
