/** Counts operations that are pending and tells when there are none. */
export class Activity {
  #count = 0;
  #waiting: (() => void)[] = [];

  /** Number of pending operations. */
  get count(): number {
    return this.#count;
  }

  /** Counts one operation. @returns A function that releases it; calling it again does nothing. */
  begin(): () => void {
    this.#count += 1;
    let pending = true;
    return () => {
      if (!pending) return;
      pending = false;
      this.#count -= 1;
      if (this.#count === 0) {
        for (const wake of this.#waiting.splice(0)) wake();
      }
    };
  }

  /** Resolves when nothing is pending; at once if that is so. */
  whenIdle(): Promise<void> {
    if (this.#count === 0) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }
}
