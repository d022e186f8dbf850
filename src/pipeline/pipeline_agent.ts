import {
  Cancellation,
  derivesFrom,
  followSignal,
  markDerived,
} from "../base/abort.ts";
import { AgentConfigurationError, errorText } from "../base/errors.ts";
import type { Complete } from "../base/complete.ts";
import { Gate } from "../base/gate.ts";
import {
  type Clock,
  consoleLogger,
  type Logger,
  systemClock,
} from "../base/ports.ts";
import { RunScope } from "../base/scope.ts";
import type { AgentEvent } from "../events/event.ts";
import type { AgentInfo } from "../messages/agent_info.ts";
import { requireTask, type TaskInput } from "../messages/content.ts";
import {
  type AgentRunResult,
  runFailure,
  runResult,
} from "../messages/result.ts";
import {
  announceTask,
  type Resource,
  startUpEnded,
} from "../tools/resources.ts";
import type { AgentLike, AgentRunStream, RunOptions } from "./agent_like.ts";
import { cancelledResult, driveStream } from "./drive.ts";
import { AgentReentrancyError, AgentStartupError } from "./errors.ts";
import { composeAgentLayers } from "./layers.ts";
import {
  type AgentRequest,
  type AgentStream,
  type Middleware,
  middlewareName,
  requireMiddleware,
} from "./middleware.ts";
import { MiddlewareLife } from "./middleware_life.ts";
import { requireRunOptions } from "./run_options.ts";
import { type LaunchedRun, runStream } from "./run_stream.ts";

/** What a {@linkcode PipelineAgent} takes from outside. */
export interface PipelineAgentOptions {
  /** Drives the grace after an abort. @default {systemClock} */
  readonly clock?: Clock | undefined;
  /** Told about what was contained. @default {consoleLogger} */
  readonly logger?: Logger | undefined;
  /** Milliseconds that work gets to stop after an abort, before it is given up. @default {1000} */
  readonly abortGraceMs?: number | undefined;
}

/**
 * An agent over anything that can answer a task: a remote service, another
 * library, a program.
 *
 * Subclasses say who the agent is and how one run goes; this class adds what
 * every agent has: `run` and `stream`, middleware around runs, one run at a
 * time, cancellation, and the life cycle of the middleware. Model and tools are
 * out of reach, so middleware that wraps only these is refused.
 *
 * @example An agent that shouts back
 * ```ts
 * import {
 *   type AgentInfo,
 *   type AgentRequest,
 *   type AgentStream,
 *   PipelineAgent,
 *   runResult,
 * } from "@ejagent/core";
 * import { equal } from "node:assert/strict";
 *
 * class Echo extends PipelineAgent {
 *   readonly info: AgentInfo = { agentId: "echo", remote: false };
 *
 *   protected async *execute({ task }: AgentRequest): AgentStream {
 *     return runResult({
 *       stopReason: "text_response",
 *       output: String(task).toUpperCase(),
 *     });
 *   }
 * }
 *
 * equal((await new Echo().run("hello")).output, "HELLO");
 * ```
 */
export abstract class PipelineAgent implements AgentLike, AsyncDisposable {
  /** Who it is. */
  abstract readonly info: AgentInfo;
  readonly #options: Complete<PipelineAgentOptions>;
  readonly #middleware: Middleware[] = [];
  readonly #gate = new Gate();
  #running: AbortSignal | undefined;
  readonly #life: MiddlewareLife;
  #startUp: Cancellation | undefined;

