import { followSignal, markDerived } from "../base/abort.ts";

/**
 * Gives every call of a turn a signal of its own.
 *
 * A call's signal follows the turn's only while the call is pending, so that
 * what a tool forgot to unsubscribe is not told about later aborts. Signals are
 * made when they are read, and all of them share one listener.
 */
export class CallSignals {
  readonly #turn: AbortSignal;
  readonly #pending = new Set<AbortController>();
  #unfollow: (() => void) | undefined;

  /** @param turn The signal to follow. */
  constructor(turn: AbortSignal) {
    this.#turn = turn;
  }

  /** True if the turn is aborted. */
  get aborted(): boolean {
    return this.#turn.aborted;
  }

  /** Opens the signal of one call. */
  open(): CallSignal {
    return new CallSignal(this);
  }

  /** Makes a controller that is aborted with the turn until it is dropped. */
  follow(controller: AbortController): void {
    this.#pending.add(controller);
    markDerived(controller.signal, this.#turn);
    this.#unfollow ??= followSignal(this.#turn, (reason) => {
      for (const pending of this.#pending) pending.abort(reason);
    });
    if (this.#turn.aborted) controller.abort(this.#turn.reason);
  }

  /** Leaves a controller alone from now on. */
  drop(controller: AbortController): void {
    this.#pending.delete(controller);
  }

  /** Stops listening to the turn. */
  close(): void {
    this.#unfollow?.();
  }
}

/** The signal of one call. */
export class CallSignal {
  readonly #signals: CallSignals;
  #controller: AbortController | undefined;
  #pending = true;

  constructor(signals: CallSignals) {
    this.#signals = signals;
  }

  /** The signal; always the same one. */
  get value(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#pending) this.#signals.follow(this.#controller);
    }
    return this.#controller.signal;
  }

  /** Ends the call: its signal no longer follows the turn. */
  end(): void {
    // A tool that was given up may look at it for the first time after this.
    if (this.#signals.aborted) void this.value;
    this.#pending = false;
    if (this.#controller !== undefined) this.#signals.drop(this.#controller);
  }
}
