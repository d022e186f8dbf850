import { AgentConfigurationError, EJAgentError } from "../base/errors.ts";
import { frozen, frozenCopy } from "../base/freeze.ts";
import type { JsonValue } from "../base/json.ts";
import type { RunScope } from "../base/scope.ts";
import type { AgentInfo } from "../messages/agent_info.ts";
import type { AgentMessage } from "../messages/message.ts";
import { requireMessages } from "../messages/require_messages.ts";
import type { ModelOptions } from "../model/adapter.ts";
import { toHandlers, type ToolInput } from "../tools/define_tool.ts";
import type { ToolHandler } from "../tools/handler.ts";
import type { RunOutcome } from "./history.ts";
import {
  type Middleware,
  middlewareName,
  requireMiddleware,
} from "./middleware.ts";

/** What one provider added to a run, for those after it. */
export interface ContextContribution {
  /** The provider. */
  readonly sourceId: string;
  /** Messages it added. */
  readonly messages: readonly AgentMessage[];
  /** Instructions it added. */
  readonly instructions: readonly string[];
  /** Names of the tools it added. */
  readonly toolNames: readonly string[];
  /** Model options it set. */
  readonly options: ModelOptions;
}

/**
 * Supplies context to the runs of an agent: messages, instructions, tools,
 * model options, middleware, each for one run.
 *
 * Providers are trusted code: text that they retrieve can carry instructions to
 * the model.
 *
 * @example Add what a search found
 * ```ts
 * import type { ContextProvider } from "@ejagent/core";
 *
 * const retrieval: ContextProvider = {
 *   sourceId: "handbook",
 *   beforeRun(run) {
 *     run.extendMessages({ role: "user", content: "From the handbook: ..." });
 *   },
 * };
 * ```
 */
export interface ContextProvider {
  /** Unique among the providers of an agent. */
  readonly sourceId: string;
  /** Called in list order before the first turn. A rejection fails the run. */
  beforeRun?(run: ContextRun): void | PromiseLike<void>;
  /** Called in reverse order after every run whose `beforeRun` it passed. A rejection is logged. */
  afterRun?(run: ContextRun, outcome: RunOutcome): void | PromiseLike<void>;
}

/** One run, as a context provider sees it. The `extend` functions work during `beforeRun` only. */
export interface ContextRun {
  /** The agent that runs. */
  readonly agent: AgentInfo;
  /** Its run; empty in front of an agent that makes its runs itself. */
  readonly runId: string;
  /** A run with a task, or one that goes on without. */
  readonly kind: "task" | "continue";
  /** Text of the task. */
  readonly task?: string;
  /** The conversation before this run, oldest first. */
  readonly history: readonly AgentMessage[];
  /** What earlier providers added. */
  readonly contributions: readonly ContextContribution[];
  /** Private to this provider; lives as long as the agent. */
  readonly state: Record<string, JsonValue>;
  /** Values of the run. */
  readonly scope: RunScope;
  /** The run's signal in `beforeRun`; a fresh one in `afterRun`. */
  readonly signal: AbortSignal;
  /** Adds messages before the run's user message, in this run's requests only. */
  extendMessages(...messages: AgentMessage[]): void;
  /** Adds instructions to the system messages of this run's requests. */
  extendInstructions(...instructions: string[]): void;
  /** Adds tools for this run. */
  extendTools(...tools: ToolInput[]): void;
  /** Sets model options for this run; those of the caller win. */
  extendOptions(options: ModelOptions): void;
  /** Adds model or tool middleware for this run, inside the agent's own. */
  extendMiddleware(...middleware: Middleware[]): void;
}

/** An `extend` function was called outside `beforeRun`. */
export class ContextClosedError extends EJAgentError {
  /** Always `"context_closed"`. */
  override readonly code = "context_closed";
}

/** A context provider added what cannot reach the agent that it stands in front of. */
export class UnsupportedContextError extends EJAgentError {
  /** Always `"unsupported_context"`. */
  override readonly code = "unsupported_context";
}

