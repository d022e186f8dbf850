import plugin from "../../scripts/lint/house_rules.ts";
import { assertEquals } from "../support/assert.ts";
import { test } from "../support/suite.ts";

const runtimes = ["deno"] as const;

const violations: readonly (readonly [string, string, string])[] = [
  ["no-default-export", "src/agent/a.ts", "export default 1;"],
  ["no-enum", "tests/a.ts", "enum A { B }"],
  ["no-private-keyword", "src/agent/a.ts", "class A { private b = 1; }"],
  ["no-private-keyword", "src/agent/a.ts", "class A { private b() {} }"],
  [
    "no-parameter-property",
    "src/agent/a.ts",
    "class A { constructor(readonly b: string) {} }",
  ],
  [
    "few-parameters",
    "src/agent/a.ts",
    "export function a(b: 1, c: 2, d: 3, e: 4) {}",
  ],
  ["language-floor", "src/agent/a.ts", "Promise.withResolvers();"],
  ["language-floor", "adapters/node/a.ts", "globalThis.Array.fromAsync([]);"],
  ["language-floor", "src/agent/a.ts", "function a() { using b = c(); }"],
  [
    "language-floor",
    "src/agent/a.ts",
    "async function a() { await using b = c(); }",
  ],
  ["ports-only", "src/agent/a.ts", "Date.now();"],
  ["ports-only", "src/agent/a.ts", "new Date();"],
  ["ports-only", "src/agent/a.ts", "globalThis.Math.random();"],
  ["ports-only", "src/agent/a.ts", "console.warn(1);"],
];

for (const [rule, path, text] of violations) {
  test(`${rule} complains about ${text}`, { runtimes }, () => {
    assertEquals(lint(path, text), [`house/${rule}`]);
  });
}

const fine: readonly (readonly [string, string])[] = [
  ["tests/a.ts", "export default 1; console.log(Date.now());"],
  ["src/base/ports.ts", "Date.now();"],
  [
    "src/agent/a.ts",
    "class A { #b = 1; protected c = 2; constructor(d: string) {} }",
  ],
  ["src/agent/a.ts", "export function a(b: 1, c: 2, options: {}) {}"],
  ["src/agent/a.ts", "new Date(0); clock.now(); Promise.all([]);"],
];

for (const [path, text] of fine) {
  test(`no rule complains in ${path} about ${text}`, { runtimes }, () => {
    assertEquals(lint(path, text), []);
  });
}

function lint(path: string, text: string): string[] {
  return Deno.lint.runPlugin(plugin, `${Deno.cwd()}/${path}`, text).map((
    { id },
  ) => id);
}
