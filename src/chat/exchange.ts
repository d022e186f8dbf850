import { detach, followSignal } from "../base/abort.ts";
import type { Clock } from "../base/ports.ts";
import { idleError, type Operation } from "./errors.ts";

/** What bounds an {@linkcode Exchange}. */
export interface ExchangeLimits {
  /** Ends the exchange from outside. */
  readonly signal: AbortSignal;
  /** Measures the waits. */
  readonly clock: Clock;
  /** Says how long a wait may take, and what failed if it took longer. */
  readonly operation: Operation;
}

// What may follow a complete answer before its connection is given up.
const restMs = 50;
const restBytes = 4096;

/**
 * One request and the reading of its response.
 *
 * Every wait ends when the signal aborts or when it took too long, even if the
 * transport ignores its signal.
 */
export class Exchange {
  readonly #limits: ExchangeLimits;
  readonly #controller = new AbortController();
  readonly #unfollow: () => void;
  #reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  #answering = false;
  #expired = false;
  #waitingSince: number | undefined;
  #shared = false;
  #stopTimer: (() => void) | undefined;

  constructor(limits: ExchangeLimits) {
    this.#limits = limits;
    this.#unfollow = followSignal(
      limits.signal,
      (reason) => this.#interrupt(reason),
    );
  }

  /** True once the response is there. */
  get answering(): boolean {
    return this.#answering;
  }

  /**
   * Waits for the response.
   *
   * @param send Gets a signal that aborts with the caller's and when a wait
   * took too long.
   */
  async open(
    send: (signal: AbortSignal) => Promise<Response>,
  ): Promise<Response> {
    const { signal } = this.#controller;
    this.#beginWait();
    const response = await untilAborted(send(signal), signal);
    this.#waitingSince = undefined;
    this.#answering = true;
    this.#reader = response.body?.getReader();
    return response;
  }

  /** From now on all waits together may take as long as one. */
  shareTime(): void {
    this.#beginWait();
    this.#shared = true;
  }

  /** The next piece of the body; undefined at its end. */
  async read(): Promise<Uint8Array | undefined> {
    if (this.#reader === undefined) return undefined;
    this.#beginWait();
    const { value } = await this.#reader.read();
    if (!this.#shared) this.#waitingSince = undefined;
    // An interrupted body may just end as if it were complete.
    this.throwIfInterrupted();
    return value;
  }

  /**
   * Reads the little that follows a complete answer.
   *
   * Cancelling in front of the end would cost most connections their next use.
   */
  async drain(): Promise<void> {
    const reader = this.#reader;
    if (reader === undefined || this.#controller.signal.aborted) return;
    const stopTimer = this.#limits.clock.setTimer(
      restMs,
      () => detach(reader.cancel()),
    );
    try {
      for (let rest = 0; rest < restBytes;) {
        const { value } = await reader.read();
        if (value === undefined) break;
        rest += value.length;
      }
    } catch {
      // The answer is complete; how its connection ends changes nothing.
    }
    stopTimer();
  }

  /** Ends timers and listeners and cancels what is left of the body. */
  close(): void {
    this.#stopTimer?.();
    this.#unfollow();
    if (this.#reader !== undefined) detach(this.#reader.cancel());
  }

  /** @throws The reason of the abort, else a `ModelTimeoutError` if a wait took too long. */
  throwIfInterrupted(): void {
    this.#limits.signal.throwIfAborted();
    if (this.#expired) throw idleError(this.#limits.operation, this.#answering);
  }

  // One timer serves all waits: it looks at the time when it fires instead of being renewed.
  #beginWait(): void {
    if (this.#shared) return;
    this.#waitingSince = this.#limits.clock.now();
    if (this.#stopTimer === undefined) {
      this.#setTimer(this.#limits.operation.timeoutMs);
    }
  }

  #setTimer(ms: number): void {
    this.#stopTimer = this.#limits.clock.setTimer(ms, () => {
      this.#stopTimer = undefined;
      if (this.#waitingSince === undefined) return;
      const end = this.#waitingSince + this.#limits.operation.timeoutMs;
      const left = end - this.#limits.clock.now();
      if (left > 0) return this.#setTimer(left);
      this.#expired = true;
      this.#interrupt(
        new DOMException("The wait took too long", "TimeoutError"),
      );
    });
  }

  #interrupt(reason: unknown): void {
    this.#controller.abort(reason);
    // Ends a pending read too, of a body that knows nothing of the signal.
    if (this.#reader !== undefined) detach(this.#reader.cancel(reason));
  }
}

/** Waits for a response until the signal aborts; one that comes later is cancelled. */
export function untilAborted(
  pending: Promise<Response>,
  signal: AbortSignal,
): Promise<Response> {
  return new Promise((resolve, reject) => {
    const unfollow = followSignal(signal, reject);
    pending.then((response) => {
      unfollow();
      if (signal.aborted) detach(response.body?.cancel());
      resolve(response);
    }, reject);
  });
}