  /** Starts nothing yet. */
  constructor(options: PipelineAgentOptions = {}) {
    this.#options = {
      clock: options.clock ?? systemClock,
      logger: options.logger ?? consoleLogger,
      abortGraceMs: options.abortGraceMs ?? 1000,
    };
    this.#life = new MiddlewareLife(this.#middleware, this.#options.logger);
  }

  /**
   * Answers one request; called inside all middleware, one run at a time.
   *
   * Yields the events of the run, at least `agent_started`, `turn_started`, text
   * deltas, `message_completed`, `turn_completed` and `agent_finished`, with
   * sequence numbers from 1, and returns the result. Operational failures are
   * results with the status `"failed"`; what is thrown rejects the run, unless
   * `request.signal` is aborted by then, which makes it a cancelled one. When
   * the generator is closed early, its `finally` must stop the work.
   */
  protected abstract execute(request: AgentRequest): AgentStream;

  /** True while a run, a start-up or a shutdown has its turn. */
  protected get busy(): boolean {
    return this.#gate.taken;
  }

  /**
   * Appends middleware, inside what is there already.
   *
   * @returns The agent.
   * @throws {AgentConfigurationError} It does not wrap runs, or the agent was started before.
   */
  use(...middleware: Middleware[]): this {
    if (this.#life.hasBegun) {
      throw new AgentConfigurationError(
        "Middleware can be added only before the first start-up",
      );
    }
    this.#middleware.push(...middleware.map(requireRunLayer));
    return this;
  }

  /**
   * Runs a task and waits for its result.
   *
   * @returns The result, whatever its status.
   * @throws {TypeError} The task is neither a text nor a list of content parts, or an option is wrong.
   * @throws {RangeError} The task is blank.
   * @throws {AgentCancelledError} `signal` aborted before the run began.
   * @throws {AgentStartupError} Middleware could not be started.
   * @throws {AgentReentrancyError} Called from inside a run of this agent.
   */
  async run(
    task: TaskInput,
    options: RunOptions = {},
  ): Promise<AgentRunResult> {
    return await this.#launch(requireTask(task), requireRunOptions(options))
      .result;
  }

  /**
   * Runs a task and shows its events.
   *
   * @throws {TypeError} The task is neither a text nor a list of content parts, or an option is wrong.
   * @throws {RangeError} The task is blank.
   */
  stream(task: TaskInput, options: RunOptions = {}): AgentRunStream {
    const wanted = requireTask(task);
    const checked = requireRunOptions(options);
    return runStream((observe) => this.#launch(wanted, checked, observe));
  }

  /**
   * Starts the middleware; nothing if it is started.
   *
   * @throws What failed, after a roll-back.
   * @throws {AgentCancelledError} The agent was shut down.
   */
  async startup(): Promise<void> {
    await this.#alone(async () => {
      const cancellation = this.#startUp = this.#newCancellation();
      try {
        await cancellation.race(() => this.#life.start(this.info.agentId));
      } finally {
        this.#startUp = undefined;
        cancellation.close();
      }
    });
  }

  /**
   * Waits for what is active and stops the middleware, also while it starts for a
   * run that was aborted; a start-up is ended. The agent can be used again.
   *
   * @throws {AgentShutdownError} Something failed to stop.
   */
  async shutdown(): Promise<void> {
    if (this.#startUp?.abort(startUpEnded())) await this.#life.shutdown();
    await this.#alone(() => this.#life.shutdown());
  }

  /** Shuts the agent down. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.shutdown();
  }

  #launch(
    task: TaskInput,
    options: RunOptions,
    observe?: (event: AgentEvent) => void,
  ): LaunchedRun {
    const cancellation = this.#newCancellation();
    return {
      result: this.#run(task, options, { cancellation, observe }),
      cancel: (reason) => void cancellation.abort(reason),
    };
  }

  #newCancellation(): Cancellation {
    const { clock, logger, abortGraceMs: graceMs } = this.#options;
    return new Cancellation({ clock, logger, graceMs });
  }

  async #run(
    task: TaskInput,
    options: RunOptions,
    parts: {
      readonly cancellation: Cancellation;
      readonly observe: ((event: AgentEvent) => void) | undefined;
    },
  ): Promise<AgentRunResult> {
    this.#refuseReentry(options);
    const { cancellation } = parts;
    const { signal } = options;
    const abort = (reason: unknown) => cancellation.abort(reason);
    const unfollow = followSignal(signal, abort);
    if (signal) markDerived(cancellation.signal, signal);
    try {
      cancellation.throwIfAborted();
      return await this.#alone(async () => {
        this.#running = cancellation.signal;
        const active = await this.#startForRun(cancellation);
        const ask = composeAgentLayers(
          active,
          (request) => this.#execute(request, active),
        );
        const request = this.#request(task, options, cancellation.signal);
        return await driveStream(() => ask(request), parts);
      }, cancellation.signal);
    } finally {
      if (this.#running === cancellation.signal) this.#running = undefined;
      unfollow();
      cancellation.close();
    }
  }

  /** What is inside all layers. */
  async *#execute(
    request: AgentRequest,
    active: readonly Resource[],
  ): AgentStream {
    const { signal } = request;
    if (signal.aborted) return cancelledResult(signal.reason);
    try {
      await announceTask(active);
    } catch (error) {
      return unprepared(error);
    }
    try {
      return yield* this.execute(request);
    } catch (error) {
      if (!signal.aborted) throw error;
      return cancelledResult(signal.reason);
    }
  }

  #request(
    task: TaskInput,
    options: RunOptions,
    signal: AbortSignal,
  ): AgentRequest {
    const scope = options.scope?.fork() ?? new RunScope();
    scope.set(this, true);
    return {
      kind: "task",
      task,
      contextMessages: options.contextMessages ?? [],
      modelOptions: options.modelOptions ?? {},
      signal,
      agent: this.info,
      scope,
    };
  }

  /** An abort ends the wait, not the start-up; the run then goes to its end without it. */
  async #startForRun(
    cancellation: Cancellation,
  ): Promise<readonly Middleware[]> {
    try {
      return await cancellation.race(() => this.#life.start(this.info.agentId));
    } catch (error) {
      if (cancellation.aborted) return [];
      throw new AgentStartupError(error);
    }
  }

  async #alone<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const entering = this.#gate.enter(signal);
    if (entering !== undefined) await entering;
    try {
      return await work();
    } finally {
      this.#gate.leave();
    }
  }

  #refuseReentry({ scope, signal }: RunOptions): void {
    const isInside = scope?.get(this) === true ||
      (signal && this.#running && derivesFrom(signal, this.#running));
    if (!isInside) return;
    throw new AgentReentrancyError(
      `Agent "${this.info.agentId}" would wait for itself inside its own run; ` +
        "ask another agent",
    );
  }
}

function requireRunLayer(value: Middleware): Middleware {
  const entry = requireMiddleware(value);
  if (typeof entry.aroundRun === "function") return entry;
  throw new AgentConfigurationError(
    `Middleware "${middlewareName(entry)}" wraps no runs, and the model and ` +
      "the tools of this agent are out of reach; add it to the agent that owns them",
  );
}

function unprepared(error: unknown): AgentRunResult {
  const message = errorText(error);
  return runResult({
    stopReason: "runtime_error",
    error: message,
    failure: runFailure({
      phase: "prepare",
      code: "runtime_error",
      message,
      retryable: false,
      cause: error,
    }),
  });
}
