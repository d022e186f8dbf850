import type { Runtime } from "../support/runtime.ts";

/** What came out of the suite on one runtime. */
export interface Outcome {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  /** What the runner printed; shown only if something failed. */
  readonly log: string;
}

/** Runs test files on one runtime. */
export type Runner = (
  files: readonly string[],
  options: RunnerOptions,
) => Promise<Outcome>;

/** What all runners are told. */
export interface RunnerOptions {
  /** Folder for raw coverage data; only Deno collects it. */
  readonly coverage?: string;
}

/** A runner that ended in failure without naming a failed test, or ran nothing, counts as one failure. */
export function judge(outcome: Outcome, exitCode: number): Outcome {
  const silent = exitCode !== 0 && outcome.failed === 0;
  const empty = outcome.passed + outcome.failed + outcome.skipped === 0;
  if (!silent && !empty) return outcome;
  const reason = silent
    ? `The runner ended with exit code ${exitCode}`
    : "No test ran";
  return {
    ...outcome,
    failed: outcome.failed + 1,
    log: `${outcome.log}\n${reason}\n`,
  };
}

/** The number before or after a word in a runner's summary; 0 if the word is missing. */
export function countOf(log: string, pattern: RegExp): number {
  // The summary is the last match: a test may print the same words.
  return Number([...log.matchAll(pattern)].at(-1)?.[1] ?? 0);
}

/** The one closing line of the whole suite. */
export function totals(outcomes: readonly Outcome[]): string {
  const sum = (count: "passed" | "failed" | "skipped") =>
    outcomes.reduce((total, outcome) => total + outcome[count], 0);
  const skipped = sum("skipped");
  return `${sum("passed")} passed, ${sum("failed")} failed${
    skipped ? `, ${skipped} skipped` : ""
  }`;
}

/** One line about one runtime; worded so that only `totals` matches `N passed, N failed`. */
export function summary(
  runtime: Runtime,
  outcome: Outcome,
  elapsedMs: number,
): string {
  const parts = [`${outcome.passed} ok`];
  if (outcome.failed) parts.push(`${outcome.failed} FAILED`);
  if (outcome.skipped) parts.push(`${outcome.skipped} skipped`);
  return `${runtime.padEnd(8)}${parts.join(", ")} (${
    (elapsedMs / 1000).toFixed(1)
  } s)`;
}
