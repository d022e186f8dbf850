import {
  cancel,
  complete,
  isStepOutcome,
  proceed,
  reject,
} from "../../src/tools/outcome.ts";
import { assert, assertEquals, assertThrows } from "../support/assert.ts";
import { test } from "../support/suite.ts";

test("the four makers differ in what the run does next", () => {
  const outcomes = [proceed(1), complete(2), reject(3), cancel(4)];
  assertEquals(
    outcomes.map(({ data, control }) => [data, control]),
    [[1, "continue"], [2, "complete"], [3, "reject"], [4, "cancel"]],
  );
});

test("an outcome is known by its brand, not by its shape", () => {
  assert(isStepOutcome(proceed(1)));
  assert(isStepOutcome({ [Symbol.for("ejagent.StepOutcome")]: true }));
  for (
    const value of [{ data: 1, control: "continue" }, null, "x", undefined]
  ) {
    assert(!isStepOutcome(value));
  }
});

test("an outcome cannot be changed and keeps its facts for middleware", () => {
  const outcome = complete("x", { tokens: 3 });
  assertEquals(outcome.meta, { tokens: 3 });
  assertThrows(
    () => Object.assign(outcome, { control: "continue" }),
    TypeError,
  );
  assert(!("meta" in proceed("x")));
});