/** Everything that one provider added, with the objects behind the names. */
export interface ContextAddition extends ContextContribution {
  /** Handlers of the added tools. */
  readonly handlers: readonly ToolHandler[];
  /** Added middleware. */
  readonly middleware: readonly Middleware[];
}

/** What is the same for all providers of a run. */
export type ContextRunBase = Pick<
  ContextRun,
  "agent" | "runId" | "kind" | "task" | "history" | "scope"
>;

/**
 * Collects what one provider adds.
 *
 * @returns The view that the provider gets, and a function that closes it and
 * hands its additions out.
 */
export function openContextRun(
  base: ContextRunBase,
  provider: {
    readonly sourceId: string;
    readonly state: Record<string, JsonValue>;
    readonly contributions: readonly ContextContribution[];
    readonly signal: AbortSignal;
    /** True in front of an agent that only messages can reach. */
    readonly messagesOnly: boolean;
  },
): { readonly run: ContextRun; close(): ContextAddition } {
  const { sourceId } = provider;
  const messages: AgentMessage[] = [];
  const instructions: string[] = [];
  const handlers: ToolHandler[] = [];
  const middleware: Middleware[] = [];
  let options: ModelOptions = {};
  let open = true;
  const requireOpen = () => {
    if (!open) {
      throw new ContextClosedError(
        `Context provider "${sourceId}" may extend only in beforeRun`,
      );
    }
  };
  const requireReach = (what: string) => {
    requireOpen();
    if (provider.messagesOnly) {
      throw new UnsupportedContextError(
        `Context provider "${sourceId}" adds ${what}, but only messages can ` +
          `reach agent "${base.agent.agentId}" from here`,
      );
    }
  };
  const run: ContextRun = {
    ...base,
    state: provider.state,
    contributions: provider.contributions,
    signal: provider.signal,
    extendMessages(...added) {
      requireOpen();
      for (const message of requireMessages("extendMessages", added)) {
        messages.push(frozenCopy({ ...message, _ejagent_source: sourceId }));
      }
    },
    extendInstructions(...added) {
      requireReach("instructions");
      instructions.push(...added);
    },
    extendTools(...added) {
      requireReach("tools");
      handlers.push(...toHandlers(added));
    },
    extendOptions(added) {
      requireReach("model options");
      options = { ...options, ...frozenCopy(added) };
    },
    extendMiddleware(...added) {
      requireReach("middleware");
      for (const entry of added.map(requireMiddleware)) {
        if (entry.aroundRun !== undefined) {
          throw new AgentConfigurationError(
            `Middleware "${
              middlewareName(entry)
            }" of context provider "${sourceId}" wraps runs; ` +
              "only model and tool middleware can be added to a run",
          );
        }
        if (entry.enabled !== false) middleware.push(entry);
      }
    },
  };
  return {
    run,
    close() {
      open = false;
      return frozen({
        sourceId,
        messages: frozen(messages),
        instructions: frozen(instructions),
        toolNames: frozen(
          handlers.flatMap((handler) => handler.toolNames),
        ),
        options: frozen(options),
        handlers,
        middleware,
      });
    },
  };
}

/** Checks the ids of providers. @throws {AgentConfigurationError} One is blank, or two are equal. */
export function requireUniqueSources(
  providers: readonly { readonly sourceId: string }[],
): void {
  const seen = new Set<string>();
  for (const provider of providers) {
    const sourceId: unknown = provider?.sourceId;
    if (typeof sourceId !== "string" || sourceId.trim() === "") {
      throw new AgentConfigurationError(
        "Every history and context provider needs a sourceId",
      );
    }
    if (seen.has(sourceId)) {
      throw new AgentConfigurationError(
        `The sourceId "${sourceId}" is used by two providers`,
      );
    }
    seen.add(sourceId);
  }
}
