import { EventQueue } from "../../src/base/event_queue.ts";
import { assertEquals, assertRejects } from "../support/assert.ts";
import { test } from "../support/suite.ts";

test("what was pushed before the end is still read", async () => {
  const queue = new EventQueue<number>();
  queue.push(1);
  queue.push(2);
  queue.end();
  queue.push(3);
  assertEquals([await queue.next(), await queue.next(), await queue.next()], [
    { done: false, value: 1 },
    { done: false, value: 2 },
    { done: true, value: undefined },
  ]);
});

test("pulls that wait side by side all get something", async () => {
  const queue = new EventQueue<number>();
  const pulls = [queue.next(), queue.next(), queue.next()];
  queue.push(1);
  queue.push(2);
  queue.end();
  assertEquals(await Promise.all(pulls), [
    { done: false, value: 1 },
    { done: false, value: 2 },
    { done: true, value: undefined },
  ]);
});

test("a failure meets the reader behind the last value, and the first end counts", async () => {
  const queue = new EventQueue<number>();
  queue.push(1);
  queue.fail(new Error("broken"));
  queue.end();
  assertEquals(await queue.next(), { done: false, value: 1 });
  await assertRejects(() => queue.next(), Error, "broken");
});
