import { assertEquals } from "./assert.ts";
import { childProgram } from "./child_program.ts";
import { runtime, runtimesWith } from "./runtime.ts";
import { test } from "./suite.ts";

test("the runtime is one that the suite knows", () => {
  assertEquals(["deno", "node", "bun", "workerd"].includes(runtime), true);
});

test("abilities choose the runtimes that have them all", () => {
  assertEquals(runtimesWith("files", "processes"), ["deno", "node", "bun"]);
  assertEquals(runtimesWith(), ["deno", "node", "bun", "workerd"]);
});

test("a program of the tests runs on the same runtime", {
  runtimes: runtimesWith("processes"),
}, async () => {
  const { execFileSync } = await import("node:child_process");
  const { command, args } = childProgram(
    "tests/support/echo_program.ts",
    "a",
    "b c",
  );
  const output = execFileSync(command, [...args], { encoding: "utf8" });
  assertEquals(JSON.parse(output), { runtime, args: ["a", "b c"] });
});
