import { assertEquals } from "../support/assert.ts";
import { test } from "../support/suite.ts";
import { publishedSources } from "./sources.ts";

/** What callers hand in. */
const bags =
  /^export interface (\w+(?:Options|Input|Init))\b[^{]*\{\n([^]*?)^\}/gm;
const optional = /^ {2}(?:readonly )?(\w+)\?:([^]*?);$/gm;

/** Shapes of a platform, which says itself what it takes. */
const foreign: ReadonlySet<string> = new Set([
  "KvListOptions",
  "R2ListOptions",
]);

test("an option that is undefined is an option that was left out", {
  runtimes: ["deno"],
}, () => {
  const refused = publishedSources().flatMap(({ path, text }) =>
    [...text.matchAll(bags)].flatMap(([, bag = "", body = ""]) =>
      [...body.matchAll(optional)]
        .filter(([, , type = ""]) =>
          !foreign.has(bag) && !/\b(undefined|unknown)$/.test(type)
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
