import { assertEquals, assertMatch } from "../support/assert.ts";
import { test } from "../support/suite.ts";
import { findCycles, judgeImport } from "./layers.ts";
import {
  type Import,
  importsOf,
  parseSource,
  publishedSources,
} from "./sources.ts";

const runtimes = ["deno"] as const;

test("every import of the package keeps to the layers", { runtimes }, () => {
  const complaints = publishedSources().flatMap(importsOf).map(judgeImport);
  assertEquals(complaints.filter((complaint) => complaint !== null), []);
});

test("no file imports itself through others", { runtimes }, () => {
  assertEquals(findCycles(publishedSources().flatMap(importsOf)), []);
});

const forbidden: readonly (readonly [string, string, RegExp])[] = [
  [
    "src/tools/runtime.ts",
    "../agent/state.ts",
    /tools lies below agent.*src\/agent/,
  ],
  ["src/base/abort.ts", "../chat/body.ts", /belongs in src\/chat/],
  ["src/mcp/handler.ts", "../skills/source.ts", /does not build on skills/],
  [
    "src/agent/run.ts",
    "../../adapters/node/env.ts",
    /take what it gives as an option/,
  ],
  ["src/agent/run.ts", "../session/mod.ts", /name the file/],
  ["src/agent/run.ts", "../../mod.ts", /root entry/],
  ["src/agent/run.ts", "./turn", /extension/],
  ["src/agent/run.ts", "node:fs", /under adapters/],
  ["src/agent/run.ts", "yaml", /src\/skills/],
  ["src/cellar/wine.ts", "../base/json.ts", /neither a floor nor an edge/],
  ["adapters/node/env.ts", "../deno/env.ts", /one platform/],
  ["adapters/deno/env.ts", "node:fs", /under adapters/],
  [
    "adapters/node/env.ts",
    "../../tests/support/suite.ts",
    /not part of the package/,
  ],
  ["mod.ts", "./src/mcp/handler.ts", /entry of its own/],
];

for (const [path, specifier, complaint] of forbidden) {
  test(`${path} may not import ${specifier}`, { runtimes }, () => {
    assertMatch(
      judgeImport(importIn(path, specifier)) ?? "no complaint",
      complaint,
    );
  });
}

const allowed: readonly (readonly [string, string])[] = [
  ["src/agent/run.ts", "../base/abort.ts"],
  ["src/agent/run.ts", "./turn.ts"],
  ["src/agent/mod.ts", "./run.ts"],
  ["src/openai/transport.ts", "openai"],
  ["src/openai/adapter.ts", "../chat/adapter.ts"],
  ["src/mcp/connection.ts", "@modelcontextprotocol/sdk/client/index.js"],
  ["adapters/node/env.ts", "node:process"],
  ["adapters/bun/file_lock.ts", "../node/file_lock.ts"],
  ["mod.ts", "./src/agent/agent.ts"],
];

for (const [path, specifier] of allowed) {
  test(`${path} may import ${specifier}`, { runtimes }, () => {
    assertEquals(judgeImport(importIn(path, specifier)), null);
  });
}

test("imports are found in every form", { runtimes }, () => {
  const source = parseSource(
    "src/agent/run.ts",
    `
    import { a } from "./a.ts"; // import "./not_this.ts"
    export type { B } from "./b.ts";
    type C = import("./c.ts").C;
    const d = await import("./d.ts");
    const text = 'import "./nor_this.ts"';
    `,
  );
  assertEquals(
    importsOf(source).map(({ target, place }) => ({ target, place })),
    [
      { target: "src/agent/a.ts", place: "src/agent/run.ts:2" },
      { target: "src/agent/b.ts", place: "src/agent/run.ts:3" },
      { target: "src/agent/c.ts", place: "src/agent/run.ts:4" },
      { target: "src/agent/d.ts", place: "src/agent/run.ts:5" },
    ],
  );
});

test("a cycle is named once, whatever its length", { runtimes }, () => {
  const imports = [["a", "b"], ["b", "c"], ["c", "a"], ["c", "d"], ["d", "d"]]
    .map(([from, target]) => importIn(`src/base/${from}.ts`, `./${target}.ts`));
  assertEquals(findCycles(imports), [
    "src/base/a.ts -> src/base/b.ts -> src/base/c.ts -> src/base/a.ts",
    "src/base/d.ts -> src/base/d.ts",
  ]);
});

function importIn(path: string, specifier: string): Import {
  return importsOf(parseSource(path, `import "${specifier}";`))[0]!;
}
