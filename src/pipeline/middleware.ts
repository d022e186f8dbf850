import { AgentConfigurationError, EJAgentError } from "../base/errors.ts";
import { isJsonObject } from "../base/json.ts";
import type { RunScope } from "../base/scope.ts";
import type { AgentEvent } from "../events/event.ts";
import type { AgentInfo } from "../messages/agent_info.ts";
import type { TaskInput } from "../messages/content.ts";
import type { AgentMessage } from "../messages/message.ts";
import {
  type AgentRunResult,
  STATUS_OF_STOP_REASON,
} from "../messages/result.ts";
import type { ModelOptions } from "../model/adapter.ts";
import type { ModelLayer } from "../model/layer.ts";
import type { ToolLayer } from "../tools/middleware.ts";

/** The events of a run; the generator returns the result. */
export type AgentStream = AsyncGenerator<AgentEvent, AgentRunResult, void>;

/** One run, as agent middleware sees and changes it. */
export interface AgentRequest {
  /** A run with a task, or one that goes on without. */
  readonly kind: "task" | "continue";
  /** What is asked; absent for a continue run. */
  readonly task?: TaskInput;
  /** Messages that only this run's requests hold, never the history. */
  readonly contextMessages: readonly AgentMessage[];
  /** Options of the run's model requests. */
  readonly modelOptions: ModelOptions;
  /** Aborted when the run is to end; may be narrowed. */
  readonly signal: AbortSignal;
  /** The agent that runs. */
  readonly agent: AgentInfo;
  /** Values of this run. */
  readonly scope: RunScope;
}

/** Runs what is inside a layer; without an argument the request is passed on as it is. */
export type AgentNext = (request?: AgentRequest) => AgentStream;

/** The part of a middleware that wraps whole runs of any agent. */
export interface AgentLayer {
  /**
   * Wraps one run; called for tasks, continue runs and follow-ups.
   *
   * `yield* next(request)` forwards every event and evaluates to the result.
   * May change the request, the events that the reader sees and the result,
   * answer without `next`, or run it again after the first stream has ended.
   * What is committed and journaled cannot be changed here.
   */
  aroundRun?(request: AgentRequest, next: AgentNext): AgentStream;
}

/**
 * One object with up to three functions, each wrapping one layer: runs, model
 * requests, tool calls.
 *
 * The first middleware of an agent is the outermost in each layer. Objects may
 * be shared by agents; what belongs to one run goes into its scope.
 *
 * @example Time every run
 * ```ts
 * import type { Middleware } from "@ejagent/core";
 *
 * const timing: Middleware = {
 *   async *aroundRun(request, next) {
 *     const start = performance.now();
 *     const result = yield* next(request);
 *     console.debug(result.status, performance.now() - start);
 *     return result;
 *   },
 * };
 * ```
 */
export interface Middleware extends AgentLayer, ModelLayer, ToolLayer {}

/** Middleware that wraps runs. */
export type AgentMiddleware =
  & Middleware
  & Required<Pick<Middleware, "aroundRun">>;
/** Middleware that wraps model requests. */
export type ModelMiddleware =
  & Middleware
  & Required<Pick<Middleware, "aroundModel">>;
/** Middleware that wraps tool calls. */
export type ToolMiddleware =
  & Middleware
  & Required<Pick<Middleware, "aroundTool">>;

/** Middleware used the pipeline against its contract. */
export class AgentPipelineError extends EJAgentError {
  /** Always `"agent_pipeline"`. */
  override readonly code = "agent_pipeline";
}

/** The name of a middleware for messages: its own, else that of its class. */
export function middlewareName(middleware: Middleware): string {
  return middleware.name ?? middleware.constructor?.name ?? "middleware";
}

/** Checks one entry of a middleware list. @throws {AgentConfigurationError} It wraps nothing. */
export function requireMiddleware(value: Middleware): Middleware {
  const wraps = isJsonObject(value) &&
    [value.aroundRun, value.aroundModel, value.aroundTool].some((layer) =>
      typeof layer === "function"
    );
  if (!wraps) {
    throw new AgentConfigurationError(
      "A middleware must be an object with aroundRun, aroundModel or aroundTool",
    );
  }
  return value;
}

/** Checks what a layer returned. @throws {AgentPipelineError} It is no result of a run. */
export function requireResult(value: unknown): AgentRunResult {
  const valid = isJsonObject(value) && typeof value.stopReason === "string" &&
    Object.hasOwn(STATUS_OF_STOP_REASON, value.stopReason) &&
    typeof value.succeeded === "boolean";
  if (!valid) {
    throw new AgentPipelineError(
      "aroundRun must return the result of a run; runResult() makes one",
    );
  }
  return value as unknown as AgentRunResult;
}
