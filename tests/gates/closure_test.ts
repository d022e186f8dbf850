import { stop } from "esbuild";
import { readEntries } from "../../scripts/manifest.ts";
import {
  bundleEntry,
  measureSizes,
  sizesFile,
  smallestImport,
} from "../../scripts/sizes.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { test } from "../support/suite.ts";
import { entryRules } from "./architecture.ts";
import { closureOf } from "./closure.ts";

const slow = { runtimes: ["deno"], timeoutMs: 120_000 } as const;

/** What no bundle for every runtime may contain; minified code has no comments. */
const platformTraces =
  /["'`](node|bun|cloudflare|jsr):[a-z]|\bDeno\.|\bBun\.|\bprocess\.|\bBuffer\.|\brequire\(/;

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
    const complaints: string[] = [];
    try {
      for (
        const entry of readEntries().filter(({ key }) =>
          entryRules[key]?.portable
        )
      ) {
        const trace = platformTraces.exec(await bundleEntry(entry));
        if (trace !== null) {
          const around = trace.input.slice(
            Math.max(0, trace.index - 60),
            trace.index + 60,
          );
          complaints.push(
            `${entry.key} (${entry.file}) contains ${trace[0]} in: ${around}`,
          );
        }
      }
    } finally {
      await stop();
    }
    assertEquals(complaints, []);
  },
);

test(
  "an agent with a tool costs less than 60 kB, and no entry grows unnoticed",
  slow,
  async () => {
    const accepted: Record<string, number> = JSON.parse(
      Deno.readTextFileSync(sizesFile),
    );
    const sizes = await measureSizes().finally(() => stop());
    assert(
      sizes[smallestImport]! < 60_000,
      `${smallestImport} takes ${sizes[smallestImport]} bytes`,
    );
    const grown = Object.entries(sizes)
      .filter(([name, bytes]) => !(bytes <= (accepted[name] ?? 0) * 1.02))
      .map(([name, bytes]) =>
        `${name} takes ${bytes} bytes, accepted are ${accepted[name] ?? 0}`
      );
    assertEquals(
      grown,
      [],
      "Run `deno task sizes --accept` if the growth is worth it",
    );
  },
);
