import { type CommandOutput, runDeno } from "../../scripts/run.ts";
import {
  assert,
  assertEquals,
  assertMatch,
  assertStringIncludes,
} from "../support/assert.ts";
import { test } from "../support/suite.ts";
import { judge, type Outcome, summary, totals } from "./outcome.ts";

const slow = { runtimes: ["deno"], timeoutMs: 120_000 } as const;

for (const runtime of ["deno", "node", "bun", "workerd"]) {
  test(`every kind of failure is noticed on ${runtime}`, slow, async () => {
    const { code, stdout } = await probe(runtime, "failing");
    assertEquals(code, 1);
    assertMatch(stdout, /^2 passed, 4 failed, 2 skipped\n$/m);
    for (
      const reason of [
        "on purpose",
        "nobody listens",
        "nobody listens either",
        "20 ms",
      ]
    ) {
      assertStringIncludes(stdout, reason);
    }
  });

  test(
    `a file that cannot be loaded is a failure on ${runtime}`,
    slow,
    async () => {
      const { code, stdout } = await probe(runtime, "broken");
      assertEquals(code, 1);
      assertMatch(stdout, /^0 passed, 1 failed\n$/m);
      assertStringIncludes(stdout, "Broken on purpose");
    },
  );
}

test("a path that names no test is refused", slow, async () => {
  const { code, stderr } = await runDeno(
    "run",
    "-A",
    "tests/runners/main.ts",
    "no/such/path",
  );
  assertEquals(code, 1);
  assertStringIncludes(stderr, "No test file matches no/such/path");
});

test("the last line adds the runtimes up", () => {
  assertEquals(
    totals([outcome(2, 0, 1), outcome(1, 3, 0)]),
    "3 passed, 3 failed, 1 skipped",
  );
  assertEquals(totals([outcome(2, 0, 0)]), "2 passed, 0 failed");
});

test("the line of one runtime is not mistaken for the total", () => {
  const line = summary("node", outcome(2, 1, 3), 1_234);
  assertEquals(line, "node    2 ok, 1 FAILED, 3 skipped (1.2 s)");
  assert(!/\d+ passed, \d+ failed/.test(line));
});

test("a runner that fails in silence or runs nothing counts as failed", () => {
  assertEquals(judge(outcome(2, 0, 0), 1).failed, 1);
  assertEquals(judge(outcome(0, 0, 0), 0).failed, 1);
  assertEquals(judge(outcome(2, 1, 0), 1).failed, 1);
  assertEquals(judge(outcome(0, 0, 1), 0).failed, 0);
});

function probe(runtime: string, name: string): Promise<CommandOutput> {
  const file = `tests/runners/${name}_probe.ts`;
  return runDeno("run", "-A", "tests/runners/main.ts", `--on=${runtime}`, file);
}

function outcome(passed: number, failed: number, skipped: number): Outcome {
  return { passed, failed, skipped, log: "" };
}
