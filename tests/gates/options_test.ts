import { assertEquals } from "../support/assert.ts";
import { test } from "../support/suite.ts";
import { publishedSources } from "./sources.ts";

/** What callers hand in. */
const bags =
  /^export interface (\w+(?:Options|Input|Init|Hooks|Settings))\b[^{]*\{\n([^]*?)^\}/gm;
const optional = /^ {2}(?:readonly )?(\w+)\?:([^]*?);$/gm;

/** What is no option: shapes of a platform, and what an agent hands out. */
const others: ReadonlySet<string> = new Set([
  "KvListOptions",
  "R2ListOptions",
  "ControlInput",
]);

test("an option that is undefined is an option that was left out", {
  runtimes: ["deno"],
}, () => {
  const refused = publishedSources().flatMap(({ path, text }) =>
    [...text.matchAll(bags)].flatMap(([, bag = "", body = ""]) =>
      [...body.matchAll(optional)]
        .filter(([, , type = ""]) =>
          !others.has(bag) && !/\b(undefined|unknown)$/.test(type)
        )
        .map(([, name]) => `${path}: ${bag}.${name}`)
    )
  );
  assertEquals(
    refused,
    [],
    "With exactOptionalPropertyTypes callers need `| undefined` in the type",
  );
});
