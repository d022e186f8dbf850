import type { ModelUsage } from "../messages/usage.ts";

/** Adds up what the model requests of one run spend. */
export interface RequestMeter {
  /** A request is about to be sent. */
  requestStarted(): void;
  /** It was answered. @param usage What its provider says it spent, if it says so. */
  reported(usage: ModelUsage | null | undefined): void;
  /** It failed. @param started True if parts of an answer had come. */
  requestFailed(error: unknown, started: boolean): void;
}

/** Where the scope of a run holds its {@linkcode RequestMeter}, for middleware that asks models by itself. */
export const REQUEST_METER: unique symbol = Symbol.for("ejagent.meter");
