import { detach, throwIfAborted } from "../base/abort.ts";
import { startUpEnded } from "../tools/resources.ts";

/**
 * Starts something up and shuts it down, one step after the other, in whatever order
 * and however often that is asked for.
 *
 * A shutdown ends the start-ups that were asked for before it, so that it does not
 * wait for what they wait for.
 */
export class Lifecycle {
  #last: Promise<void> = Promise.resolve();
  #attempt = new AbortController();
  #isUp = false;

  /** True after a start-up, until a shutdown is asked for. */
  get isUp(): boolean {
    return this.#isUp;
  }

  /**
   * Starts up, unless that is done already.
   *
   * @param start Gets a signal that aborts when a shutdown is asked for; `stop` runs
   * then in any case. If it throws by itself it has to clean up by itself.
   * @throws {AgentCancelledError} As a rejection: a shutdown was asked for meanwhile.
   */
  startup(start: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const { signal } = this.#attempt;
    return this.#next(async () => {
      throwIfAborted(signal);
      if (this.#isUp) return;
      await start(signal);
      throwIfAborted(signal);
      this.#isUp = true;
    });
  }

  /** Shuts down; harmless if nothing is up. */
  shutdown(stop: () => Promise<void>): Promise<void> {
    this.#isUp = false;
    this.#attempt.abort(startUpEnded());
    this.#attempt = new AbortController();
    return this.#next(stop);
  }

  #next(step: () => Promise<void>): Promise<void> {
    const done = this.#last.then(step, step);
    this.#last = done;
    detach(done);
    return done;
  }
}
