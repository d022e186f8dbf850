import { frozen } from "../base/freeze.ts";
import type { CompactionDecision } from "../context/budget.ts";
import type {
  CompactionRequest,
  CompactionResult,
} from "../context/compaction.ts";
import type { CompactionPreparation } from "../context/prepare.ts";
import type { ControlInput } from "../messages/control.ts";
import type { TaskInput } from "../messages/content.ts";
import type { AssistantMessage } from "../messages/message.ts";
import type { AgentRunResult, StopReason } from "../messages/result.ts";
import type { ModelToolCall, ToolProgressUpdate } from "../messages/tool.ts";
import type { ModelUsage } from "../messages/usage.ts";
import type { ToolCallResult } from "../tools/outcome.ts";

/** Members that every event has. */
export interface AgentEventEnvelope {
  /** The agent that runs. */
  readonly agentId: string;
  /** Its run, or the explicit compaction. */
  readonly runId: string;
  /** 1, 2, 3 and so on within a run, in the order of delivery. */
  readonly sequence: number;
  /** Milliseconds since the Unix epoch. */
  readonly timeMs: number;
}

/** First event of a run that has a task; its user message is in the history. */
export interface AgentStarted {
  /** Tells the events apart. */
  readonly kind: "agent_started";
  /** Text of the task. */
  readonly task: string;
  /** The parts of a task that is more than text. */
  readonly content?: TaskInput;
}

/** First event of a run that goes on without a new task. */
export interface AgentContinued {
  /** Tells the events apart. */
  readonly kind: "agent_continued";
}

/** A turn begins: one model request and the tools it asks for. */
export interface TurnStarted {
  /** Tells the events apart. */
  readonly kind: "turn_started";
  /** From 1. */
  readonly turn: number;
}

/** A steering input became a user message. */
export interface SteeringApplied {
  /** Tells the events apart. */
  readonly kind: "steering_applied";
  /** The input. */
  readonly control: ControlInput;
  /** The turn whose request is the first to hold it. */
  readonly targetTurn: number;
}

/** A steering input that the run ended before it could be applied. */
export interface SteeringDiscarded {
  /** Tells the events apart. */
  readonly kind: "steering_discarded";
  /** The input. */
  readonly control: ControlInput;
  /** Why the run ended. */
  readonly reason: StopReason;
}

/** A request was measured against the context budget. */
export interface ContextPressureEvaluated {
  /** Tells the events apart. */
  readonly kind: "context_pressure_evaluated";
  /** From 1. */
  readonly turn: number;
  /** What the measure says. */
  readonly decision: CompactionDecision;
  /** What a compaction would do; present exactly if the decision says so. */
  readonly preparation: CompactionPreparation | null;
}

/** A compaction begins. */
export interface CompactionStarted {
  /** Tells the events apart. */
  readonly kind: "compaction_started";
  /** What is going to be summarised. */
  readonly request: CompactionRequest;
}

/** A compaction replaced the history, or found nothing to do. */
export interface CompactionCompleted {
  /** Tells the events apart. */
  readonly kind: "compaction_completed";
  /** Its status is `"completed"` or `"skipped"`. */
  readonly result: CompactionResult;
}

/** A compaction left the history as it was. */
export interface CompactionFailed {
  /** Tells the events apart. */
  readonly kind: "compaction_failed";
  /** Its status is `"failed"` or `"cancelled"`. */
  readonly result: CompactionResult;
}

/** A piece of the answer's text; void unless a `message_completed` follows in this turn. */
export interface AssistantTextDelta {
  /** Tells the events apart. */
  readonly kind: "assistant_text_delta";
  /** From 1. */
  readonly turn: number;
  /** Not empty. */
  readonly delta: string;
}

/** A piece of the model's thinking; never stored. */
export interface AssistantThinkingDelta {
  /** Tells the events apart. */
  readonly kind: "assistant_thinking_delta";
  /** From 1. */
  readonly turn: number;
  /** Not empty. */
  readonly delta: string;
}

