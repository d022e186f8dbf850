import type { Clock } from "../../src/base/ports.ts";
import type { AgentEvent } from "../../src/events/event.ts";
import type { AgentEventSink } from "../../src/events/sink.ts";
import type { ResumeAttempts } from "./resumption.ts";
import type { ObjectStorage } from "./storage_types.ts";

/** How a {@linkcode RunAlarm} works. */
export interface RunAlarmOptions {
  /** Milliseconds until the alarm goes off. */
  readonly alarmMs: number;
  /** Tells the time. */
  readonly clock: Clock;
  /** What ends when a run begins. */
  readonly attempts: ResumeAttempts;
}

/**
 * Keeps the object's alarm set for as long as a run lasts.
 *
 * The platform keeps the alarm, not the object: it goes off even if the object
 * was evicted in the middle of the run.
 */
export class RunAlarm implements AgentEventSink {
  /** A run that nobody would find again does not begin. */
  readonly required = true;
  readonly #storage: ObjectStorage;
  readonly #options: RunAlarmOptions;

  constructor(storage: ObjectStorage, options: RunAlarmOptions) {
    this.#storage = storage;
    this.#options = options;
  }

  /** Sets it when a run begins and drops it at its end. */
  async emit({ kind }: AgentEvent): Promise<void> {
    if (kind === "agent_started" || kind === "agent_continued") {
      this.#options.attempts.reset();
      await this.set();
    } else if (kind === "agent_finished") {
      await this.#storage.deleteAlarm();
    }
  }

  /** Sets the alarm, or moves it. @param distance As a multiple of `alarmMs`. */
  async set(distance = 1): Promise<void> {
    const { alarmMs, clock } = this.#options;
    await this.#storage.setAlarm(clock.now() + distance * alarmMs);
  }
}
