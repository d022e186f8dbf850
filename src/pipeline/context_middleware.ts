import { AgentConfigurationError, errorText } from "../base/errors.ts";
import { consoleLogger, systemClock } from "../base/ports.ts";
import { contentText } from "../messages/content.ts";
import {
  type AgentRunResult,
  runFailure,
  runResult,
} from "../messages/result.ts";
import {
  type ContextProvider,
  requireUniqueSources,
} from "./context_provider.ts";
import { cancelledResult } from "./drive.ts";
import type { RunOutcome } from "./history.ts";
import type { AgentMiddleware, AgentRequest } from "./middleware.ts";
import { ProviderPass, type ProviderStates } from "./provider_pass.ts";

const afterRunTimeoutMs = 10_000;

/**
 * Puts context providers in front of any agent, a remote one too.
 *
 * Their messages travel with the request of the run; everything else that a
 * provider can add is out of reach here and throws `UnsupportedContextError`.
 * Providers see no history and no run id, and their outcome lists no messages:
 * the agent's own are its business. What a provider keeps in its `state` lives
 * as long as the middleware.
 *
 * @throws {AgentConfigurationError} No provider, or two with the same `sourceId`.
 *
 * @example Tell a foreign agent what day it is
 * ```ts
 * import { contextMiddleware, userMessage } from "@ejagent/core";
 *
 * const today = contextMiddleware({
 *   sourceId: "calendar",
 *   beforeRun(run) {
 *     run.extendMessages(userMessage("Today is a Sunday."));
 *   },
 * });
 * ```
 */
export function contextMiddleware(
  ...providers: ContextProvider[]
): AgentMiddleware {
  if (providers.length === 0) {
    throw new AgentConfigurationError(
      "contextMiddleware() needs at least one context provider",
    );
  }
  requireUniqueSources(providers);
  const states: ProviderStates = new Map();
  return {
    name: "contextMiddleware",
    async *aroundRun(request, next) {
      const pass = passOf(request, providers, states);
      let outcome = outcomeOf(cancelledResult(request.signal.reason));
      try {
        const additions = await pass.before({
          signal: request.signal,
          race: async (work) => await work(),
        });
        const result = yield* next({
          ...request,
          contextMessages: [
            ...request.contextMessages,
            ...additions.flatMap((addition) => addition.messages),
          ],
        });
        outcome = outcomeOf(result);
        return result;
      } catch (error) {
        if (!request.signal.aborted) outcome = failureOf(error);
        throw error;
      } finally {
        await pass.after(outcome);
      }
    },
  };
}

function passOf(
  request: AgentRequest,
  providers: readonly ContextProvider[],
  states: ProviderStates,
): ProviderPass {
  const { agent, kind, task, scope } = request;
  return new ProviderPass({
    providers,
    states,
    messagesOnly: true,
    timeoutMs: afterRunTimeoutMs,
    clock: systemClock,
    logger: consoleLogger,
    base: {
      agent,
      runId: "",
      kind,
      ...(task !== undefined && { task: contentText(task) }),
      history: [],
      scope,
    },
  });
}

function outcomeOf(result: AgentRunResult): RunOutcome {
  const cause = result.failure?.cause;
  return {
    result,
    messages: [],
    conversation: [],
    compacted: false,
    ...(cause !== undefined && { error: cause }),
  };
}

function failureOf(error: unknown): RunOutcome {
  const message = errorText(error);
  return outcomeOf(runResult({
    stopReason: "runtime_error",
    error: message,
    failure: runFailure({
      phase: "runtime",
      code: "runtime_error",
      message,
      retryable: false,
      cause: error,
    }),
  }));
}
