import {
  coverageIn,
  describeCoverage,
  reachesGoals,
} from "../../scripts/coverage.ts";
import { assertEquals } from "../support/assert.ts";
import { test } from "../support/suite.ts";

const runtimes = ["deno"] as const;

const tracefile = [
  "SF:/project/src/a.ts",
  "BRF:4",
  "BRH:4",
  "LF:90",
  "LH:90",
  "end_of_record",
  "SF:/project/src/b.ts",
  "LF:10",
  "LH:4",
  "end_of_record",
  "",
].join("\n");

test("shares are told for each file and over all of them", { runtimes }, () => {
  assertEquals(coverageIn(tracefile, "/project/"), {
    total: { lines: 94, branches: 100 },
    files: [
      { path: "src/b.ts", lines: 40, branches: 100 },
      { path: "src/a.ts", lines: 100, branches: 100 },
    ],
  });
});

test(
  "the report names what lies below the goal, then the total",
  { runtimes },
  () => {
    assertEquals(
      describeCoverage(coverageIn(tracefile, "/project/")).split("\n"),
      [
        "  40.0 % lines  100.0 % branches  src/b.ts",
        "  94.0 % lines  100.0 % branches  src and adapters",
      ],
    );
  },
);

test("both shares must be high enough", { runtimes }, () => {
  assertEquals(reachesGoals({ lines: 90, branches: 85 }), true);
  assertEquals(reachesGoals({ lines: 89.9, branches: 100 }), false);
  assertEquals(reachesGoals({ lines: 100, branches: 84.9 }), false);
});
