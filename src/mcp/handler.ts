import { detach, followSignal, throwIfAborted } from "../base/abort.ts";
import { errorText } from "../base/errors.ts";
import { consoleLogger } from "../base/ports.ts";
import { requireMethods } from "../base/require.ts";
import type { ToolEffect } from "../messages/tool.ts";
import { ToolDefinition } from "../tools/definition.ts";
import { UnknownToolError } from "../tools/errors.ts";
import type { ToolDispatchOptions } from "../tools/execution_context.ts";
import { BaseHandler } from "../tools/handler.ts";
import { proceed, type StepOutcome } from "../tools/outcome.ts";
import type { McpServerInput } from "./config.ts";
import { type McpDiagnostic, McpDiagnostics } from "./diagnostic.ts";
import { Lifecycle } from "./lifecycle.ts";
import { type McpManager, McpServerManager } from "./manager.ts";
import { requireMcpOptions } from "./option_check.ts";
import type { McpConnectionOptions } from "./options.ts";
import { type OutputCheck, outputCheck } from "./output_check.ts";
import { progressRelay } from "./progress.ts";
import type { McpTool, McpToolResult } from "./protocol.ts";
import type { McpServerStatus } from "./server_status.ts";
import { effectOf, unusedEffects } from "./tool_effects.ts";
import { convertMcpResult, type ConvertMcpResultOptions } from "./result.ts";

/** What an {@linkcode McpToolHandler} is made from: one of `config`, `servers` and `manager`. */
export interface McpToolHandlerOptions extends McpConnectionOptions {
  /** A configuration: JSON text, parsed JSON, or the result of `parseMcpConfig`. */
  readonly config?: unknown;
  /** Servers by name. */
  readonly servers?: Readonly<Record<string, McpServerInput>> | undefined;
  /** What knows the servers; the handler starts it up and shuts it down. */
  readonly manager?: McpManager | undefined;
  /**
   * True for the tools that the model sees and may call; asked whenever they are listed.
   *
   * @default {all of them}
   */
  readonly selectTools?: ((tool: McpTool) => boolean) | undefined;
  /** Effects by the names that the model sees. */
  readonly toolEffects?: Readonly<Record<string, ToolEffect>> | undefined;
  /** True believes servers that call a tool read-only. @default {false} */
  readonly trustAnnotations?: boolean | undefined;
  /** True gives images, audio and binary resources to the model as base64. @default {false} */
  readonly includeBinary?: boolean | undefined;
  /** Turns results into data for the model. @default {convertMcpResult} */
  readonly convertResult?:
    | ((
      result: McpToolResult,
      options: ConvertMcpResultOptions,
    ) => unknown)
    | undefined;
}

interface Entry {
  readonly tool: McpTool;
  readonly definition: ToolDefinition;
  /** Null if there is nothing to check results against. */
  readonly checkOutput: OutputCheck | null;
}

/**
 * The tools of MCP servers.
 *
 * They are called `server__tool` and count as side-effecting unless told otherwise.
 * Servers are connected when the agent starts up; those that fail are reported and
 * left out. Tools that servers add or take away take effect at the next turn. The
 * result as the server sent it is in `outcome.meta.mcp`.
 *
 * In a Worker, connections belong to the request that made them: make a handler for
 * each request.
 *
 * @example Tools of a server behind an address
 * ```ts ignore
 * import { Agent } from "@ejagent/core";
 * import { McpToolHandler } from "@ejagent/core/mcp";
 *
 * const docs = new McpToolHandler({
 *   servers: { docs: { url: "https://docs.example/mcp" } },
 * });
 * const agent = new Agent({ agentId: "reader", model, tools: [docs] });
 * ```
 */
export class McpToolHandler extends BaseHandler {
  readonly #options: McpToolHandlerOptions;
  readonly #manager: McpManager;
  readonly #diagnostics: McpDiagnostics;
  #entries: ReadonlyMap<string, Entry> = new Map();
  #definitions: readonly ToolDefinition[] = [];
  readonly #lifecycle = new Lifecycle();
  #unwatch: (() => void) | undefined;

