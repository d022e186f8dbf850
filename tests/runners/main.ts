/**
 * Runs the suite: `main.ts [--on=deno,node,bun,workerd] [--coverage=folder] [path ...]`.
 *
 * Two runtimes at a time, quiet about what passed, complete about what failed. The last line adds
 * the runtimes up. Exit code 1 if anything failed or if a runtime had nothing to run.
 *
 * @module
 */

import type { Runtime } from "../support/runtime.ts";
import { runOnBun } from "./bun.ts";
import { runOnDeno } from "./deno.ts";
import { findTestFiles } from "./files.ts";
import { runOnNode } from "./node.ts";
import {
  type Outcome,
  type Runner,
  type RunnerOptions,
  summary,
  totals,
} from "./outcome.ts";
import { runOnWorkerd } from "./workerd.ts";

const runners: Record<Runtime, Runner> = {
  deno: runOnDeno,
  node: runOnNode,
  bun: runOnBun,
  workerd: runOnWorkerd,
};
const atOnce = 2;

const { runtimes, filters, options } = readArguments(Deno.args);
const files = findTestFiles(filters);
const outcomes: Outcome[] = [];
const queue = [...runtimes];
await Promise.all(Array.from({ length: atOnce }, drainQueue));
console.log(totals(outcomes));
Deno.exit(outcomes.some((outcome) => outcome.failed > 0) ? 1 : 0);

async function drainQueue(): Promise<void> {
  for (
    let runtime = queue.shift();
    runtime !== undefined;
    runtime = queue.shift()
  ) {
    const start = performance.now();
    const outcome = await runSafely(runners[runtime]);
    outcomes.push(outcome);
    if (outcome.failed > 0) console.log(outcome.log.trim());
    console.log(summary(runtime, outcome, performance.now() - start));
  }
}

/** A runner that cannot even start is one failure of its runtime; the others still run. */
async function runSafely(run: Runner): Promise<Outcome> {
  try {
    if (files.length === 0) {
      throw new Error(`No test file matches ${filters.join(" ")}`);
    }
    return await run(files, options);
  } catch (error) {
    return { passed: 0, failed: 1, skipped: 0, log: String(error) };
  }
}

function readArguments(args: readonly string[]): {
  readonly runtimes: readonly Runtime[];
  readonly filters: readonly string[];
  readonly options: RunnerOptions;
} {
  let runtimes = Object.keys(runners) as Runtime[];
  let options: RunnerOptions = {};
  const filters: string[] = [];
  for (const arg of args) {
    if (arg.startsWith("--on=")) {
      runtimes = arg.slice("--on=".length).split(",").map(requireRuntime);
    } else if (arg.startsWith("--coverage=")) {
      options = { coverage: arg.slice("--coverage=".length) };
    } else if (arg.startsWith("-")) {
      throw new TypeError(`Unknown option ${arg}`);
    } else filters.push(arg);
  }
  return { runtimes, filters, options };
}

function requireRuntime(name: string): Runtime {
  if (Object.hasOwn(runners, name)) return name as Runtime;
  throw new TypeError(
    `Unknown runtime ${name}; known are ${Object.keys(runners).join(", ")}`,
  );
}
