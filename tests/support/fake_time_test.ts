import { assertEquals } from "./assert.ts";
import { FakeTime, settle } from "./fake_time.ts";
import { test } from "./suite.ts";

test("timers fire in the order in which they fall due", async () => {
  using time = new FakeTime(1_000);
  const fired: string[] = [];
  const note = (what: string) => fired.push(`${what} at ${Date.now()}`);
  setTimeout(note, 30, "late");
  setTimeout(note, 10, "early");
  const cancelled = setTimeout(note, 20, "cancelled");
  clearTimeout(cancelled);
  const every = setInterval(note, 15, "interval");

  await time.tick(30);
  clearInterval(every);

  assertEquals(fired, [
    "early at 1010",
    "interval at 1015",
    "late at 1030",
    "interval at 1030",
  ]);
  assertEquals(time.pendingCount, 0);
});

test("a timer that a promise chain starts is part of the same tick", async () => {
  using time = new FakeTime();
  let done = false;
  const wait = (ms: number) =>
    new Promise<void>((resolve) => setTimeout(resolve, ms));
  const chain = wait(10).then(() => wait(10)).then(() => done = true);
  await time.tick(19);
  assertEquals(done, false);
  await time.tick(1);
  await chain;
  assertEquals(done, true);
});

test("disposal brings the real timers back", async () => {
  const realNow = Date.now();
  {
    using _time = new FakeTime(0);
    assertEquals(new Date().getTime(), 0);
  }
  assertEquals(Date.now() >= realNow, true);
  await settle();
});
