import type { Cancellation } from "../base/abort.ts";
import { AgentConfigurationError, errorText } from "../base/errors.ts";
import type { Logger } from "../base/ports.ts";
import type { RunScope } from "../base/scope.ts";
import type { AgentInfo } from "../messages/agent_info.ts";
import type { AgentStateView } from "../messages/state.ts";
import type { OpenAIFunctionTool, ToolEffect } from "../messages/tool.ts";
import { executeCall } from "./call.ts";
import { CallSignals } from "./call_signal.ts";
import { openAIToolView, type ToolDefinition } from "./definition.ts";
import { ToolShutdownError } from "./errors.ts";
import type { ToolHandler } from "./handler.ts";
import type { ToolLayer } from "./middleware.ts";
import type { StepOutcome } from "./outcome.ts";
import { offeredDefinitions } from "./registry.ts";
import { RepetitionGuard } from "./repetition.ts";
import {
  announceTask,
  type Resource,
  rollBack,
  shutDownAll,
  startAll,
} from "./resources.ts";
import { settleTurn } from "./settle.ts";
import { tableOf, type ToolTable } from "./table.ts";
import type { ToolTurn, ToolTurnOutcome } from "./turn.ts";

export type { ToolTurn, ToolTurnOutcome, ToolTurnReport } from "./turn.ts";

/** What a {@linkcode ToolRuntime} works with. */
export interface ToolRuntimeOptions {
  /** Owners of the tools, in the order in which the model sees them. */
  readonly handlers: readonly ToolHandler[];
  /** Middleware that may become active, outermost first; read at start-up. */
  readonly layers: readonly ToolLayer[];
  /** Told about failures that were contained. */
  readonly logger: Logger;
  /** Whether neighbouring calls of read-only tools run side by side. */
  readonly parallelToolCalls: boolean;
  /** Most calls that run at the same time; null for no bound. */
  readonly maxParallelToolCalls: number | null;
  /** The request of the same call in a row that ends the run; infinite for none. */
  readonly maxRepeatedToolCalls: number;
}

/** Tools and middleware for one run. */
export interface ToolAdditions {
  /** Owners of the tools; routed after the runtime's own. */
  readonly handlers: readonly ToolHandler[];
  /** Middleware, inside the runtime's own. */
  readonly layers: readonly ToolLayer[];
}

/** A call that no model asked for. */
export interface ToolDispatchRequest {
  /** Name of the tool. */
  readonly toolName: string;
  /** Its arguments; copied one level deep. */
  readonly arguments: Readonly<Record<string, unknown>>;
  /** Ends the call from outside. */
  readonly cancellation: Cancellation;
  /** The agent that calls. */
  readonly agent: AgentInfo;
  /** The live state of the agent. */
  readonly state: AgentStateView;
  /** Values of the call; it gets a fork. */
  readonly scope: RunScope;
}

/**
 * Starts handlers and middleware, and executes the calls of an agent.
 *
 * Its methods must not overlap, but a shutdown may end a start-up; the agent sees to that.
 *
 * @example The tools that a model is shown
 * ```ts
 * import { consoleLogger, defineTool, ToolRuntime, ToolSet } from "@ejagent/core";
 * import { deepEqual } from "node:assert/strict";
 *
 * const runtime = new ToolRuntime({
 *   handlers: [new ToolSet([defineTool({ name: "ping", execute: () => "pong" })])],
 *   layers: [],
 *   logger: consoleLogger,
 *   parallelToolCalls: false,
 *   maxParallelToolCalls: null,
 *   maxRepeatedToolCalls: 3,
 * });
 * await runtime.startup();
 * deepEqual(runtime.tools, [{ type: "function", function: { name: "ping" } }]);
 * await runtime.shutdown();
 * ```
 */
export class ToolRuntime {
  readonly #options: ToolRuntimeOptions;
  readonly #guard: RepetitionGuard;
  #resources: Resource[] = [];
  #attached: readonly Resource[] = [];
  #own: ToolTable | undefined;
  #current: ToolTable | undefined;

  /** Starts nothing yet. @param options Handlers and middleware belong to this runtime alone. */
  constructor(options: ToolRuntimeOptions) {
    this.#options = options;
    this.#guard = new RepetitionGuard(options.maxRepeatedToolCalls);
  }

  /** True between a successful start-up and a shutdown. */
  get started(): boolean {
    return this.#current !== undefined;
  }

  /** Middleware that was enabled at start-up, outermost first, without what is attached. */
  get activeLayers(): readonly ToolLayer[] {
    return this.#own?.layers ?? [];
  }

