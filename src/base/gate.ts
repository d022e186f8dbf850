import { followSignal, toCancelledError } from "./abort.ts";

interface Ticket {
  enter(): void;
}

/**
 * Lets one holder in at a time, strictly in the order of arrival.
 *
 * A free gate is taken synchronously, and a release hands it to the first
 * waiter in the same step, so nobody can slip in between.
 */
export class Gate {
  #taken = false;
  readonly #waiting: Ticket[] = [];

  /** True while somebody holds the gate. */
  get taken(): boolean {
    return this.#taken;
  }

  /**
   * Takes the gate or queues for it.
   *
   * @param signal Gives the place in the queue up; without effect once inside.
   * @returns Nothing if the gate was free and is held now, else a promise of it.
   * @throws {AgentCancelledError} As a rejection, if the signal aborts while waiting.
   */
  enter(signal?: AbortSignal): Promise<void> | undefined {
    if (!this.#taken) {
      this.#taken = true;
      return undefined;
    }
    return new Promise((resolve, reject) => {
      let unfollow = () => {};
      const ticket: Ticket = {
        enter() {
          unfollow();
          resolve();
        },
      };
      this.#waiting.push(ticket);
      unfollow = followSignal(signal, (reason) => {
        this.#waiting.splice(this.#waiting.indexOf(ticket), 1);
        reject(toCancelledError(reason));
      });
    });
  }

  /** Hands the gate to whoever waited longest, or opens it. */
  leave(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#taken = false;
    else next.enter();
  }
}
