import type { Cancellation } from "../base/abort.ts";
import { isPromiseLike } from "../base/abort.ts";
import { errorText } from "../base/errors.ts";
import type { Clock, Logger } from "../base/ports.ts";
import type { AgentRunResult } from "../messages/result.ts";
import {
  type AgentEvent,
  agentEvent,
  type AgentEventPayload,
} from "./event.ts";
import type { AgentEventSink } from "./sink.ts";

/** What an emitter needs to know of its run. */
export interface EmitterOptions {
  /** Stamped on every event. */
  readonly agentId: string;
  /** Stamped on every event. */
  readonly runId: string;
  /** Single sinks, required ones first. */
  readonly sinks: readonly AgentEventSink[];
  /** Gets each event after the sinks; never waited for. */
  readonly observe: ((event: AgentEvent) => void) | undefined;
  /** Its grace bounds how long a sink may hold an aborted run up. */
  readonly cancellation: Cancellation;
  /** Milliseconds one call of a sink may take; null for no bound. */
  readonly sinkTimeoutMs: number | null;
  /** Stamps events and drives the bounds. */
  readonly clock: Clock;
  /** Told about sinks that fail or hang. */
  readonly logger: Logger;
}

interface Listener {
  readonly sink: AgentEventSink;
  readonly required: boolean;
  detached: boolean;
}

function isRequired(listener: Listener): boolean {
  return listener.required;
}

/**
 * Delivers the events of one run.
 *
 * Numbers are given and sinks are called inside one first-in-first-out section,
 * so events never overtake each other. An emission that nobody makes wait
 * returns nothing, so that a fast run does not pay for promises.
 */
export class EventEmitter {
  readonly #options: EmitterOptions;
  readonly #listeners: readonly Listener[];
  #sequence = 0;
  #delivering: Promise<void> | undefined;
  #calling = false;
  #failure: unknown;
  #failed = false;

  /** Starts with sequence number 1. */
  constructor(options: EmitterOptions) {
    this.#options = options;
    this.#listeners = options.sinks.map((sink) => ({
      sink,
      required: sink.required === true,
      detached: false,
    }));
  }

  /** True once a required sink has failed. */
  get failed(): boolean {
    return this.#failed;
  }

  /** What the first required sink that failed threw. */
  get failure(): unknown {
    return this.#failure;
  }

  /** Delivers one event to everyone. @returns A promise only if there is something to wait for. */
  emit(payload: AgentEventPayload): Promise<void> | undefined {
    // An event that a sink causes while it is called must not overtake its own.
    if (this.#calling) return Promise.resolve().then(() => this.emit(payload));
    if (this.#delivering !== undefined) {
      return this.#occupy(this.#delivering.then(() => this.#emitNow(payload)));
    }
    const pending = this.#emitNow(payload);
    return pending === undefined ? undefined : this.#occupy(pending);
  }

  /**
   * Delivers the last event of a run.
   *
   * Required sinks come first: if one fails, the others see the result that
   * `onFailure` makes of it.
   *
   * @returns The result that was delivered.
   */
  async finish(
    result: AgentRunResult,
    onFailure: (error: unknown) => AgentRunResult,
  ): Promise<AgentRunResult> {
    await this.#delivering;
    const failedBefore = this.#failed;
    const event = this.#make({ kind: "agent_finished", result });
    await this.#deliver(event, this.#listeners.filter(isRequired), false);
    const final = this.#failed && !failedBefore
      ? onFailure(this.#failure)
      : result;
    const last = final === result
      ? event
      : agentEvent(event, { kind: "agent_finished", result: final });
    await this.#deliver(
      last,
      this.#listeners.filter((entry) => !isRequired(entry)),
    );
    return final;
  }

  #make(payload: AgentEventPayload): AgentEvent {
    const { agentId, runId, clock } = this.#options;
    const sequence = ++this.#sequence;
    return agentEvent(
      { agentId, runId, sequence, timeMs: clock.now() },
      payload,
    );
  }

  #emitNow(payload: AgentEventPayload): Promise<void> | undefined {
    return this.#deliver(this.#make(payload), this.#listeners);
  }

  /** Makes later emissions wait for this one. */
  #occupy(pending: Promise<void>): Promise<void> {
    const tail = pending.then(() => {
      if (this.#delivering === tail) this.#delivering = undefined;
    });
    return this.#delivering = tail;
  }

  #deliver(
    event: AgentEvent,
    listeners: readonly Listener[],
    observed = true,
    from = 0,
  ): Promise<void> | undefined {
    for (let index = from; index < listeners.length; index++) {
      const pending = this.#call(listeners[index]!, event);
      if (pending !== undefined) {
        return pending.then(() =>
          this.#deliver(event, listeners, observed, index + 1)
        );
      }
    }
    if (observed) this.#options.observe?.(event);
    return undefined;
  }

  #call(listener: Listener, event: AgentEvent): Promise<void> | undefined {
    if (listener.detached) return undefined;
    this.#calling = true;
    try {
      const pending = listener.sink.emit(event);
      return isPromiseLike(pending)
        ? this.#settle(listener, event, pending)
        : undefined;
    } catch (error) {
      this.#fail(listener, event, error);
      return undefined;
    } finally {
      this.#calling = false;
    }
  }

  #settle(
    listener: Listener,
    event: AgentEvent,
    pending: PromiseLike<void>,
  ): Promise<void> {
    const { clock, cancellation, sinkTimeoutMs } = this.#options;
    return new Promise((resolve) => {
      let settled = false;
      const settle = (error?: { readonly cause: unknown }) => {
        if (settled) return;
        settled = true;
        cancelTimer();
        forget();
        if (error !== undefined) this.#fail(listener, event, error.cause);
        resolve();
      };
      const giveUp = () => {
        listener.detached = true;
        settle({
          cause: new Error(
            "The event sink took too long and was detached",
          ),
        });
      };
      let cancelTimer = () => {};
      let forget = () => {};
      Promise.resolve(pending).then(
        () => settle(),
        (cause) => settle({ cause }),
      );
      // A call that the abort interrupts has the rest of the grace, a later one a grace of its own.
      const boundMs = cancellation.aborted
        ? Math.min(sinkTimeoutMs ?? Infinity, cancellation.graceMs)
        : sinkTimeoutMs;
      if (boundMs !== null) cancelTimer = clock.setTimer(boundMs, giveUp);
      if (!cancellation.aborted) forget = cancellation.onExpired(giveUp);
    });
  }

  #fail(listener: Listener, event: AgentEvent, error: unknown): void {
    const { agentId, logger } = this.#options;
    const { required } = listener;
    if (required) {
      listener.detached = true;
      if (!this.#failed) this.#failure = error;
      this.#failed = true;
    }
    const what = required
      ? "A run could not be recorded"
      : "An event sink failed";
    const { kind } = event;
    logger.warn(what, { agentId, kind, required, error: errorText(error) });
  }
}
