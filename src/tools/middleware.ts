import type { RunScope } from "../base/scope.ts";
import type { AgentInfo } from "../messages/agent_info.ts";
import type { AgentStateView } from "../messages/state.ts";
import type { ToolDefinition } from "./definition.ts";
import { isStepOutcome, type StepOutcome } from "./outcome.ts";
import type { ToolProgressReporter } from "./progress.ts";

/** One call on its way to the tool, as middleware and handlers see it. */
export interface ToolCallContext {
  /** The agent that calls. */
  readonly agent: AgentInfo;
  /** Its run; empty for a direct dispatch. */
  readonly runId: string;
  /** Turn of the run, from 1; 0 for a direct dispatch. */
  readonly turn: number;
  /** The live state of the agent; always the same object. */
  readonly state: AgentStateView;
  /** Name of the tool. */
  readonly toolName: string;
  /** The decoded arguments. To change them, hand a copy of the context on. */
  readonly arguments: Readonly<Record<string, unknown>>;
  /** Id of the model's call; undefined for a direct dispatch. */
  readonly toolCallId?: string | undefined;
  /** What is known of the tool; undefined if no tool has this name. */
  readonly toolDefinition?: ToolDefinition | undefined;
  /** Aborted when the operation is aborted while this call is pending. */
  readonly signal: AbortSignal;
  /** Tells observers how far the call is; undefined for a direct dispatch. */
  readonly progress?: ToolProgressReporter | undefined;
  /** Values of this call; a fork of the run's scope. */
  readonly scope: RunScope;
}

/** Runs what is inside a layer; without an argument the context is passed on as it is. */
export type ToolNext = (context?: ToolCallContext) => Promise<StepOutcome>;

/** A whole chain of layers around a tool. */
export type ToolChain = (context: ToolCallContext) => Promise<StepOutcome>;

/** The part of a middleware that wraps tool calls, and the life of every middleware. */
export interface ToolLayer {
  /** Shown in messages; the name of the class by default. */
  readonly name?: string;
  /** False leaves the middleware out; read when the agent starts up. */
  readonly enabled?: boolean;
  /**
   * Hands over the tools that exist, before start-up and whenever they change.
   *
   * @throws What it cannot work with; start-up then fails with it.
   */
  configureTools?(definitions: readonly ToolDefinition[]): void;
  /** Makes the middleware ready; called in order, after the handlers. */
  startup?(): void | Promise<void>;
  /** Gives back what `startup` took; called in reverse order. */
  shutdown?(): void | Promise<void>;
  /** Called in order at the start of every run, after the handlers. */
  onTaskStart?(): void | Promise<void>;
  /**
   * Wraps one call.
   *
   * May change the context, the outcome or both, answer without `next`, or call
   * `next` several times; every call of it runs everything inside again. A
   * rejection becomes an error result that the model reads.
   */
  aroundTool?(
    context: ToolCallContext,
    next: ToolNext,
  ): StepOutcome | Promise<StepOutcome>;
}

/**
 * Puts layers around a tool; the first is the outermost.
 *
 * A layer that hands on another `toolName` sends the call to that tool.
 *
 * @param terminal Executes the tool that the context names.
 * @param definitionOf Finds the definition when a layer changes the name.
 * @returns A function that rejects with a `TypeError` if a layer or the terminal
 * produces something that is no {@linkcode StepOutcome}.
 */
export function composeToolMiddlewares(
  layers: readonly ToolLayer[],
  terminal: (
    context: ToolCallContext,
  ) => StepOutcome | Promise<StepOutcome>,
  definitionOf: (toolName: string) => ToolDefinition | undefined = noDefinition,
): ToolChain {
  const innermost: ToolChain = async (context) =>
    requireOutcome(await terminal(context), context);
  return layers.reduceRight<ToolChain>(
    (inner, layer) =>
      layer.aroundTool === undefined ? inner : wrap(layer, inner, definitionOf),
    innermost,
  );
}

function wrap(
  layer: ToolLayer,
  inner: ToolChain,
  definitionOf: (toolName: string) => ToolDefinition | undefined,
): ToolChain {
  return async (context) => {
    const next: ToolNext = (changed = context) => {
      const { toolName } = changed;
      if (toolName === context.toolName) return inner(changed);
      return inner({ ...changed, toolDefinition: definitionOf(toolName) });
    };
    return requireOutcome(await layer.aroundTool!(context, next), context);
  };
}

function requireOutcome(value: unknown, context: ToolCallContext): StepOutcome {
  if (isStepOutcome(value)) return value;
  throw new TypeError(
    `tool "${context.toolName}" did not produce a StepOutcome`,
  );
}

function noDefinition(): undefined {}