  /** The tools of this turn; before start-up what the handlers offer now. */
  get toolDefinitions(): readonly ToolDefinition[] {
    return this.#current?.registry.definitions ??
      offeredDefinitions(this.#options.handlers);
  }

  /** The same in the form that providers take, frozen. */
  get tools(): readonly OpenAIFunctionTool[] {
    return this.#current?.registry.tools ??
      this.toolDefinitions.map(openAIToolView);
  }

  /** What a tool does to the world; one that does not exist counts as side-effecting. */
  toolEffect(name: string): ToolEffect {
    return this.toolDefinitions.find((tool) => tool.name === name)?.effect ??
      "side_effecting";
  }

  /**
   * Starts the handlers in order, tells the enabled middleware about all tools,
   * then starts the middleware in order. Does nothing if it is started.
   *
   * @throws What a part throws; the parts that were started are shut down again.
   * @throws {DuplicateToolError} Two handlers offer the same tool.
   */
  async startup(): Promise<void> {
    if (this.started) return;
    const { handlers, layers } = this.#options;
    const resources = this.#resources = [];
    try {
      await startAll(handlers, resources);
      const table = tableOf(handlers, layers.filter(isEnabled));
      await startAll(table.layers, resources);
      this.#own = this.#current = table;
    } catch (error) {
      await rollBack(resources.splice(0), this.#options.logger);
      throw error;
    }
    this.#announce();
  }

  /**
   * Shuts down the middleware, then the handlers, each in reverse order, and
   * what is attached before them. Does nothing if it is not started; ends a start-up
   * that is under way, which then rejects.
   *
   * @throws {ToolShutdownError} Parts failed; the others are shut down all the same.
   */
  async shutdown(): Promise<void> {
    const resources = [...this.#resources.splice(0), ...this.#attached];
    this.#attached = [];
    this.#own = this.#current = undefined;
    const errors = await shutDownAll(resources);
    if (errors.length > 0) throw new ToolShutdownError(errors);
  }

  /**
   * Adopts what the handlers offer now, for the turn that begins.
   *
   * If that cannot work, the tools stay as they were and a warning says why.
   */
  beginTurn(): void {
    const current = this.#current;
    if (current === undefined) return;
    try {
      if (current.registry.matches(current.handlers)) return;
      const table = tableOf(current.handlers, current.layers);
      if (this.#own === current) this.#own = table;
      this.#current = table;
    } catch (error) {
      this.#options.logger.warn(
        "The changed tools cannot be used; those of the last turn stay",
        { error: errorText(error) },
      );
      this.#configureAgain(current);
    }
  }

  /** Tells the handlers, then the middleware, that a run begins; no call counts as repeated. */
  async onTaskStart(): Promise<void> {
    this.#guard.reset();
    const { handlers, layers } = this.#requireTable();
    await announceTask([...handlers, ...layers]);
  }

  /**
   * Settles every call of one answer, in source order and exactly once.
   *
   * @throws Only what `turn.report` throws.
   */
  async settle(turn: ToolTurn): Promise<ToolTurnOutcome> {
    const { registry, chain } = this.#requireTable();
    const { logger } = this.#options;
    const signals = new CallSignals(turn.cancellation.signal);
    const execution = { registry, chain, signals, logger };
    try {
      return await settleTurn(turn, {
        policy: this.#options,
        guard: this.#guard,
        isReadOnly: (name) => registry.effectOf(name) === "read_only",
        execute: (call) => executeCall(call, turn, execution),
      });
    } finally {
      signals.close();
    }
  }

  /**
   * Executes one tool through all middleware, without a model, events or the
   * guard against repetitions.
   *
   * @throws {UnknownToolError} No tool has that name.
   * @throws {AgentCancelledError} The operation was aborted.
   * @throws What middleware or the tool throws, as it is.
   */
  async dispatch(request: ToolDispatchRequest): Promise<StepOutcome> {
    const { registry, chain } = this.#requireTable();
    const { cancellation, toolName, agent, state, scope } = request;
    const signals = new CallSignals(cancellation.signal);
    const signal = signals.open();
    try {
      return await cancellation.race(() =>
        chain({
          agent,
          runId: "",
          turn: 0,
          state,
          toolName,
          arguments: { ...request.arguments },
          toolDefinition: registry.definitionOf(toolName),
          get signal() {
            return signal.value;
          },
          scope: scope.fork(),
        })
      );
    } finally {
      signal.end();
      signals.close();
    }
  }

  /**
   * Adds tools and middleware for one run, after its `onTaskStart`: starts them,
   * tells all middleware about all tools, and tells the added parts that a run begins.
   *
   * @throws What a part throws; everything is then as it was before.
   * @throws {DuplicateToolError} A tool exists already.
   */
  async attach(additions: ToolAdditions): Promise<void> {
    const before = this.#requireTable();
    const { handlers } = additions;
    const layers = additions.layers.filter(isEnabled);
    const resources: Resource[] = [];
    try {
      await startAll(handlers, resources);
      const table = tableOf(
        [...before.handlers, ...handlers],
        [...before.layers, ...layers],
      );
      await startAll(layers, resources);
      await announceTask([...handlers, ...layers]);
      this.#attached = [...this.#attached, ...resources];
      this.#current = table;
    } catch (error) {
      await rollBack(resources, this.#options.logger);
      this.#configureAgain(before);
      throw error;
    }
  }

  /**
   * Takes back everything that was attached: shuts it down in reverse order and
   * tells the remaining middleware about the remaining tools.
   *
   * @returns What went wrong, in the order of the attempts.
   */
  async detach(): Promise<readonly unknown[]> {
    const attached = this.#attached;
    this.#attached = [];
    const errors = await shutDownAll(attached);
    const own = this.#own;
    if (own !== undefined && own !== this.#current) {
      this.#current = own;
      this.#configureAgain(own);
      this.beginTurn();
    }
    return errors;
  }

  #requireTable(): ToolTable {
    if (this.#current !== undefined) return this.#current;
    throw new AgentConfigurationError(
      "The tool runtime is not started; await startup() first",
    );
  }

  #configureAgain({ layers, registry }: ToolTable): void {
    for (const layer of layers) {
      try {
        layer.configureTools?.(registry.definitions);
      } catch (error) {
        this.#options.logger.warn(
          "A middleware refuses the tools that it had accepted before",
          { middleware: layer.name, error: errorText(error) },
        );
      }
    }
  }

  #announce(): void {
    const names = this.toolDefinitions.map((tool) => tool.name).sort();
    if (names.length === 0) return;
    this.#options.logger.info?.("Tools are ready", {
      handlerCount: this.#options.handlers.length,
      tools: names.join(", "),
    });
  }
}

function isEnabled(layer: ToolLayer): boolean {
  return layer.enabled !== false;
}