  /**
   * Connects nothing yet.
   *
   * @throws {TypeError} There is none or more than one of `config`, `servers` and
   * `manager`, or an option or a server is wrong.
   */
  constructor(options: McpToolHandlerOptions) {
    super();
    requireMcpOptions(options);
    const { config, servers, manager, ...rest } = options;
    const given = [config, servers, manager].filter((source) =>
      source !== undefined
    );
    if (given.length === 0) {
      throw new TypeError("a server configuration or a manager is required");
    }
    if (given.length > 1) {
      throw new TypeError("give either a configuration or a manager");
    }
    this.#options = options;
    this.#diagnostics = new McpDiagnostics(
      options.logger ?? consoleLogger,
      options.onDiagnostic,
    );
    if (manager === undefined) {
      this.#manager = new McpServerManager({
        ...rest,
        ...(config !== undefined && { config }),
        ...(servers !== undefined && { servers }),
      });
    } else {
      requireMethods("manager", manager, managerMethods);
      this.#manager = manager;
    }
  }

  /** The tools as they are now; none before start-up. */
  get tools(): readonly ToolDefinition[] {
    return this.#definitions;
  }

  /** The same as their servers describe them. */
  get mcpTools(): readonly McpTool[] {
    return [...this.#entries.values()].map(({ tool }) => tool);
  }

  /** What is wrong with servers and tools. */
  get diagnostics(): readonly McpDiagnostic[] {
    return [...this.#manager.diagnostics ?? [], ...this.#diagnostics.all];
  }

  /** How a server is; undefined if there is none of this name. */
  serverStatus(server: string): McpServerStatus | undefined {
    return this.#manager.serverStatus?.(server);
  }

  /** What a server says about its use; add it to the system prompt if you trust it. */
  serverInstructions(server: string): string | undefined {
    return this.#manager.serverInstructions?.(server);
  }

  /**
   * Takes the code that the user brought back from the authorization server of a
   * server whose status is `"needs_auth"`, and connects to it; its tools take effect at
   * the next turn.
   *
   * A server gets this status at start-up, or when one of its tools wants more rights
   * than the tokens give. By then its `authProvider` was told where to send the user,
   * and until the code is here calls of its tools fail at once, so that the user is not
   * sent away twice. `reconnect` starts over.
   *
   * The user may come back to another process, as long as its provider has what the
   * first one kept. Before start-up the code is only turned into tokens.
   *
   * @param code The member `code` of the address that the user came back to; compare
   * its `state` with your provider's first.
   * @throws {RangeError} As a rejection: there is no server of this name.
   * @throws {McpServerError} As a rejection: the code was refused, or the server wants more.
   * @throws {TypeError} As a rejection: the `manager` that was given cannot do this.
   *
   * @example Let the user in
   * ```ts ignore
   * await docs.startup();
   * if (docs.serverStatus("docs")?.status === "needs_auth") {
   *   await docs.finishAuth("docs", await codeFromTheBrowser());
   * }
   * ```
   */
  async finishAuth(server: string, code: string): Promise<void> {
    requireMethods("manager", this.#manager, ["finishAuth"]);
    await this.#manager.finishAuth!(server, code);
  }

  /**
   * Connects to a server anew, also if it had failed before; its tools take effect at
   * the next turn.
   *
   * @throws {RangeError} As a rejection: there is no server of this name.
   * @throws {McpServerError} As a rejection: it did not work.
   * @throws {TypeError} As a rejection: the `manager` that was given cannot do this.
   */
  async reconnect(server: string): Promise<void> {
    requireMethods("manager", this.#manager, ["reconnect"]);
    await this.#manager.reconnect!(server);
  }

  /**
   * Connects to the servers and lists their tools. Does nothing if that is done; waits
   * for a shutdown that is under way.
   *
   * @throws {McpServerError} A required server failed.
   * @throws {ToolDefinitionError} An effect is given to a tool that does not exist.
   * @throws {AgentCancelledError} `shutdown` was called meanwhile.
   */
  override startup(): Promise<void> {
    return this.#lifecycle.startup((signal) => this.#start(signal));
  }

  /** Closes the connections, and ends a start-up; the handler may be started again. */
  override shutdown(): Promise<void> {
    const done = this.#lifecycle.shutdown(() => this.#close());
    this.#forgetTools();
    return done;
  }

  /**
   * Calls a tool on its server.
   *
   * @throws {UnknownToolError} As a rejection: no server has this tool.
   * @throws {McpToolError} As a rejection: the tool failed, or its result is not what
   * its output schema says.
   * @throws {McpServerError} As a rejection: the server did not answer.
   */
  async dispatch(
    name: string,
    args: Readonly<Record<string, unknown>>,
    options: ToolDispatchOptions = {},
  ): Promise<StepOutcome> {
    const entry = this.#entries.get(name);
    if (entry === undefined) {
      throw new UnknownToolError(name, this.#entries.keys());
    }
    const { signal, progress } = options;
    const result = await this.#manager.callTool(name, args, {
      signal,
      progress: progress && progressRelay(progress),
    });
    // A lost connection may have come back with other tools.
    const { checkOutput } = this.#entries.get(name) ?? entry;
    checkOutput?.(result);
    const { convertResult = convertMcpResult, includeBinary = false } =
      this.#options;
    const data = convertResult(result, { toolName: name, includeBinary });
    return proceed(data, { mcp: result });
  }

  async #start(signal: AbortSignal): Promise<void> {
    this.#diagnostics.clear();
    // The manager alone can end what it waits for.
    const unfollow = followSignal(signal, () => detach(this.#close()));
    try {
      await this.#manager.startup();
    } finally {
      unfollow();
    }
    throwIfAborted(signal);
    try {
      this.#adopt(await this.#manager.listTools());
      const effects = this.#options.toolEffects ?? {};
      for (const name of unusedEffects(effects, this.tools, this.#manager)) {
        const message = "The server of the tool is not connected";
        this.#report("effects_unused", { name }, message);
      }
    } catch (error) {
      this.#forgetTools();
      await this.#close();
      throw error;
    }
    this.#unwatch = this.#manager.watchTools?.((tools) => this.#adopt(tools));
  }

  async #close(): Promise<void> {
    await this.#manager.shutdown();
    this.#forgetTools();
  }

  #forgetTools(): void {
    this.#unwatch?.();
    this.#unwatch = undefined;
    this.#adopt([]);
  }

  #adopt(tools: readonly McpTool[]): void {
    const entries = new Map<string, Entry>();
    for (const tool of tools) {
      const entry = this.#entryOf(tool);
      if (entry !== undefined) entries.set(tool.name, entry);
    }
    this.#entries = entries;
    this.#definitions = [...entries.values()].map((entry) => entry.definition);
  }

  #entryOf(tool: McpTool): Entry | undefined {
    const { name, description, inputSchema } = tool;
    const { selectTools } = this.#options;
    try {
      if (selectTools !== undefined && !selectTools(tool)) return undefined;
      const definition = new ToolDefinition({
        name,
        description,
        parameters: inputSchema,
        effect: effectOf(tool, this.#options),
      });
      return { tool, definition, checkOutput: this.#outputCheck(tool) };
    } catch (error) {
      this.#report("tool_left_out", tool, errorText(error));
      return undefined;
    }
  }

  #outputCheck(tool: McpTool): OutputCheck | null {
    if (tool.outputSchema === undefined) return null;
    return outputCheck(
      tool.outputSchema,
      (message) => this.#report("output_unchecked", tool, message),
    );
  }

  #report(
    kind: McpDiagnostic["kind"],
    { name, server = "" }: Pick<McpTool, "name" | "server">,
    message: string,
  ): void {
    this.#diagnostics.report({ kind, server, toolName: name, message });
  }
}

const managerMethods = ["startup", "shutdown", "listTools", "callTool"];
