import { isPromiseLike } from "./abort.ts";
import { EJAgentError } from "./errors.ts";
import type { Clock } from "./ports.ts";

/** Work did not settle within its bound and was abandoned. */
export class DeadlineError extends EJAgentError {
  /** Always `"deadline"`. */
  override readonly code = "deadline";
}

/**
 * Runs work that gets only so much time.
 *
 * @param work Gets a signal that aborts when the time is over.
 * @param options `ms`: the bound in milliseconds; `what`: the work, for the error.
 * @throws {DeadlineError} If the time was over first; how the work ends then interests nobody.
 */
export async function withDeadline<T>(
  work: (signal: AbortSignal) => T | PromiseLike<T>,
  options: {
    readonly clock: Clock;
    readonly ms: number;
    readonly what: string;
  },
): Promise<T> {
  const controller = new AbortController();
  const pending = work(controller.signal);
  if (!isPromiseLike(pending)) return pending;
  return await new Promise<T>((resolve, reject) => {
    const cancelTimer = options.clock.setTimer(options.ms, () => {
      const error = new DeadlineError(
        `${options.what} did not settle within ${options.ms} ms`,
      );
      controller.abort(error);
      reject(error);
    });
    (pending as PromiseLike<T>).then((value) => {
      cancelTimer();
      resolve(value);
    }, (error) => {
      cancelTimer();
      reject(error);
    });
  });
}
