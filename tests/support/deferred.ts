/** A promise together with the functions that settle it. */
export interface Deferred<T> {
  readonly promise: Promise<T>;
  resolve(value: T | PromiseLike<T>): void;
  reject(reason: unknown): void;
  /** Whether `resolve` or `reject` was called. */
  readonly settled: boolean;
}

/** Makes a promise that a test settles by hand, so that it never has to sleep. */
export function deferred<T = void>(): Deferred<T> {
  let settled = false;
  let resolvePromise!: (value: T | PromiseLike<T>) => void;
  let rejectPromise!: (reason: unknown) => void;
  const promise = new Promise<T>((resolve, reject) => {
    resolvePromise = resolve;
    rejectPromise = reject;
  });
  return {
    promise,
    resolve(value) {
      settled = true;
      resolvePromise(value);
    },
    reject(reason) {
      settled = true;
      rejectPromise(reason);
    },
    get settled() {
      return settled;
    },
  };
}
