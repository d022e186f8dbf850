import type { ModelStream } from "../model/adapter.ts";

/** The first step of a stream: a delta, or the whole answer. */
export type FirstStep = Awaited<ReturnType<ModelStream["next"]>>;

/**
 * Goes on with a stream whose first step was taken already.
 *
 * Whoever takes the first step before showing anything can still ask again
 * when it fails; what fails later has been seen and is passed on.
 */
export async function* resumed(
  first: FirstStep,
  stream: ModelStream,
): ModelStream {
  if (first.done) return first.value;
  try {
    yield first.value;
    return yield* stream;
  } finally {
    // Matters only if the reader left at the first step.
    await stream.return(undefined as never);
  }
}
