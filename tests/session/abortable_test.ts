import { AgentCancelledError } from "../../src/base/abort.ts";
import { abortableSteps } from "../../src/session/abortable.ts";
import { assertEquals, assertRejects } from "../support/assert.ts";
import { test } from "../support/suite.ts";

/** Gives as many numbers, then ends or hangs; says when it is closed. */
function counting(count: number, end: "end" | "hang") {
  const seen: string[] = [];
  let given = 0;
  const source: AsyncIterable<number> = {
    [Symbol.asyncIterator]: () => ({
      next() {
        if (given < count) {
          return Promise.resolve({ done: false, value: ++given });
        }
        seen.push(end);
        return end === "hang"
          ? new Promise(() => {})
          : Promise.resolve({ done: true, value: undefined });
      },
      return() {
        seen.push("closed");
        return Promise.resolve({ done: true, value: undefined });
      },
    }),
  };
  return { source, seen };
}

test("an iteration that has ended is not closed", async () => {
  const { source, seen } = counting(2, "end");
  const { signal } = new AbortController();
  const numbers: number[] = [];
  for await (const number of abortableSteps(source, signal)) {
    numbers.push(number);
  }
  assertEquals([numbers, seen], [[1, 2], ["end"]]);
});

test("an iteration is closed when its reader leaves", async () => {
  const { source, seen } = counting(2, "end");
  const { signal } = new AbortController();
  for await (const _ of abortableSteps(source, signal)) break;
  assertEquals(seen, ["closed"]);
});

test("an abort ends a step that hangs, and closes the iteration", async () => {
  const { source, seen } = counting(0, "hang");
  const abort = new AbortController();
  const step = abortableSteps(source, abort.signal)[Symbol.asyncIterator]()
    .next();
  abort.abort("enough");
  await assertRejects(() => step, AgentCancelledError, "enough");
  assertEquals(seen, ["hang", "closed"]);
});
