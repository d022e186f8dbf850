/**
 * Everything that must hold before a change is taken: the same on a laptop and in CI.
 *
 * Each step prints one line, and all it has to say if it fails. The suite comes last, so the last
 * line is its total; a failed step counts in it as one failure.
 *
 * @module
 */

import { type Outcome, totals } from "../tests/runners/outcome.ts";
import { runSuite } from "../tests/runners/run_suite.ts";
import {
  coverageFolder,
  describeCoverage,
  reachesGoals,
  readCoverage,
} from "./coverage.ts";
import { runDeno } from "./run.ts";

const documents = ["README.md", "CONTRIBUTING.md", "ARCHITECTURE.md"];

const steps: readonly (readonly [name: string, ...command: string[]])[] = [
  ["format", "fmt", "--check"],
  ["lint", "lint"],
  ["types", "check", "--quiet"],
  ["types in documents", "check", "--quiet", "--doc-only", ...documents],
  ["documentation", "run", "-A", "scripts/documentation.ts", "lint"],
  ["documentation examples", "run", "-A", "scripts/documentation.ts", "test"],
  ["publish", "publish", "--dry-run", "--allow-dirty"],
  ["package", "run", "-A", "scripts/pack_smoke.ts"],
  ["sizes", "run", "-A", "scripts/sizes.ts"],
];

let failedSteps = 0;
for (const [name, ...command] of steps) {
  await report(name, async () => {
    const { code, stdout, stderr } = await runDeno(...command);
    // How much a user's Worker weighs is worth a look in any case.
    const note = name === "sizes"
      ? stdout.trim().split("\n").at(-1)
      : undefined;
    return { passed: code === 0, log: stdout + stderr, note };
  });
}
const outcomes = await runSuite({ coverage: coverageFolder });
await report("coverage", async () => {
  const coverage = await readCoverage();
  return {
    passed: reachesGoals(coverage.total),
    log: describeCoverage(coverage),
  };
});

const ofSteps: Outcome = {
  passed: 0,
  failed: failedSteps,
  skipped: 0,
  log: "",
};
console.log(totals([...outcomes, ofSteps]));
Deno.exit([...outcomes, ofSteps].some(({ failed }) => failed > 0) ? 1 : 0);

interface StepResult {
  readonly passed: boolean;
  readonly log: string;
  /** Printed although the step has passed. */
  readonly note?: string | undefined;
}

async function report(
  name: string,
  step: () => Promise<StepResult>,
): Promise<void> {
  const start = performance.now();
  const { passed, log, note } = await step().catch((error): StepResult => ({
    passed: false,
    log: String(error),
  }));
  if (!passed) {
    failedSteps += 1;
    console.log(log.trim());
  }
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  const verdict = `${passed ? "ok" : "FAILED"} ${name} (${seconds} s)`;
  console.log(passed && note ? `${verdict}: ${note}` : verdict);
}
