import { serve } from "../../../adapters/deno/serve.ts";
import { assertEquals } from "../../support/assert.ts";
import { test } from "../../support/suite.ts";
import { serveContract } from "../serve_contract.ts";

serveContract("deno", serve);

test("a program that looks at signals gets no warning and needs no flag", {
  runtimes: ["deno"],
}, async () => {
  const program = new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--allow-net=127.0.0.1",
      "--no-check",
      "--no-config",
      "--no-prompt",
      "tests/adapters/deno/quiet_server_program.ts",
    ],
  });
  const { code, stdout, stderr } = await program.output();
  const read = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  assertEquals([read(stderr), read(stdout), code], ["", "whole\nleft\n", 0]);
});