/** The answer of the model is in the history. */
export interface MessageCompleted {
  /** Tells the events apart. */
  readonly kind: "message_completed";
  /** From 1. */
  readonly turn: number;
  /** The object that the adapter delivered. */
  readonly message: AssistantMessage;
  /** Null if the provider did not report it. */
  readonly usage: ModelUsage | null;
  /** The provider's own word for why it stopped. */
  readonly finishReason: string | null;
}

/** A call is about to be executed or settled. */
export interface ToolStarted {
  /** Tells the events apart. */
  readonly kind: "tool_started";
  /** From 1. */
  readonly turn: number;
  /** The same object in all events of the call. */
  readonly toolCall: ModelToolCall;
}

/** A tool reports progress. */
export interface ToolProgressed {
  /** Tells the events apart. */
  readonly kind: "tool_progressed";
  /** From 1. */
  readonly turn: number;
  /** The same object in all events of the call. */
  readonly toolCall: ModelToolCall;
  /** What it reports. */
  readonly update: ToolProgressUpdate;
}

/** A call is settled and its tool message is in the history. */
export interface ToolCompleted {
  /** Tells the events apart. */
  readonly kind: "tool_completed";
  /** From 1. */
  readonly turn: number;
  /** The same object in all events of the call. */
  readonly toolCall: ModelToolCall;
  /** What became of it. */
  readonly result: ToolCallResult;
}

/** A turn is over, however it ended. */
export interface TurnCompleted {
  /** Tells the events apart. */
  readonly kind: "turn_completed";
  /** From 1. */
  readonly turn: number;
}

/** Last event of a run. */
export interface AgentFinished {
  /** Tells the events apart. */
  readonly kind: "agent_finished";
  /** The object that the caller gets. */
  readonly result: AgentRunResult;
}

/** What an event says. */
export type AgentEventPayload =
  | AgentStarted
  | AgentContinued
  | TurnStarted
  | SteeringApplied
  | SteeringDiscarded
  | ContextPressureEvaluated
  | CompactionStarted
  | CompactionCompleted
  | CompactionFailed
  | AssistantTextDelta
  | AssistantThinkingDelta
  | MessageCompleted
  | ToolStarted
  | ToolProgressed
  | ToolCompleted
  | TurnCompleted
  | AgentFinished;

/** Something that happened in a run; frozen and flat, told apart by `kind`. */
export type AgentEvent = AgentEventEnvelope & AgentEventPayload;

/** All kinds of events. */
export type AgentEventKind = AgentEventPayload["kind"];

/**
 * Makes one event.
 *
 * @param payload Taken over: completed in place and frozen.
 * @throws {RangeError} A turn below 1, an empty delta or progress message, or
 * parts that contradict each other.
 */
export function agentEvent(
  envelope: AgentEventEnvelope,
  payload: AgentEventPayload,
): AgentEvent {
  if (!isConsistent(payload)) {
    throw new RangeError(
      `The fields of a ${payload.kind} event contradict each other`,
    );
  }
  // In place, because copying members is the most expensive part of a streamed delta.
  const event = payload as AgentEventPayload & Writable<AgentEventEnvelope>;
  event.agentId = envelope.agentId;
  event.runId = envelope.runId;
  event.sequence = envelope.sequence;
  event.timeMs = envelope.timeMs;
  return frozen(event);
}

type Writable<T> = { -readonly [Member in keyof T]: T[Member] };

function isConsistent(payload: AgentEventPayload): boolean {
  switch (payload.kind) {
    case "assistant_text_delta":
    case "assistant_thinking_delta":
      return payload.delta !== "" && payload.turn >= 1;
    case "tool_progressed":
      return payload.update.message !== "" && payload.turn >= 1;
    case "turn_started":
    case "turn_completed":
    case "message_completed":
    case "tool_started":
    case "tool_completed":
      return payload.turn >= 1;
    case "steering_applied":
      return payload.control.kind === "steering" && payload.targetTurn >= 1;
    case "steering_discarded":
      return payload.control.kind === "steering";
    case "context_pressure_evaluated":
      return payload.turn >= 1 &&
        (payload.preparation !== null) === payload.decision.shouldCompact;
    case "compaction_completed":
      return /^(completed|skipped)$/.test(payload.result.status);
    case "compaction_failed":
      return /^(failed|cancelled)$/.test(payload.result.status);
    default:
      return true;
  }
}
