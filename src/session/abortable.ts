import {
  closeIterator,
  toCancelledError,
  unlessAborted,
} from "../base/abort.ts";

/**
 * Waits for a medium, but not beyond an abort: one that hangs may hang for ever,
 * whatever it was told about a signal.
 *
 * @throws {AgentCancelledError} The signal aborted first.
 */
export async function abortable<T>(
  work: PromiseLike<T>,
  signal: AbortSignal | undefined,
): Promise<T> {
  try {
    return await unlessAborted(work, signal);
  } catch (error) {
    throw signal?.aborted && error === signal.reason
      ? toCancelledError(error)
      : error;
  }
}

/** An iteration whose every step is {@linkcode abortable}. */
export function abortableSteps<T>(
  source: AsyncIterable<T>,
  signal: AbortSignal | undefined,
): AsyncIterable<T> {
  return signal === undefined ? source : steps(source, signal);
}

async function* steps<T>(
  source: AsyncIterable<T>,
  signal: AbortSignal,
): AsyncGenerator<T> {
  const iterator = source[Symbol.asyncIterator]();
  let at: "step" | "reader" | "end" = "step";
  try {
    for (;;) {
      at = "step";
      const { done, value } = await abortable(iterator.next(), signal);
      at = done ? "end" : "reader";
      if (done) return;
      yield value;
    }
  } finally {
    // What is stuck in a step would not settle its return either.
    if (at === "step") closeIterator(iterator);
    else if (at === "reader") await iterator.return?.();
  }
}
