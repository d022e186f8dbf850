import { errorText } from "../base/errors.ts";
import type { Logger } from "../base/ports.ts";

/** Keeps what observers throw away from the run that they observe. */
export class Guard {
  readonly #logger: Logger;
  #warned = false;

  /** Says so once. @param logger Told about the first failure. */
  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** What the work returns; `undefined` if it throws. */
  attempt<T>(work: () => T): T | undefined {
    try {
      return work();
    } catch (error) {
      this.#warn(error);
      return undefined;
    }
  }

  /**
   * What the work returns or throws, run by `host`, or without it if `host` fails.
   *
   * @param host Must call its argument once and return what that returns.
   */
  within<T>(host: (work: () => T) => T, work: () => T): T {
    let begun = false;
    try {
      return host(() => {
        begun = true;
        return work();
      });
    } catch (error) {
      if (begun) throw error;
      this.#warn(error);
      return work();
    }
  }

  #warn(error: unknown): void {
    if (this.#warned) return;
    this.#warned = true;
    this.#logger.warn(
      "Telemetry failed and goes on without what it could not record",
      { error: errorText(error) },
    );
  }
}
