import type { Clock } from "../base/ports.ts";

// Servers announce several changes at once, one by one.
const settleMs = 300;
// A server that never stops must not keep the first of its changes back.
const longestWaitMs = 2000;

/**
 * Decides when a list that is said to have changed is read again.
 *
 * There is one reading at a time, so none can be overtaken by an older one, and always
 * one that begins after the last announcement.
 */
export class ListRefresh {
  readonly #clock: Clock;
  readonly #refresh: () => void;
  #cancelTimer: (() => void) | undefined;
  /** When the first announcement came that waits for a reading. */
  #waitingSinceMs: number | undefined;
  #isReading = false;
  #isStale = false;
  #isEnded = false;

  /** Waits for announcements. @param refresh Has to read the list, with `read`. */
  constructor(clock: Clock, refresh: () => void) {
    this.#clock = clock;
    this.#refresh = refresh;
  }

  /** The list is said to have changed. */
  announce(): void {
    if (this.#isEnded) return;
    if (this.#isReading) {
      this.#isStale = true;
      return;
    }
    const nowMs = this.#clock.now();
    this.#waitingSinceMs ??= nowMs;
    const leftMs = this.#waitingSinceMs + longestWaitMs - nowMs;
    this.#cancelTimer?.();
    this.#cancelTimer = this.#clock.setTimer(
      Math.max(0, Math.min(settleMs, leftMs)),
      this.#refresh,
    );
  }

  /** Reads the list. */
  async read<T>(read: () => Promise<T>): Promise<T> {
    this.#stopWaiting();
    this.#isReading = true;
    try {
      return await read();
    } finally {
      this.#isReading = false;
      if (this.#isStale) {
        this.#isStale = false;
        this.announce();
      }
    }
  }

  /** Nobody wants to know any longer. */
  end(): void {
    this.#isEnded = true;
    this.#stopWaiting();
  }

  #stopWaiting(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    this.#waitingSinceMs = undefined;
  }
}
