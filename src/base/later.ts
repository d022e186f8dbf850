import { isPromiseLike } from "./abort.ts";

/**
 * A value that is there, or a promise of it.
 *
 * For paths that run once a record or event and hardly ever wait: an `await`
 * costs a turn of the job queue even if there is nothing to wait for. Anywhere
 * else `await` reads better.
 */
export type Later<T> = T | Promise<T>;

/**
 * Goes on with a value: in the same step if it is there, else when it is.
 *
 * Not named `then`: a module that exports that name cannot be imported by `import()`.
 */
export function andThen<T, U>(
  value: Later<T>,
  next: (value: T) => Later<U>,
): Later<U> {
  return isPromiseLike(value) ? value.then(next) : next(value);
}

/** Turns a failure of work, now or later, into something else. */
export function orElse<T>(
  work: () => Later<T>,
  failed: (error: unknown) => Later<T>,
): Later<T> {
  try {
    const pending = work();
    return isPromiseLike(pending) ? pending.then(undefined, failed) : pending;
  } catch (error) {
    return failed(error);
  }
}

/** Ends something when work is done, whether it failed or not. */
export function andFinally<T>(
  work: () => Later<T>,
  end: () => Later<void>,
): Later<T> {
  const fail = (error: unknown) =>
    andThen(end(), (): never => {
      throw error;
    });
  let pending: Later<T>;
  try {
    pending = work();
  } catch (error) {
    return fail(error);
  }
  const succeed = (value: T) => andThen(end(), () => value);
  return isPromiseLike(pending)
    ? pending.then(succeed, fail)
    : succeed(pending);
}
