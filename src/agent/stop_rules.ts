import { abortReasonText } from "../base/abort.ts";
import { errorText } from "../base/errors.ts";
import type { AssistantMessage } from "../messages/message.ts";
import {
  type RunFailure,
  runFailure,
  type StopReason,
} from "../messages/result.ts";
import {
  ContextOverflowError,
  ModelProtocolError,
  ModelProviderError,
} from "../model/errors.ts";
import type { ToolTurnOutcome } from "../tools/turn.ts";
import type { ActiveRun } from "./active_run.ts";
import { BehaviorHookError } from "./behavior.ts";

/** The decision that a run is over. */
export interface Stop {
  /** Why. */
  readonly stopReason: StopReason;
  /** Output of the run. */
  readonly output?: string | null;
  /** What went wrong. */
  readonly error?: string;
  /** Facts of a failure. */
  readonly failure?: RunFailure;
}

/** The stop of an aborted run. */
export function abortStop(run: ActiveRun): Stop {
  return {
    stopReason: "external_abort",
    error: abortReasonText(run.cancellation.reason),
  };
}

/** Stops before another turn if the budget is spent or cannot be judged. */
export function budgetStop(run: ActiveRun): Stop | null {
  const { usage } = run;
  const limit = run.core.config.runtimePolicy.maxRunTokens;
  if (limit === null || usage.requestCount === 0) return null;
  if (usage.missingRequestCount > 0) {
    return overLimit(
      "usage_unavailable",
      `${usage.missingRequestCount} model request(s) did not report their usage, so the ` +
        `budget of ${limit} tokens cannot be kept; switch reports on or maxRunTokens off`,
    );
  }
  if (usage.spentTokens < limit) return null;
  return overLimit(
    "token_budget_exceeded",
    `The run has spent ${usage.spentTokens} of ${limit} tokens`,
  );
}

/** The stop of a run whose turns are used up. */
export function maxStepsStop(run: ActiveRun): Stop {
  const { config } = run.core;
  return overLimit(
    "max_steps",
    `Agent "${config.agentId}" reached the limit of ${config.runtimePolicy.maxSteps} turns`,
  );
}

/**
 * Judges an answer without tool calls.
 *
 * @returns The stop, or null if another turn follows.
 */
export function answerStop(
  run: ActiveRun,
  message: AssistantMessage,
): Stop | null {
  const { runtimePolicy: policy } = run.core.config;
  const { state } = run.core;
  const { content } = message;
  const hasText = content !== null && content.trim() !== "";
  const answer: Stop = { stopReason: "text_response", output: content };
  if (run.steering.size > 0) {
    // A good answer on the last turn beats steering that could not be applied any more.
    const finishes = run.turn >= policy.maxSteps && hasText &&
      !policy.requireExplicitFinish;
    if (finishes) return answer;
    state.noToolResponseCount = 0;
    return null;
  }
  if (!policy.requireExplicitFinish) {
    return hasText ? answer : emptyResponseStop(run.finishReason);
  }
  state.noToolResponseCount += 1;
  if (state.noToolResponseCount < policy.maxNoToolResponses) return null;
  return overLimit(
    "max_no_tool_responses",
    `The model gave ${state.noToolResponseCount} answers in a row without calling a tool`,
  );
}

/** Judges the settled calls of an answer. @returns The stop, or null if another turn follows. */
export function toolStop(
  run: ActiveRun,
  outcome: ToolTurnOutcome,
): Stop | null {
  switch (outcome.kind) {
    case "continue":
      return null;
    case "cancelled":
      return abortStop(run);
    case "halted":
      return persistenceStop(run);
    case "repeated":
      return failed("repeated_tool_call", {
        phase: "tool",
        code: "repeated_tool_call",
        message: outcome.error,
      });
    case "terminal":
      return controlStop(outcome.result);
  }
}

/** The stop of a run whose required sink failed. */
export function persistenceStop(run: ActiveRun): Stop {
  const cause = run.emitter.failure;
  const message = `The run could not be recorded: ${errorText(cause)}`;
  return unkeptStop(message, cause);
}

/** The stop of a run that was not recorded or saved. */
export function unkeptStop(message: string, cause: unknown): Stop {
  return broken({
    phase: "persistence",
    code: "persistence_failed",
    message,
    cause,
  });
}

/** The stop of a failed automatic compaction. */
export function compactionStop(error: string): Stop {
  return failed("compaction_failed", {
    phase: "compaction",
    code: "compaction_failed",
    message: error,
  });
}

/** Translates what ended a run by exception, by the phase in which it was thrown. */
export function failureStop(run: ActiveRun, error: unknown): Stop {
  if (run.cancellation.aborted) return abortStop(run);
  const { phase } = run;
  const facts = {
    phase,
    code: "runtime_error",
    message: errorText(error),
    cause: error,
  } as const;
  if (error instanceof BehaviorHookError) {
    return broken({ ...facts, phase: "hook", code: "hook_error" });
  }
  if (phase !== "model") return broken(facts);
  if (error instanceof ContextOverflowError) {
    return failed("context_overflow", { ...facts, code: error.code });
  }
  if (error instanceof ModelProtocolError) {
    return broken({ ...facts, code: error.code });
  }
  return error instanceof ModelProviderError
    ? broken({ ...facts, code: error.code, retryable: error.retryable })
    : broken({ ...facts, code: "provider_error" });
}

type FailureFacts = Omit<RunFailure, "retryable"> & {
  readonly retryable?: boolean;
};

/** Makes the stop of a failed run; not worth a retry unless it says so. */
function failed(stopReason: StopReason, facts: FailureFacts): Stop {
  const failure = runFailure({ retryable: false, ...facts });
  return { stopReason, error: facts.message, failure };
}

function broken(facts: FailureFacts): Stop {
  return failed("runtime_error", facts);
}

function overLimit(stopReason: StopReason, message: string): Stop {
  const what = stopReason.startsWith("max_") ? "limit" : "budget";
  const code = `${what}_exceeded` as const;
  return failed(stopReason, { phase: "control", code, message });
}

function emptyResponseStop(finishReason: string | null): Stop {
  const reason = finishReason === null
    ? ""
    : ` (finish reason: ${finishReason})`;
  return failed("empty_response", {
    phase: "model",
    code: "empty_response",
    message: `The model answered without text and without a tool call${reason}`,
  });
}

function controlStop(
  { control, output }: {
    readonly control: string;
    readonly output: string | null;
  },
): Stop {
  if (control !== "reject" && control !== "cancel") {
    return { stopReason: "tool_completion", output };
  }
  const what = control === "reject" ? "rejected" : "cancelled";
  const error = `a tool call was ${what}`;
  return { stopReason: `tool_${what}`, output, error };
}
