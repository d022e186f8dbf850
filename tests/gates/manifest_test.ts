import { existsSync } from "node:fs";
import { readManifest } from "../../scripts/manifest.ts";
import { mirroredManifest } from "../../scripts/sync_manifest.ts";
import {
  assertEquals,
  assertMatch,
  assertStringIncludes,
} from "../support/assert.ts";
import { test } from "../support/suite.ts";
import { entryRules } from "./architecture.ts";

const runtimes = ["deno"] as const;

test("jsr.json says what deno.json says", { runtimes }, () => {
  assertEquals(
    Deno.readTextFileSync("jsr.json"),
    mirroredManifest(),
    "Run `deno task sync:manifest`",
  );
});

test("every entry file is exported under its key, and nothing else is", {
  runtimes,
}, () => {
  const expected = Object.entries(entryRules)
    .filter(([, { file }]) => existsSync(file))
    .map(([key, { file }]) => [key, `./${file}`]);
  assertEquals(
    readManifest().exports,
    Object.fromEntries(expected),
    "The entries are listed in tests/gates/architecture.ts",
  );
});

test("dependencies come from npm, in a range or exact", { runtimes }, () => {
  for (const specifier of Object.values(readManifest().imports)) {
    assertMatch(specifier, /^npm:(@[\w-]+\/)?[\w-]+@[\^~]?\d/);
  }
});

test("the change log speaks of the version", { runtimes }, () => {
  assertStringIncludes(
    Deno.readTextFileSync("CHANGELOG.md"),
    `## ${readManifest().version}`,
  );
});
