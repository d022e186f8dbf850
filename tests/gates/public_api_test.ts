import { publicApi, publicApiFile } from "../../scripts/public_api.ts";
import { test } from "../support/suite.ts";
import { assertSameLines } from "./lists.ts";

const slow = { runtimes: ["deno"], timeoutMs: 120_000 } as const;

test("the public surface changes only on purpose", slow, async () => {
  const recorded = await Deno.readTextFile(publicApiFile);
  assertSameLines(
    await publicApi(),
    recorded,
    "Run `deno task api` and read the difference",
  );
});
