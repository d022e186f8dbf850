/** Tests that fail in every way a runner must notice; run by `runners_test.ts` alone. */

import { fail } from "../support/assert.ts";
import { test } from "../support/suite.ts";

test("passes", () => {});
test("throws", () => fail("on purpose"));
test("leaves a rejected promise behind", () => {
  Promise.reject(new Error("nobody listens"));
});
test("leaves a rejected promise behind after an await", async () => {
  await null;
  (async () => {
    await null;
    throw new Error("nobody listens either");
  })();
});
test("never ends", { timeoutMs: 20 }, () => new Promise<void>(() => {}));
test("is left out", { skip: true }, () => fail("not to be run"));
test("has no runtime", { runtimes: [] }, () => fail("not to be run"));
test("passes afterwards", () => {});
