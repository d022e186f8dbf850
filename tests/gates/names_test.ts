import { assertEquals } from "../support/assert.ts";
import { test } from "../support/suite.ts";
import { strayNames } from "./names.ts";
import { commentsOf, parseSource, publishedSources } from "./sources.ts";

const runtimes = ["deno"] as const;

test("no published file uses a name that a runtime lacks", { runtimes }, () => {
  assertEquals(publishedSources().flatMap(strayNames), []);
});

test(
  "no rule of the house is switched off in published code",
  { runtimes },
  () => {
    const silenced = publishedSources().flatMap(commentsOf)
      .filter(({ text }) =>
        /deno-lint-ignore.*\bhouse\//.test(text) ||
        /@ts-(ignore|nocheck)/.test(text)
      );
    assertEquals(silenced, []);
  },
);

test("published code is finished", { runtimes }, () => {
  const unfinished = publishedSources().flatMap(commentsOf)
    .filter(({ text }) => /\b(TODO|FIXME|XXX|HACK)\b/.test(text));
  assertEquals(unfinished, []);
});

test("a platform name is seen wherever it is a reference", { runtimes }, () => {
  const text = `
    const a = Deno.cwd();
    const b = globalThis.process;
    const c = (globalThis as { Bun?: unknown }).Bun;
    const d = { Buffer };
    type E = typeof navigator;
  `;
  assertEquals(
    strayNames(parseSource("src/agent/run.ts", text)).map((complaint) =>
      complaint.split(",")[0]
    ),
    [
      "src/agent/run.ts:2 uses Deno",
      "src/agent/run.ts:3 uses process",
      "src/agent/run.ts:4 uses Bun",
      "src/agent/run.ts:5 uses Buffer",
      "src/agent/run.ts:6 uses navigator",
    ],
  );
});

test(
  "a platform name is no matter in comments, strings, members and its own adapter",
  { runtimes },
  () => {
    const text = `
    // Deno and process
    const a = "Deno";
    const b = { process: 1, Buffer() {} }.process;
    interface C { readonly location: string }
    type EventSource = C;
    const d = (process: EventSource) => process;
  `;
    assertEquals(strayNames(parseSource("src/agent/run.ts", text)), []);
    assertEquals(
      strayNames(parseSource("adapters/deno/env.ts", "Deno.cwd();")),
      [],
    );
    assertEquals(
      strayNames(parseSource("adapters/node/env.ts", "Deno.cwd();")).length,
      1,
    );
  },
);
