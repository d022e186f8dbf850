import { EJAgentError } from "./errors.ts";
import type { Clock, Logger } from "./ports.ts";

/** Text of an abort that came without a reason. */
export const DEFAULT_ABORT_REASON = "the run was aborted";

/**
 * The reason of an aborted signal of this package; its message says why.
 *
 * Thrown out of waits that an abort ended. Thrown by user code while nothing was
 * aborted it is an ordinary error: only the signal decides about cancellation.
 */
export class AgentCancelledError extends EJAgentError {
  /** Always `"agent_cancelled"`. */
  override readonly code = "agent_cancelled";
}

/** The text of an abort reason: an error's message, any other value as text, never blank. */
export function abortReasonText(reason: unknown): string {
  try {
    const text = reason instanceof Error ? reason.message : String(reason);
    if (reason !== undefined && text.trim() !== "") return text;
  } catch {
    // A reason may throw when it is read.
  }
  return DEFAULT_ABORT_REASON;
}

/** Turns any abort reason into the one error class that this package rejects with. */
export function toCancelledError(reason: unknown): AgentCancelledError {
  if (reason instanceof AgentCancelledError) return reason;
  return new AgentCancelledError(abortReasonText(reason), { cause: reason });
}

/** Returns unless the signal has aborted. @throws {AgentCancelledError} With its reason. */
export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw toCancelledError(signal.reason);
}

/**
 * Calls `abort` once when the signal aborts, at once if it has already.
 *
 * @returns A function that removes the listener.
 */
export function followSignal(
  signal: AbortSignal | undefined,
  abort: (reason: unknown) => void,
): () => void {
  if (signal === undefined) return ignore;
  if (signal.aborted) {
    abort(signal.reason);
    return ignore;
  }
  const listener = () => abort(signal.reason);
  signal.addEventListener("abort", listener, { once: true });
  return () => signal.removeEventListener("abort", listener);
}

/**
 * Waits for work, but not beyond an abort; the work then goes on unheard.
 *
 * @throws The reason of the signal if it aborts first.
 */
export function unlessAborted<T>(
  work: PromiseLike<T>,
  signal: AbortSignal | undefined,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const unfollow = followSignal(signal, reject);
    work.then((value) => {
      unfollow();
      resolve(value);
    }, (error) => {
      unfollow();
      reject(error);
    });
  });
}

const sources = new WeakMap<AbortSignal, AbortSignal>();

/** Remembers that a signal follows another one, for {@linkcode derivesFrom}. */
export function markDerived(signal: AbortSignal, source: AbortSignal): void {
  sources.set(signal, source);
}

/** True if a signal is another one or follows it, as far as that was marked. */
export function derivesFrom(
  signal: AbortSignal,
  ancestor: AbortSignal,
): boolean {
  for (
    let at: AbortSignal | undefined = signal;
    at !== undefined;
    at = sources.get(at)
  ) {
    if (at === ancestor) return true;
  }
  return false;
}

/** Swallows the outcome of work that nobody waits for any longer. */
export function detach(work: unknown): void {
  if (isPromiseLike(work)) work.then(ignore, ignore);
}

/** Ends an iteration without waiting: a generator that is stuck never settles its return. */
export function closeIterator(
  iterator: AsyncIterator<unknown, unknown, unknown> | undefined,
): void {
  try {
    detach(iterator?.return?.(undefined));
  } catch {
    // Nobody reads on, so nobody wants to know.
  }
}

/** True for promises and other objects with a `then`. */
export function isPromiseLike(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null &&
    typeof (value as { then?: unknown }).then === "function";
}

/** Resolves in another turn of the event loop, so that timers and sockets are served. */
export function macrotask(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0));
}

function ignore(): void {}

interface Wait {
  cancel(): void;
  abandon(): void;
}

/** Where a cancellation takes its time from and where it reports abandoned work. */
export interface CancellationOptions {
  /** Drives the grace. */
  readonly clock: Clock;
  /** Milliseconds that abandoned work gets after an abort. */
  readonly graceMs: number;
  /** Told once if work was still running when the grace was over. */
  readonly logger: Logger;
}

/**
 * Decides whether one operation is cancelled, and ends its waits.
 *
 * A promise cannot be cancelled from outside. So an abort first fires the
 * signal; work that fulfils within one macrotask still counts. Then the waits
 * give the abandoned work until the grace is over to settle, and reject in any
 * case. The grace is one budget that starts with the abort.
 */
