import type { IdSource, Logger } from "../base/ports.ts";

/** Ids that can be foretold: `"id-1"`, `"id-2"` and so on. */
export function countingIds(prefix = "id"): IdSource {
  let last = 0;
  return { next: () => `${prefix}-${++last}` };
}

/** Says nothing. */
export const silentLogger: Logger = Object.freeze({ warn(): void {} });

/** One call of {@linkcode RecordingLogger.warn}. */
export interface RecordedWarning {
  /** The sentence. */
  readonly message: string;
  /** The facts, if any were given. */
  readonly details?: Readonly<Record<string, unknown>>;
}

/** Keeps every warning it gets, in order. */
export class RecordingLogger implements Logger {
  readonly #warnings: RecordedWarning[] = [];

  /** All warnings so far, oldest first. */
  get warnings(): readonly RecordedWarning[] {
    return this.#warnings;
  }

  /** Records one warning. */
  warn(message: string, details?: Readonly<Record<string, unknown>>): void {
    this.#warnings.push({ message, ...(details !== undefined && { details }) });
  }
}
