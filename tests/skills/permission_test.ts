import { assertEquals } from "../support/assert.ts";
import { test } from "../support/suite.ts";

const program = "tests/skills/forbidden_environment_program.ts";

/** What the program prints under these permissions. */
async function run(...permissions: readonly string[]): Promise<string> {
  const flags = ["--no-prompt", "--no-check", "--quiet"];
  const { stdout } = await new Deno.Command(Deno.execPath(), {
    args: ["run", ...flags, ...permissions, program],
  }).output();
  return new TextDecoder().decode(stdout).trim();
}

test("without its permission the YAML parser's complaint says what to do", {
  runtimes: ["deno"],
}, async () => {
  assertEquals(
    await run(),
    "AgentConfigurationError: Reading skills needs two environment variables that the YAML parser looks for; run Deno with --allow-env=LOG_TOKENS,LOG_STREAM",
  );
});

test("the permission that the complaint names is enough", {
  runtimes: ["deno"],
}, async () => {
  assertEquals(await run("--allow-env=LOG_TOKENS,LOG_STREAM"), "found");
});
