import { env } from "node:process";
import { environment } from "../../../adapters/bun/env.ts";
import { assertEquals } from "../../support/assert.ts";
import { test } from "../../support/suite.ts";

test("the environment holds the variables of a model and no others", {
  runtimes: ["bun"],
}, () => {
  const before = environment();
  env.CHAT_MODEL = "model-of-the-test";
  env.EJAGENT_TEST_SECRET = "hidden";
  try {
    assertEquals(environment(), { ...before, CHAT_MODEL: "model-of-the-test" });
  } finally {
    if (before.CHAT_MODEL === undefined) delete env.CHAT_MODEL;
    else env.CHAT_MODEL = before.CHAT_MODEL;
    delete env.EJAGENT_TEST_SECRET;
  }
  assertEquals(environment(), before);
});
