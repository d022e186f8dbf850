/**
 * Replaces the global timers and `Date` by a clock that a test moves by hand.
 *
 * For code that takes no clock of its own; whatever accepts a `Clock` is better given a manual one.
 * `performance.now`, `AbortSignal.timeout` and timers captured before the replacement keep real time.
 * Dispose it, best with `using`, before the test ends.
 */
export class FakeTime {
  #now: number;
  #nextId = 1;
  readonly #timers = new Map<number, Timer>();
  readonly #originals: Record<string, unknown> = {};

  constructor(startMs = 0) {
    this.#now = startMs;
    this.#replaceGlobals({
      setTimeout: (fire: () => void, ms?: number, ...args: unknown[]) =>
        this.#start(fire, ms, args, false),
      setInterval: (fire: () => void, ms?: number, ...args: unknown[]) =>
        this.#start(fire, ms, args, true),
      clearTimeout: (id: unknown) => this.#timers.delete(Number(id)),
      clearInterval: (id: unknown) => this.#timers.delete(Number(id)),
      Date: fakeDate(() => this.#now),
    });
  }

  /** The current time, in milliseconds since the epoch. */
  get now(): number {
    return this.#now;
  }

  /** How many timers wait. */
  get pendingCount(): number {
    return this.#timers.size;
  }

  /** Moves the clock and fires what falls due, in order; promise chains run in between. */
  async tick(ms: number): Promise<void> {
    const end = this.#now + ms;
    await settle();
    for (
      let due = this.#nextDue(end);
      due !== undefined;
      due = this.#nextDue(end)
    ) {
      this.#now = Math.max(this.#now, due.at);
      if (due.everyMs === null) this.#timers.delete(due.id);
      else due.at += due.everyMs;
      due.fire();
      await settle();
    }
    this.#now = end;
  }

  [Symbol.dispose](): void {
    Object.assign(globalThis, this.#originals);
    this.#timers.clear();
  }

  #start(
    fire: (...args: unknown[]) => void,
    ms: unknown,
    args: unknown[],
    again: boolean,
  ): number {
    const id = this.#nextId++;
    const delay = Math.max(0, Number(ms) || 0);
    this.#timers.set(id, {
      id,
      at: this.#now + delay,
      everyMs: again ? Math.max(1, delay) : null,
      fire: () => fire(...args),
    });
    return id;
  }

  #nextDue(end: number): Timer | undefined {
    return [...this.#timers.values()]
      .filter((timer) => timer.at <= end)
      .sort((a, b) => a.at - b.at || a.id - b.id)[0];
  }

  #replaceGlobals(replacements: Record<string, unknown>): void {
    for (const [name, replacement] of Object.entries(replacements)) {
      this.#originals[name] = (globalThis as Record<string, unknown>)[name];
      (globalThis as Record<string, unknown>)[name] = replacement;
    }
  }
}

/** Waits one real macrotask, so that promise chains and finished I/O can run. */
export function settle(): Promise<void> {
  return new Promise((resolve) => realSetTimeout(resolve, 0));
}

interface Timer {
  readonly id: number;
  at: number;
  readonly everyMs: number | null;
  readonly fire: () => void;
}

// Taken at import, before any test can replace it.
const realSetTimeout = globalThis.setTimeout;

function fakeDate(now: () => number): DateConstructor {
  return class extends Date {
    constructor(...args: unknown[]) {
      // @ts-expect-error The overloads of Date cannot be forwarded as one list.
      super(...(args.length === 0 ? [now()] : args));
    }

    static override now(): number {
      return now();
    }
  } as DateConstructor;
}
