import { frozen } from "./freeze.ts";

/**
 * Supplies the time and timers.
 *
 * Called whenever an event is stamped and whenever a bounded wait begins (grace
 * after an abort, idle streams, sinks, providers, locks, approvals, retries).
 * Neither method may throw.
 *
 * @example A clock that never fires
 * ```ts
 * import type { Clock } from "@ejagent/core";
 *
 * const frozen: Clock = { now: () => 0, setTimer: () => () => {} };
 * ```
 */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
  /**
   * Calls `fire` once after `ms` milliseconds, never before returning.
   *
   * @returns A function that cancels the timer; calling it later does nothing.
   */
  setTimer(ms: number, fire: () => void): () => void;
}

/** Supplies fresh identifiers of runs, control inputs, operations and records. */
export interface IdSource {
  /** A new identifier, never returned before; 32 lower-case hex digits by default. */
  next(): string;
}

/**
 * Receives what an operator should know.
 *
 * The core warns about failures that it contained, such as a sink that threw,
 * and says once what it starts with. Must not throw.
 */
export interface Logger {
  /** Something was contained. @param message One sentence. @param details Structured facts, never secrets. */
  warn(message: string, details?: Readonly<Record<string, unknown>>): void;
  /** The same for what is only good to know; a logger without it hears warnings alone. */
  info?(message: string, details?: Readonly<Record<string, unknown>>): void;
}

/** What platforms count in a timer; a longer one would fire at once. */
export const longestTimerMs = 0x7fffffff;

/** The platform's wall clock and timers; none waits longer than 24 days. */
export const systemClock: Clock = frozen({
  now: () => Date.now(),
  setTimer(ms: number, fire: () => void): () => void {
    const timer = setTimeout(fire, Math.min(ms, longestTimerMs));
    return () => clearTimeout(timer);
  },
});

/** Random UUIDs without dashes. */
export const randomIds: IdSource = frozen({
  next: () => crypto.randomUUID().replaceAll("-", ""),
});

/** Writes warnings to `console.warn` and nothing else. */
export const consoleLogger: Logger = frozen({
  warn(message: string, details?: Readonly<Record<string, unknown>>): void {
    if (details === undefined) console.warn(message);
    else console.warn(message, details);
  },
});

/** A logger whose failures reach nobody: what it is told must not change a run. */
export function containedLogger(logger: Logger): Logger {
  return {
    warn(message, details) {
      try {
        logger.warn(message, details);
      } catch {
        // There is nobody left to tell.
      }
    },
    info(message, details) {
      try {
        logger.info?.(message, details);
      } catch {
        // As above.
      }
    },
  };
}
