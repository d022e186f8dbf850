import {
  countingIds,
  RecordingLogger,
  silentLogger,
} from "../../src/testing/ports.ts";
import { assertEquals } from "../support/assert.ts";
import { test } from "../support/suite.ts";

test("ids are counted per source", () => {
  const ids = countingIds();
  assertEquals([ids.next(), ids.next()], ["id-1", "id-2"]);
  assertEquals(countingIds("run").next(), "run-1");
});

test("warnings are kept in order", () => {
  const logger = new RecordingLogger();
  logger.warn("A sink failed", { kind: "turn_started" });
  logger.warn("Again");
  assertEquals(logger.warnings, [
    { message: "A sink failed", details: { kind: "turn_started" } },
    { message: "Again" },
  ]);
  assertEquals(silentLogger.warn("Nobody hears this"), undefined);
});
