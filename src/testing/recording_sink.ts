import type { AgentEvent } from "../events/event.ts";
import type { AgentEventSink } from "../events/sink.ts";

/** An event of one kind. */
export type EventOf<Kind extends AgentEvent["kind"]> = Extract<
  AgentEvent,
  { readonly kind: Kind }
>;

/** How a {@linkcode RecordingEventSink} behaves. */
export interface RecordingEventSinkOptions {
  /** Makes a failure of the sink stop the run. @default {false} */
  readonly required?: boolean | undefined;
  /** Called with every event after it was recorded; what it throws, the sink throws. */
  readonly onEvent?: ((event: AgentEvent) => void | Promise<void>) | undefined;
}

/**
 * Keeps every event it gets, in order.
 *
 * @example The shape of a run in one line
 * ```ts
 * import { Agent } from "@ejagent/core";
 * import { RecordingEventSink, ScriptedModel, text } from "@ejagent/core/testing";
 * import { equal } from "node:assert/strict";
 *
 * const sink = new RecordingEventSink();
 * const model = new ScriptedModel([text("done")]);
 * await new Agent({ agentId: "a", model, eventSink: sink }).run("Go");
 * equal(sink.trace(), "AS TS1 MC TC1 AF(completed/text_response)");
 * ```
 */
export class RecordingEventSink implements AgentEventSink {
  /** True if a failure of this sink stops the run. */
  readonly required: boolean;
  readonly #events: AgentEvent[] = [];
  readonly #onEvent: RecordingEventSinkOptions["onEvent"];
  readonly #waiting = new Set<(event: AgentEvent) => void>();

  /** Starts empty. */
  constructor(options: RecordingEventSinkOptions = {}) {
    this.required = options.required ?? false;
    this.#onEvent = options.onEvent;
  }

  /** All events so far, oldest first; the very objects that were emitted. */
  get events(): readonly AgentEvent[] {
    return this.#events;
  }

  /** Their kinds. */
  get kinds(): readonly AgentEvent["kind"][] {
    return this.#events.map((event) => event.kind);
  }

  /** The events of one kind, oldest first. */
  ofKind<Kind extends AgentEvent["kind"]>(
    kind: Kind,
  ): readonly EventOf<Kind>[] {
    return this.#events.filter((event): event is EventOf<Kind> =>
      event.kind === kind
    );
  }

  /** The first event of a kind, as soon as there is one. */
  first<Kind extends AgentEvent["kind"]>(kind: Kind): Promise<EventOf<Kind>> {
    const [present] = this.ofKind(kind);
    if (present !== undefined) return Promise.resolve(present);
    return new Promise((resolve) => {
      const look = (event: AgentEvent) => {
        if (event.kind !== kind) return;
        this.#waiting.delete(look);
        resolve(event as EventOf<Kind>);
      };
      this.#waiting.add(look);
    });
  }

  /** The events in the notation of {@linkcode traceOf}. */
  trace(): string {
    return traceOf(this.#events);
  }

  /** Forgets all events. */
  clear(): void {
    this.#events.length = 0;
  }

  /** Records one event. */
  async emit(event: AgentEvent): Promise<void> {
    this.#events.push(event);
    for (const look of this.#waiting) look(event);
    await this.#onEvent?.(event);
  }
}

/**
 * Writes events in a compact notation, separated by spaces.
 *
 * Runs: `AS` started, `AC` continued, `AF(status/stopReason)` finished. Turns:
 * `TS1`, `TC1`, `xD` and `hD` text and thinking deltas, `MC` message completed.
 * Tools: `tS(id)`, `tP(id)`, `tC(id)`, or `tC(id,error)` and `tC(id,cancelled)`.
 * Steering: `SA`, `SD`. Compaction: `CP` pressure evaluated, `cS`, `cC` or
 * `cC(skipped)`, `cF(failed)` or `cF(cancelled)`.
 */
export function traceOf(events: Iterable<AgentEvent>): string {
  return Array.from(events, traceMark).join(" ");
}

function traceMark(event: AgentEvent): string {
  switch (event.kind) {
    case "agent_started":
      return "AS";
    case "agent_continued":
      return "AC";
    case "turn_started":
      return `TS${event.turn}`;
    case "steering_applied":
      return "SA";
    case "steering_discarded":
      return "SD";
    case "context_pressure_evaluated":
      return "CP";
    case "compaction_started":
      return "cS";
    case "compaction_completed":
      return event.result.status === "completed"
        ? "cC"
        : `cC(${event.result.status})`;
    case "compaction_failed":
      return `cF(${event.result.status})`;
    case "assistant_text_delta":
      return "xD";
    case "assistant_thinking_delta":
      return "hD";
    case "message_completed":
      return "MC";
    case "tool_started":
      return `tS(${event.toolCall.id})`;
    case "tool_progressed":
      return `tP(${event.toolCall.id})`;
    case "tool_completed":
      return `tC(${event.toolCall.id}${toolEnding(event)})`;
    case "turn_completed":
      return `TC${event.turn}`;
    case "agent_finished":
      return `AF(${event.result.status}/${event.result.stopReason})`;
  }
}

function toolEnding({ result }: EventOf<"tool_completed">): string {
  if (result.cancelled) return ",cancelled";
  return result.error === null ? "" : ",error";
}
