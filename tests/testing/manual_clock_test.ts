import { ManualClock } from "../../src/testing/manual_clock.ts";
import { assertEquals } from "../support/assert.ts";
import { test } from "../support/suite.ts";

test("time stands still until it is moved", () => {
  const clock = new ManualClock(1_000);
  assertEquals(clock.now(), 1_000);
  clock.advance(5);
  assertEquals(clock.now(), 1_005);
});

test("timers fire in order of time, then of setting", () => {
  const clock = new ManualClock();
  const fired: string[] = [];
  const note = (name: string) => () => fired.push(`${name}@${clock.now()}`);
  clock.setTimer(30, note("late"));
  clock.setTimer(10, note("first"));
  clock.setTimer(10, note("second"));
  clock.setTimer(-5, note("past"));
  clock.setTimer(31, note("not yet"));
  clock.advance(30);
  assertEquals(fired, ["past@0", "first@10", "second@10", "late@30"]);
  assertEquals(clock.pending, 1);
  assertEquals(clock.now(), 30);
});

test("a cancelled timer does not fire, also when another one cancels it", () => {
  const clock = new ManualClock();
  const fired: string[] = [];
  const cancel = clock.setTimer(20, () => fired.push("cancelled"));
  clock.setTimer(10, () => cancel());
  const twice = clock.setTimer(5, () => fired.push("kept"));
  clock.advance(50);
  twice();
  assertEquals(fired, ["kept"]);
  assertEquals(clock.pending, 0);
});

test("a timer that a timer sets is part of the same move", () => {
  const clock = new ManualClock();
  const fired: number[] = [];
  const repeat = () => {
    fired.push(clock.now());
    clock.setTimer(10, repeat);
  };
  clock.setTimer(10, repeat);
  clock.advance(35);
  assertEquals(fired, [10, 20, 30]);
  assertEquals(clock.pending, 1);
});

test("promises have their turn between timers when the move is awaited", async () => {
  const clock = new ManualClock();
  const times: number[] = [];
  const chain = (async () => {
    await Promise.resolve();
    for (let turn = 0; turn < 3; turn += 1) {
      await clock.wait(10);
      times.push(clock.now());
    }
  })();
  await clock.advanceAsync(29);
  assertEquals(times, [10, 20]);
  await clock.advanceAsync(1);
  await chain;
  assertEquals(times, [10, 20, 30]);
  assertEquals(clock.now(), 30);
});
