/**
 * Measures what a user's bundler would ship: each entry, and the smallest useful import, minified.
 * `deno run -A scripts/sizes.ts --accept` records the sizes in `bench/sizes.json`.
 *
 * @module
 */

import { build } from "esbuild";
import { type Entry, readEntries, readManifest } from "./manifest.ts";

/** Where the accepted sizes are kept, in bytes by what is imported. */
export const sizesFile = "bench/sizes.json";

/** The smallest useful import, by the name under which its size is kept. */
export const smallestImport = "{ Agent, defineTool }";

/** Bundles a whole entry for any runtime; npm packages stay outside. */
export function bundleEntry(entry: Entry): Promise<string> {
  return bundle(`export * from "./${entry.file}";`);
}

/** The size of every entry and of the smallest useful import, in bytes of minified code. */
export async function measureSizes(): Promise<Record<string, number>> {
  const sizes: Record<string, number> = {};
  sizes[smallestImport] = byteLength(
    await bundle(`export ${smallestImport} from "./mod.ts";`),
  );
  for (const entry of readEntries()) {
    sizes[entry.key] = byteLength(await bundleEntry(entry));
  }
  return sizes;
}

if (import.meta.main) {
  const sizes = await measureSizes();
  for (const [name, bytes] of Object.entries(sizes)) {
    console.log(`${bytes.toString().padStart(8)} ${name}`);
  }
  if (Deno.args.includes("--accept")) {
    Deno.writeTextFileSync(sizesFile, `${JSON.stringify(sizes, null, 2)}\n`);
  }
  Deno.exit();
}

async function bundle(contents: string): Promise<string> {
  const { outputFiles } = await build({
    stdin: {
      contents,
      resolveDir: Deno.cwd(),
      sourcefile: "entry.ts",
      loader: "ts",
    },
    bundle: true,
    write: false,
    minify: true,
    format: "esm",
    platform: "neutral",
    target: "es2023",
    external: [...Object.keys(readManifest().imports), "node:*", "bun:*"],
    logLevel: "silent",
  });
  return outputFiles[0]!.text;
}

function byteLength(text: string): number {
  return new TextEncoder().encode(text).length;
}
