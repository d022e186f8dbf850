import { abortReasonText } from "../base/abort.ts";
import { errorText } from "../base/errors.ts";
import type { Clock } from "../base/ports.ts";
import {
  type AgentEvent,
  agentEvent,
  type AgentEventPayload,
} from "../events/event.ts";
import { contentText, type TaskInput } from "../messages/content.ts";
import { assistantMessage } from "../messages/message.ts";
import {
  type AgentRunResult,
  runFailure,
  runResult,
  type StopReason,
} from "../messages/result.ts";
import { type RunUsage, runUsage } from "../messages/usage.ts";
import type { Answer, AnswerPiece } from "./answer.ts";
import { A2AError } from "./errors.ts";

/** One request was made, and nobody says what it cost. */
const unknownUsage: RunUsage = runUsage({
  inputTokens: 0,
  outputTokens: 0,
  requestCount: 1,
  reportedRequestCount: 0,
});

/** Tells the events of one run of a remote agent, which is always one turn. */
export class RemoteRun {
  readonly #agentId: string;
  readonly #runId: string;
  readonly #clock: Clock;
  #sequence = 0;
  #result: AgentRunResult | undefined;

  /** Nothing is told yet. */
  constructor(
    options: {
      readonly agentId: string;
      readonly runId: string;
      readonly clock: Clock;
    },
  ) {
    this.#agentId = options.agentId;
    this.#runId = options.runId;
    this.#clock = options.clock;
  }

  /** What the run came to, once it is finished. */
  get result(): AgentRunResult {
    return this.#result!;
  }

  /** The first events. */
  *start(task: TaskInput): Iterable<AgentEvent> {
    yield this.#event({
      kind: "agent_started",
      task: contentText(task),
      ...(typeof task !== "string" && { content: task }),
    });
    yield this.#event({ kind: "turn_started", turn: 1 });
  }

  /** A piece of the answer. */
  piece({ kind, delta }: AnswerPiece): AgentEvent {
    return this.#event({ kind, turn: 1, delta });
  }

  /** The last events of a run whose answer came to its end. */
  *finish(answer: Answer): Iterable<AgentEvent> {
    const stopReason = stopReasonOf(answer);
    yield* this.#end(answer, stopReason, complaintOf(answer, stopReason));
  }

  /** The last events of a run that broke, or was aborted. */
  *fail(
    answer: Answer,
    error: unknown,
    signal: AbortSignal,
  ): Iterable<AgentEvent> {
    if (signal.aborted) {
      const reason = abortReasonText(signal.reason);
      yield* this.#end(answer, "external_abort", reason);
    } else {
      yield* this.#end(answer, "runtime_error", errorText(error), error);
    }
  }

  *#end(
    answer: Answer,
    stopReason: StopReason,
    error: string | null,
    cause?: unknown,
  ): Iterable<AgentEvent> {
    const { output } = answer;
    if (output !== "" && stopReason !== "external_abort") {
      yield this.#event({
        kind: "message_completed",
        turn: 1,
        message: assistantMessage(output),
        usage: null,
        finishReason: answer.state,
      });
    }
    yield this.#event({ kind: "turn_completed", turn: 1 });
    const result = runResult({
      runId: this.#runId,
      stopReason,
      turns: 1,
      output: output === "" ? null : output,
      error,
      usage: unknownUsage,
    });
    this.#result = result.status === "failed"
      ? runResult({ ...result, failure: failureOf(result, cause) })
      : result;
    yield this.#event({ kind: "agent_finished", result: this.#result });
  }

  #event(payload: AgentEventPayload): AgentEvent {
    return agentEvent({
      agentId: this.#agentId,
      runId: this.#runId,
      sequence: ++this.#sequence,
      timeMs: this.#clock.now(),
    }, payload);
  }
}

function stopReasonOf({ state, output }: Answer): StopReason {
  switch (state) {
    case "TASK_STATE_FAILED":
      return "runtime_error";
    case "TASK_STATE_REJECTED":
      return "tool_rejected";
    case "TASK_STATE_CANCELED":
      return "external_abort";
    default:
      return output.trim() === "" ? "empty_response" : "text_response";
  }
}

function complaintOf(answer: Answer, stopReason: StopReason): string | null {
  switch (stopReason) {
    case "runtime_error":
      return answer.complaint ?? "The agent failed and did not say why";
    case "external_abort":
      return answer.complaint ?? "The agent cancelled the task";
    case "empty_response":
      return "The agent finished without a text";
    default:
      return null;
  }
}

function failureOf({ stopReason, error }: AgentRunResult, cause: unknown) {
  const empty = stopReason === "empty_response";
  return runFailure({
    phase: "runtime",
    code: empty ? "empty_response" : "runtime_error",
    message: error ?? stopReason,
    retryable: cause instanceof A2AError && cause.retryable,
    cause,
  });
}
