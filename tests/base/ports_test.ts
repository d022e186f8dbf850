import { systemClock } from "../../src/base/ports.ts";
import { assertEquals } from "../support/assert.ts";
import { test } from "../support/suite.ts";

test("a timer that is longer than platforms count does not fire at once", () => {
  const asked: unknown[] = [];
  const { setTimeout } = globalThis;
  Object.assign(globalThis, {
    setTimeout: (_fire: () => void, ms: number) => void asked.push(ms),
  });
  try {
    for (const ms of [20, 2 ** 31, Infinity]) {
      systemClock.setTimer(ms, () => {});
    }
  } finally {
    Object.assign(globalThis, { setTimeout });
  }
  assertEquals(asked, [20, 2 ** 31 - 1, 2 ** 31 - 1]);
});
