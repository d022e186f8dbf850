import { progressRelay } from "../../src/mcp/progress.ts";
import { assertEquals } from "../support/assert.ts";
import { deferred } from "../support/deferred.ts";
import { settle } from "../support/fake_time.ts";
import { test } from "../support/suite.ts";

test("reports that nobody takes in do not pile up, and the newest one is kept", async () => {
  const busy = deferred();
  const told: unknown[] = [];
  const relay = progressRelay({
    report(update) {
      told.push(Object(update).data.progress);
      return busy.promise;
    },
  });
  for (let progress = 1; progress <= 100_000; progress++) relay({ progress });
  assertEquals(told.length, 64);
  busy.resolve();
  await settle();
  assertEquals(told.slice(63), [64, 100_000]);
  relay({ progress: 100_001 });
  assertEquals(told.at(-1), 100_001);
});
