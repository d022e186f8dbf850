import type { Clock } from "../base/ports.ts";

// Taken at import, so that tests may replace the globals.
const { setTimeout: startTimer } = globalThis;

interface Timer {
  readonly dueMs: number;
  readonly fire: () => void;
}

/**
 * A clock that stands still until it is moved.
 *
 * @example A timer fires when its time has come
 * ```ts
 * import { ManualClock } from "@ejagent/core/testing";
 * import { deepEqual } from "node:assert/strict";
 *
 * const clock = new ManualClock();
 * const fired: number[] = [];
 * clock.setTimer(20, () => fired.push(clock.now()));
 * clock.setTimer(10, () => fired.push(clock.now()));
 * clock.advance(30);
 * deepEqual(fired, [10, 20]);
 * ```
 */
export class ManualClock implements Clock {
  #nowMs: number;
  readonly #timers = new Set<Timer>();

  /** Stands still at `startMs`, milliseconds since the Unix epoch. */
  constructor(startMs = 0) {
    this.#nowMs = startMs;
  }

  /** Milliseconds since the Unix epoch. */
  now(): number {
    return this.#nowMs;
  }

  /** How many timers have neither fired nor been cancelled. */
  get pending(): number {
    return this.#timers.size;
  }

  /** Calls `fire` once when the clock was moved by `ms`. @returns A function that cancels. */
  setTimer(ms: number, fire: () => void): () => void {
    const timer: Timer = { dueMs: this.#nowMs + Math.max(0, ms), fire };
    this.#timers.add(timer);
    return () => void this.#timers.delete(timer);
  }

  /** Fulfils when the clock was moved by `ms`. */
  wait(ms: number): Promise<void> {
    return new Promise((resolve) => this.setTimer(ms, resolve));
  }

  /**
   * Moves the clock and fires what falls due, in order of time, then of setting.
   *
   * Timers that a fired one sets are part of it if they fall due. Promises get
   * no turn before it returns.
   */
  advance(ms: number): void {
    const end = this.#nowMs + ms;
    while (this.#fireNext(end)) {
      // Each turn fires one timer.
    }
    this.#nowMs = end;
  }

  /**
   * Moves the clock like {@linkcode advance}, but lets promises run before the
   * first and after every timer, so that timers set by what they start count.
   */
  async advanceAsync(ms: number): Promise<void> {
    const end = this.#nowMs + ms;
    await promisesRun();
    while (this.#fireNext(end)) await promisesRun();
    this.#nowMs = end;
  }

  #fireNext(end: number): boolean {
    let next: Timer | undefined;
    for (const timer of this.#timers) {
      if (
        timer.dueMs <= end && (next === undefined || timer.dueMs < next.dueMs)
      ) next = timer;
    }
    if (next === undefined) return false;
    this.#timers.delete(next);
    this.#nowMs = Math.max(this.#nowMs, next.dueMs);
    next.fire();
    return true;
  }
}

function promisesRun(): Promise<void> {
  return new Promise((resolve) => startTimer(resolve, 0));
}
