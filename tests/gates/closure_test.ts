import { readEntries } from "../../scripts/manifest.ts";
import {
  readBundles,
  sizesFile,
  sizesOf,
  smallestImport,
} from "../../scripts/sizes.ts";
import { readWorkerBundle } from "../../scripts/worker_bundle.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { test } from "../support/suite.ts";
import { entryRules } from "./architecture.ts";
import { closureOf } from "./closure.ts";

const slow = { runtimes: ["deno"], timeoutMs: 120_000 } as const;

/** What no bundle for every runtime may contain; minified code has no comments. */
const platformTraces =
  /["'`](node|bun|cloudflare|jsr):[a-z]|\bDeno\.|\bBun\.|\bprocess\.|\bBuffer\.|\brequire\(/;

/** What workerd refuses, and any page with a policy against it. */
const codeFromText =
  /\beval\(|\bFunction\(|\brequire\(|\b(import|from) ?\(?"node:/;

test(
  "an entry loads no package and no platform module but its own",
  slow,
  async () => {
    const complaints: string[] = [];
    for (const { key, file } of readEntries()) {
      const { packages, modules } = await closureOf(file);
      const rule = entryRules[key];
      const strangers = [
        ...packages.filter((name) => !rule?.packages.includes(name)),
        ...modules.filter(() => rule?.portable !== false),
      ];
      if (strangers.length > 0) {
        complaints.push(
          `${key} (${file}) loads ${strangers.join(", ")}`,
        );
      }
    }
    assertEquals(complaints, []);
  },
);

test(
  "the code a bundler ships for a portable entry names no platform",
  slow,
  async () => {
    const complaints = Object.entries(await readBundles())
      .filter(([key]) => entryRules[key]?.portable)
      .map(([key, code]) => ({ key, trace: platformTraces.exec(code) }))
      .filter(({ trace }) => trace !== null)
      .map(({ key, trace }) => `${key} contains ${surroundings(trace!)}`);
    assertEquals(complaints, []);
  },
);

test(
  "a whole Worker, packages included, needs no Node and makes no code from texts",
  slow,
  async () => {
    const { code, imports } = await readWorkerBundle();
    assertEquals(imports, ["cloudflare:workers"]);
    const trace = codeFromText.exec(code);
    assertEquals(trace && surroundings(trace), null);
  },
);

// ARCHITECTURE.md says where the bytes go and why the limit is not 60 kB.
test("an agent with a tool costs less than 87 kB", slow, async () => {
  const bytes = sizesOf(await readBundles())[smallestImport]!;
  assert(
    bytes < 87_000,
    `${smallestImport} takes ${bytes} bytes; see \`deno task sizes --why\``,
  );
});

test("no entry grows unnoticed", slow, async () => {
  const accepted: Record<string, number> = JSON.parse(
    Deno.readTextFileSync(sizesFile),
  );
  const grown = Object.entries(sizesOf(await readBundles()))
    .filter(([name, bytes]) => !(bytes <= (accepted[name] ?? 0) * 1.02))
    .map(([name, bytes]) =>
      `${name} takes ${bytes} bytes, accepted are ${accepted[name] ?? 0}`
    );
  assertEquals(
    grown,
    [],
    "Run `deno task sizes --accept` if the growth is worth it",
  );
});

function surroundings({ input, index }: RegExpExecArray): string {
  return input.slice(Math.max(0, index - 60), index + 60);
}
