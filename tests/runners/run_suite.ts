import type { Runtime } from "../support/runtime.ts";
import { runOnBun } from "./bun.ts";
import { runOnDeno } from "./deno.ts";
import { findTestFiles } from "./files.ts";
import { runOnNode } from "./node.ts";
import { type Outcome, type Runner, summary } from "./outcome.ts";
import { runOnWorkerd } from "./workerd.ts";

/** What to run, where. */
export interface SuiteOptions {
  /** Omitted means all four. */
  readonly runtimes?: readonly Runtime[];
  /** Folders, files or parts of paths; omitted or empty means every test file. */
  readonly filters?: readonly string[];
  /** Folder for Deno's raw coverage data. */
  readonly coverage?: string;
}

const runners: Record<Runtime, Runner> = {
  deno: runOnDeno,
  node: runOnNode,
  bun: runOnBun,
  workerd: runOnWorkerd,
};
const atOnceCount = 2;

/** Runs the suite, two runtimes at a time; prints one line for each, and everything about failures. */
export async function runSuite(options: SuiteOptions = {}): Promise<Outcome[]> {
  const filters = options.filters ?? [];
  const files = findTestFiles(filters);
  if (files.length === 0) {
    throw new RangeError(`No test file matches ${filters.join(" ")}`);
  }

  const queue = [...options.runtimes ?? Object.keys(runners) as Runtime[]];
  const outcomes: Outcome[] = [];
  const runNext = async (): Promise<void> => {
    const runtime = queue.shift();
    if (runtime === undefined) return;
    const start = performance.now();
    const outcome = await runSafely(() => runners[runtime](files, options));
    outcomes.push(outcome);
    if (outcome.failed > 0) console.log(outcome.log.trim());
    console.log(summary(runtime, outcome, performance.now() - start));
    return runNext();
  };
  await Promise.all(Array.from({ length: atOnceCount }, runNext));
  return outcomes;
}

/** The runtime of that name. */
export function requireRuntime(name: string): Runtime {
  if (Object.hasOwn(runners, name)) return name as Runtime;
  throw new TypeError(
    `Unknown runtime ${name}; known are ${Object.keys(runners).join(", ")}`,
  );
}

/** A runner that cannot even start is one failure of its runtime; the others still run. */
async function runSafely(run: () => Promise<Outcome>): Promise<Outcome> {
  try {
    return await run();
  } catch (error) {
    return { passed: 0, failed: 1, skipped: 0, log: String(error) };
  }
}
