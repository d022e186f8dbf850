/**
 * Measures what a user's bundler would ship: each entry, and the smallest useful import, minified.
 * `--why` shows which files the smallest import is made of; `--accept` records the sizes in
 * `bench/sizes.json`.
 *
 * @module
 */

import { build, type BuildResult } from "esbuild";
import { type Entry, readEntries, readManifest } from "./manifest.ts";

/** Where the accepted sizes are kept, in bytes by what is imported. */
export const sizesFile = "bench/sizes.json";

/** The smallest useful import, by the name under which its size is kept. */
export const smallestImport = "{ Agent, defineTool }";

/** Bundles a whole entry for any runtime; npm packages stay outside. */
export async function bundleEntry(entry: Entry): Promise<string> {
  return codeOf(await bundle(`export * from "./${entry.file}";`));
}

/** The size of every entry and of the smallest useful import, in bytes of minified code. */
export async function measureSizes(): Promise<Record<string, number>> {
  const sizes: Record<string, number> = {
    [smallestImport]: codeOf(await bundleSmallest()).length,
  };
  for (const entry of readEntries()) {
    sizes[entry.key] = (await bundleEntry(entry)).length;
  }
  return sizes;
}

/** The share of each file in the smallest useful import, in bytes, the largest first. */
export async function measureShares(): Promise<
  [file: string, bytes: number][]
> {
  const { outputs } = (await bundleSmallest()).metafile;
  return Object.values(outputs)
    .flatMap(({ inputs }) => Object.entries(inputs))
    .map(([file, { bytesInOutput }]): [string, number] => [file, bytesInOutput])
    .sort(([, a], [, b]) => b - a);
}

if (import.meta.main) {
  const sizes = await measureSizes();
  if (Deno.args.includes("--accept")) {
    Deno.writeTextFileSync(sizesFile, `${JSON.stringify(sizes, null, 2)}\n`);
  }
  const rows = Deno.args.includes("--why")
    ? await measureShares()
    : Object.entries(sizes);
  for (const [name, bytes] of rows) {
    console.log(`${String(bytes).padStart(8)} ${name}`);
  }
  Deno.exit(); // The bundler keeps a process that would be waited for.
}

type Bundle = BuildResult<{ readonly write: false; readonly metafile: true }>;

function bundleSmallest(): Promise<Bundle> {
  return bundle(`export ${smallestImport} from "./mod.ts";`);
}

function bundle(contents: string): Promise<Bundle> {
  return build({
    stdin: {
      contents,
      resolveDir: Deno.cwd(),
      sourcefile: "entry.ts",
      loader: "ts",
    },
    bundle: true,
    write: false,
    metafile: true,
    minify: true,
    // Escapes make every character one byte, so that lengths are sizes.
    charset: "ascii",
    format: "esm",
    platform: "neutral",
    target: "es2023",
    external: [...Object.keys(readManifest().imports), "node:*", "bun:*"],
    logLevel: "silent",
  });
}

function codeOf({ outputFiles }: Bundle): string {
  return outputFiles[0]!.text;
}
