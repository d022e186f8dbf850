/**
 * Measures what a user's bundler would ship: each entry, the smallest useful import, and a whole Worker
 * with all packages it uses, minified and, the latter, compressed.
 *
 * `--accept` records the sizes in `bench/sizes.json`; `--why` shows which files the smallest import is
 * made of; `--code` prints the bundles themselves as one JSON object.
 *
 * @module
 */

import { gzipSync } from "node:zlib";
import { build, type BuildResult } from "esbuild";
import { readEntries, readManifest } from "./manifest.ts";
import { readFromDeno } from "./run.ts";
import { bundleWorker, measuredWorker } from "./worker_bundle.ts";

/** Where the accepted sizes are kept, in bytes by what is imported. */
export const sizesFile = "bench/sizes.json";

/** The smallest useful import, by the name under which its size is kept. */
export const smallestImport = "{ Agent, defineTool }";

/** The Worker, by the names under which its sizes are kept. */
const worker = { minified: "worker bundle", compressed: "worker bundle, gzip" };

/** Minified code by what is imported: the key of an entry, the smallest import, or the Worker. */
export type Bundles = Readonly<Record<string, string>>;

/** Makes the bundles in a process of its own, since the bundler leaves one behind. */
export async function readBundles(): Promise<Bundles> {
  return JSON.parse(
    await readFromDeno("run", "-A", "scripts/sizes.ts", "--code"),
  );
}

/** Bytes by what is imported. */
export function sizesOf(bundles: Bundles): Record<string, number> {
  // The bundles are pure ASCII, so that lengths are sizes.
  const sizes = Object.fromEntries(
    Object.entries(bundles).map(([name, code]) => [name, code.length]),
  );
  const whole = gzipSync(bundles[worker.minified]!, { level: 9 });
  return { ...sizes, [worker.compressed]: whole.length };
}

if (import.meta.main) {
  switch (Deno.args[0]) {
    case "--code":
      console.log(JSON.stringify(await bundleAll()));
      break;
    case "--why":
      printRows(await sharesOfSmallest());
      break;
    default: {
      const sizes = sizesOf(await bundleAll());
      printRows(Object.entries(sizes));
      console.log(describeWorker(sizes));
      if (!Deno.args.includes("--accept")) break;
      Deno.writeTextFileSync(sizesFile, `${JSON.stringify(sizes, null, 2)}\n`);
    }
  }
  Deno.exit(); // Without waiting for the bundler's own process.
}

async function bundleAll(): Promise<Bundles> {
  const bundles: Record<string, string> = {};
  bundles[smallestImport] = codeOf(await bundleSmallest());
  for (const { key, file } of readEntries()) {
    bundles[key] = codeOf(await bundle(`export * from "./${file}";`));
  }
  bundles[worker.minified] = (await bundleWorker(measuredWorker)).code;
  return bundles;
}

function describeWorker(sizes: Readonly<Record<string, number>>): string {
  const kB = (name: string) => `${Math.round(sizes[name]! / 1000)} kB`;
  return `worker bundle: ${kB(worker.minified)} min, ${
    kB(worker.compressed)
  } gzip`;
}

/** The share of each file in the smallest useful import, in bytes, the largest first. */
async function sharesOfSmallest(): Promise<[file: string, bytes: number][]> {
  const { outputs } = (await bundleSmallest()).metafile;
  return Object.values(outputs)
    .flatMap(({ inputs }) => Object.entries(inputs))
    .map(([file, { bytesInOutput }]): [string, number] => [file, bytesInOutput])
    .sort(([, a], [, b]) => b - a);
}

function printRows(
  rows: readonly (readonly [name: string, bytes: number])[],
): void {
  for (const [name, bytes] of rows) {
    console.log(`${String(bytes).padStart(8)} ${name}`);
  }
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
