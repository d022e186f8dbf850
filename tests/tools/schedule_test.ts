import { chunked, groupCalls } from "../../src/tools/schedule.ts";
import { assertEquals } from "../support/assert.ts";
import { test } from "../support/suite.ts";
import { call } from "./tool_kit.ts";

function groups(names: string, parallelToolCalls = true): string {
  const calls = [...names].map((name, index) => call(String(index), name));
  return groupCalls(
    calls,
    { parallelToolCalls, maxParallelToolCalls: null },
    (name) => name === "r",
  ).map((group) => group.map(({ name }) => name).join("")).join(" ");
}

test("neighbouring reads form a group, everything else stands alone", {
  case: ["TL-79", "TL-88"],
}, () => {
  assertEquals(groups("rrwrr"), "rr w rr");
  assertEquals(groups("r?r"), "r ? r");
  assertEquals(groups("wwr"), "w w r");
  assertEquals(groups("rrr"), "rrr");
  assertEquals(groups(""), "");
});

test(
  "without parallel calls every call stands alone",
  { case: "X-057" },
  () => {
    assertEquals(groups("rrw", false), "r r w");
  },
);

test("a list is cut into pieces of a size", () => {
  assertEquals(chunked([1, 2, 3], 2), [[1, 2], [3]]);
  assertEquals(chunked([1, 2, 3], null), [[1, 2, 3]]);
  assertEquals(chunked([1, 2], 2), [[1, 2]]);
  assertEquals(chunked([1, 2], 1), [[1], [2]]);
});
