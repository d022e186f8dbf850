/** A controller whose signal counts who listens to it. */
export interface WatchedController {
  /** To hand out. */
  readonly signal: AbortSignal;
  /** Listeners that were added and not removed. */
  readonly listenerCount: number;
  /** Aborts the signal. */
  abort(reason?: unknown): void;
}

/** Makes one. */
export function watchedController(): WatchedController {
  const controller = new AbortController();
  const { signal } = controller;
  const listeners = new Set<unknown>();
  const add = signal.addEventListener.bind(signal);
  const remove = signal.removeEventListener.bind(signal);
  signal.addEventListener = (...args: Parameters<typeof add>) => {
    listeners.add(args[1]);
    add(...args);
  };
  signal.removeEventListener = (...args: Parameters<typeof remove>) => {
    listeners.delete(args[1]);
    remove(...args);
  };
  return {
    signal,
    get listenerCount() {
      return listeners.size;
    },
    abort: (reason) => controller.abort(reason),
  };
}