export class Cancellation {
  readonly #controller = new AbortController();
  readonly #waits = new Set<Wait>();
  readonly #options: CancellationOptions;
  #stage: "open" | "aborted" | "effective" | "expired" = "open";
  #macrotask: ReturnType<typeof setTimeout> | undefined;
  #cancelGrace: (() => void) | undefined;
  #whenExpired: (() => void)[] = [];
  #reason: AgentCancelledError | undefined;
  #closed = false;

  /** Nothing is aborted yet. */
  constructor(options: CancellationOptions) {
    this.#options = options;
  }

  /** Fires when the operation is aborted; its reason is an `AgentCancelledError`. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** True from the moment of the abort. */
  get aborted(): boolean {
    return this.#stage !== "open";
  }

  /** Milliseconds that abandoned work gets after an abort. */
  get graceMs(): number {
    return this.#options.graceMs;
  }

  /** The reason of the abort. */
  get reason(): AgentCancelledError {
    return this.#reason ?? new AgentCancelledError(DEFAULT_ABORT_REASON);
  }

  /** Aborts the operation; the first reason wins. @returns False if it was aborted before or is over. */
  abort(reason: unknown): boolean {
    if (this.aborted || this.#closed) return false;
    this.#reason = toCancelledError(reason);
    this.#stage = "aborted";
    // A real timer: the macrotask is what the event loop does, whatever the clock says.
    this.#macrotask = setTimeout(() => this.#takeEffect(), 0);
    const { clock, graceMs } = this.#options;
    this.#cancelGrace = clock.setTimer(graceMs, () => this.#expire());
    this.#controller.abort(this.#reason);
    return true;
  }

  /** Returns if nothing is aborted. @throws {AgentCancelledError} If the operation is. */
  throwIfAborted(): void {
    if (this.aborted) throw this.reason;
  }

  /**
   * Runs interruptible work.
   *
   * @param work Started at once, unless the operation is aborted already.
   * @param abandon Called once when the abort took effect, to help the work to an end.
   * @returns What the work returns.
   * @throws {AgentCancelledError} If the abort took effect first or the work failed under it.
   */
  async race<T>(
    work: () => T | PromiseLike<T>,
    abandon: () => void = ignore,
  ): Promise<T> {
    this.throwIfAborted();
    let pending: T | PromiseLike<T>;
    try {
      pending = work();
    } catch (error) {
      throw this.aborted ? this.reason : error;
    }
    return isPromiseLike(pending)
      ? await this.#wait(pending, abandon)
      : pending as T;
  }

  #wait<T>(pending: PromiseLike<T>, abandon: () => void): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const wait: Wait = { cancel: () => reject(this.reason), abandon };
      this.#waits.add(wait);
      pending.then((value) => {
        this.#waits.delete(wait);
        if (this.#stage === "effective") reject(this.reason);
        else resolve(value);
      }, (error) => {
        this.#waits.delete(wait);
        reject(this.aborted ? this.reason : error);
      });
    });
  }

  /** Calls back when the grace is over; at once if it is. @returns A function that forgets it. */
  onExpired(callback: () => void): () => void {
    if (this.#stage === "expired") {
      callback();
      return ignore;
    }
    this.#whenExpired.push(callback);
    return () => {
      this.#whenExpired = this.#whenExpired.filter((entry) =>
        entry !== callback
      );
    };
  }

  /** Ends the timers of an operation that is over; an abort no longer changes anything. */
  close(): void {
    this.#closed = true;
    clearTimeout(this.#macrotask);
    this.#cancelGrace?.();
    this.#whenExpired = [];
  }

  #takeEffect(): void {
    if (this.#stage !== "aborted") return;
    this.#stage = "effective";
    for (const wait of this.#waits) {
      try {
        wait.abandon();
      } catch {
        // The work is given up; how its clean-up failed interests nobody.
      }
    }
  }

  #expire(): void {
    if (this.#stage === "aborted") this.#takeEffect();
    this.#stage = "expired";
    for (const callback of this.#whenExpired.splice(0)) callback();
    if (this.#waits.size > 0) {
      this.#options.logger.warn(
        "Work that ignored its abort signal was abandoned",
        {
          reason: this.reason.message,
          count: this.#waits.size,
        },
      );
    }
    for (const wait of this.#waits) wait.cancel();
    this.#waits.clear();
  }
}
