import {
  andFinally,
  andThen,
  type Later,
  orElse,
} from "../../src/base/later.ts";
import {
  assertEquals,
  assertRejects,
  assertThrows,
} from "../support/assert.ts";
import { test } from "../support/suite.ts";

const boom = () => {
  throw new Error("boom");
};

const later = (): Promise<number> => Promise.resolve(1);

test("a value that is there is used in the same step", async () => {
  const seen: string[] = [];
  const add = (n: number) => {
    seen.push(`got ${n}`);
    return n + 1;
  };
  assertEquals(andThen(1, add), 2);
  const pending = andThen(later(), add);
  seen.push("waiting");
  assertEquals(await pending, 2);
  assertEquals(seen, ["got 1", "waiting", "got 1"]);
});

test("a failure is turned into something else, now or later", async () => {
  const mend = (error: unknown) => (error as Error).message.length;
  assertEquals(orElse<number>(boom, mend), 4);
  assertEquals(await orElse<number>(() => later().then(boom), mend), 4);
  assertEquals(orElse(() => 1, mend), 1);
  assertEquals(await orElse(later, mend), 1);
  assertThrows(() => orElse<number>(boom, boom), Error, "boom");
});

test("work is ended once, after it succeeded or failed", async () => {
  const ends: string[] = [];
  const run = (name: string, work: () => Later<number>, end: Later<void>) =>
    andFinally(work, () => {
      ends.push(name);
      return end;
    });
  assertEquals(run("now", () => 1, undefined), 1);
  assertEquals(await run("slow end", () => 1, Promise.resolve()), 1);
  assertEquals(await run("later", later, undefined), 1);
  assertThrows(() => run("failed", boom, undefined), Error, "boom");
  await assertRejects(
    async () => await run("failed, slow end", boom, Promise.resolve()),
    Error,
    "boom",
  );
  await assertRejects(
    async () => await run("failed later", () => later().then(boom), undefined),
    Error,
    "boom",
  );
  assertEquals(ends, [
    "now",
    "slow end",
    "later",
    "failed",
    "failed, slow end",
    "failed later",
  ]);
});
