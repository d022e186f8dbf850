import { publicApi, publicApiFile } from "../../scripts/public_api.ts";
import { assertEquals } from "../support/assert.ts";
import { test } from "../support/suite.ts";

test("the public surface changes only on purpose", {
  runtimes: ["deno"],
  timeoutMs: 120_000,
}, async () => {
  const lines = (text: string) => text.trimEnd().split("\n");
  const known = new Set(lines(Deno.readTextFileSync(publicApiFile)));
  const current = new Set(lines(await publicApi()));
  assertEquals(
    {
      gone: [...known].filter((line) => !current.has(line)),
      added: [...current].filter((line) => !known.has(line)),
    },
    { gone: [], added: [] },
    "Run `deno task api` and read the difference",
  );
});
