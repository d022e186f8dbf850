import { followSignal } from "../base/abort.ts";
import type { Clock } from "../base/ports.ts";
import { thrownErrorType } from "./attributes.ts";
import type { OpenSpan, SpanOutcome } from "./spans.ts";

/** The end of what an abort or a reader that left cut off: nobody's mistake. */
export const CUT_OFF: SpanOutcome = { errorType: "cancelled", failed: false };

/** The end of what threw. */
export function thrown(error: unknown): SpanOutcome {
  return { errorType: thrownErrorType(error), error };
}

/** How a stream is observed. */
export interface Observation<T, R> {
  /** Aborted when an error is only the echo of a cancellation. */
  readonly signal: AbortSignal;
  /** The outcome of a stream that did not reach its end. */
  readonly cutOff: SpanOutcome;
  /** The outcome of what it returned. */
  readonly outcomeOf: (result: R) => SpanOutcome;
  /** Called for everything that it yields. */
  readonly onItem?: (item: T) => void;
}

/**
 * Forwards a stream and ends its span with it.
 *
 * The span is active only while the stream works, never while its reader does.
 */
export async function* observe<T, R>(
  span: OpenSpan,
  stream: AsyncGenerator<T, R, void>,
  observation: Observation<T, R>,
): AsyncGenerator<T, R, void> {
  const { signal, cutOff, outcomeOf, onItem } = observation;
  try {
    for (;;) {
      const step = await span.run(() => stream.next());
      if (step.done) {
        span.end(outcomeOf(step.value));
        return step.value;
      }
      onItem?.(step.value);
      yield step.value;
    }
  } catch (error) {
    span.end(signal.aborted ? cutOff : thrown(error));
    throw error;
  } finally {
    // Both without effect after the end; a reader that left early comes here first.
    try {
      await span.run(() => stream.return(undefined as never));
    } finally {
      span.end(cutOff);
    }
  }
}

/** What one run did and has open. */
export class OpenRun {
  /** Model requests so far. */
  inferenceCalls = 0;
  /** Tool calls so far. */
  toolCalls = 0;
  readonly #open = new Set<OpenSpan>();

  /** Remembers a span that the run waits for. */
  add(span: OpenSpan): void {
    this.#open.add(span);
  }

  /** Forgets a span that has ended. */
  remove(span: OpenSpan): void {
    this.#open.delete(span);
  }

  /** Ends the spans of work that ignored its abort and was abandoned. */
  cutOff(): void {
    for (const span of this.#open) span.end(CUT_OFF);
  }
}

/** An aborted run gets this long to return before its agent must have given it up. */
const abandonedAfterMs = 10_000;

/**
 * Calls back if a run has not returned long after its abort: a layer inside
 * ignores the abort, and nothing else would tell.
 *
 * @returns A function that forgets it.
 */
export function whenAbandoned(
  signal: AbortSignal,
  clock: Clock,
  callback: () => void,
): () => void {
  let cancelTimer: (() => void) | undefined;
  const unfollow = followSignal(signal, () => {
    cancelTimer = clock.setTimer(abandonedAfterMs, callback);
  });
  return () => {
    unfollow();
    cancelTimer?.();
  };
}
