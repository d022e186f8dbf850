import { EJAgentError, errorText } from "../base/errors.ts";
import { frozenList } from "../base/freeze.ts";
import type { AgentEvent } from "./event.ts";

/**
 * Observes the runs of an agent.
 *
 * Called for every event, in order, one call at a time; the run waits for each
 * call. What an ordinary sink throws is logged and otherwise ignored. A sink
 * must not wait for operations of the same agent: it would wait for itself.
 *
 * @example Count the tokens of text
 * ```ts
 * import type { AgentEventSink } from "@ejagent/core";
 *
 * let characters = 0;
 * const counter: AgentEventSink = {
 *   emit(event) {
 *     if (event.kind === "assistant_text_delta") characters += event.delta.length;
 *   },
 * };
 * ```
 */
export interface AgentEventSink {
  /**
   * True if a run must not go on unrecorded: after a failure the run stops
   * before its next model request or tool call and fails.
   *
   * @default {false}
   */
  readonly required?: boolean;
  /** Takes one frozen event. May reject; see `required`. */
  emit(event: AgentEvent): void | PromiseLike<void>;
}

/** Several sinks of a composite failed on one event. */
export class AgentEventSinkError extends EJAgentError {
  /** Always `"agent_event_sink"`. */
  override readonly code = "agent_event_sink";
  /** What the sinks threw, in their order. */
  readonly errors: readonly unknown[];

  /** Makes the error. @param errors What the sinks threw. */
  constructor(errors: readonly unknown[]) {
    super(
      `${errors.length} event sink(s) failed: ${
        errors.map(errorText).join("; ")
      }`,
      {
        cause: errors[0],
      },
    );
    this.errors = frozenList(errors);
  }
}

/**
 * Forwards events to several sinks, one after the other.
 *
 * A failing sink does not keep the event from the others. An agent looks into
 * composites: it calls required members first and judges each by itself.
 *
 * @example Observe with two sinks
 * ```ts
 * import { CompositeAgentEventSink } from "@ejagent/core";
 *
 * const kinds: string[] = [];
 * const sink = new CompositeAgentEventSink([
 *   { emit: (event) => void kinds.push(event.kind) },
 *   { emit: (event) => console.debug(event.sequence) },
 * ]);
 * ```
 */
export class CompositeAgentEventSink implements AgentEventSink {
  /** The members, in order. */
  readonly sinks: readonly AgentEventSink[];

  /** Makes a composite. @param sinks Members in the order in which they get each event. */
  constructor(sinks: readonly AgentEventSink[]) {
    this.sinks = frozenList(sinks);
  }

  /** Forwards one event. @throws {AgentEventSinkError} After all members were called. */
  async emit(event: AgentEvent): Promise<void> {
    const errors: unknown[] = [];
    for (const sink of this.sinks) {
      try {
        await sink.emit(event);
      } catch (error) {
        errors.push(error);
      }
    }
    if (errors.length > 0) throw new AgentEventSinkError(errors);
  }
}

/** The single sinks behind a list that may hold composites: required ones first. */
export function flattenSinks(
  sinks: readonly AgentEventSink[],
): readonly AgentEventSink[] {
  const flat = sinks.flatMap(membersOf);
  return [
    ...flat.filter((sink) => sink.required === true),
    ...flat.filter((sink) => sink.required !== true),
  ];
}

function membersOf(sink: AgentEventSink): readonly AgentEventSink[] {
  return sink instanceof CompositeAgentEventSink
    ? sink.sinks.flatMap(membersOf)
    : [sink];
}
