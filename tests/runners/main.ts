/**
 * Runs the suite: `main.ts [--on=deno,node,bun,workerd] [path ...]`.
 *
 * Quiet about what passed, complete about what failed; the last line adds the runtimes up. The exit
 * code is 1 if anything failed or if a runtime had nothing to run.
 *
 * @module
 */

import { totals } from "./outcome.ts";
import { requireRuntime, runSuite, type SuiteOptions } from "./run_suite.ts";

const outcomes = await runSuite(readArguments(Deno.args));
console.log(totals(outcomes));
Deno.exit(outcomes.some((outcome) => outcome.failed > 0) ? 1 : 0);

function readArguments(args: readonly string[]): SuiteOptions {
  const filters = args.filter((arg) => !arg.startsWith("-"));
  const [choice, ...rest] = args.filter((arg) => arg.startsWith("-"));
  if (choice === undefined) return { filters };
  if (!choice.startsWith("--on=") || rest.length > 0) {
    throw new TypeError(`Unknown option ${rest[0] ?? choice}`);
  }
  return {
    filters,
    runtimes: choice.slice("--on=".length).split(",").map(requireRuntime),
  };
}
