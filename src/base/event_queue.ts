/**
 * Carries values from a producer that never waits to one reader.
 *
 * The producer pushes and finally ends or fails the queue; the reader pulls at
 * its own speed.
 */
export class EventQueue<T> {
  #values: T[] = [];
  #head = 0;
  #ended: { readonly error?: unknown } | undefined;
  #waiting: (() => void)[] = [];

  /** Adds a value; ignored after the end. */
  push(value: T): void {
    if (this.#ended !== undefined) return;
    this.#values.push(value);
    this.#notify();
  }

  /** Ends the queue; what was pushed before is still read. */
  end(): void {
    this.#ended ??= {};
    this.#notify();
  }

  /** Ends the queue with an error that the reader meets after the last value. */
  fail(error: unknown): void {
    this.#ended ??= { error };
    this.#notify();
  }

  /** The next value, as soon as there is one. */
  next(): Promise<IteratorResult<T, undefined>> {
    if (this.#head < this.#values.length) {
      return Promise.resolve({ done: false, value: this.#take() });
    }
    if (this.#ended !== undefined) {
      return "error" in this.#ended
        ? Promise.reject(this.#ended.error)
        : Promise.resolve({ done: true, value: undefined });
    }
    return new Promise<void>((resolve) => this.#waiting.push(resolve))
      .then(() => this.next());
  }

  #take(): T {
    const value = this.#values[this.#head++] as T;
    if (this.#head === this.#values.length) {
      this.#values = [];
      this.#head = 0;
    }
    return value;
  }

  #notify(): void {
    for (const wake of this.#waiting.splice(0)) wake();
  }
}
