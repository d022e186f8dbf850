/**
 * Bundles a Worker as `wrangler deploy --minify` would: everything but the modules of the platform,
 * in one file, without a compatibility flag.
 *
 * Run as a program it prints the bundle of `bench/worker.ts` as JSON.
 *
 * @module
 */

import { build } from "esbuild";
import { readFromDeno } from "./run.ts";

/** One module, ready for workerd. */
export interface WorkerBundle {
  readonly code: string;
  /** What it still imports. */
  readonly imports: readonly string[];
}

/** The Worker whose size is kept. */
export const measuredWorker = "bench/worker.ts";

/** Bundles that Worker in a process of its own, since the bundler leaves one behind. */
export async function readWorkerBundle(): Promise<WorkerBundle> {
  return JSON.parse(
    await readFromDeno("run", "-A", "scripts/worker_bundle.ts"),
  );
}

/** Bundles a Worker. @param file From the project's root. */
export async function bundleWorker(file: string): Promise<WorkerBundle> {
  const { outputFiles, metafile } = await build({
    entryPoints: [file],
    bundle: true,
    write: false,
    metafile: true,
    minify: true,
    keepNames: true,
    format: "esm",
    platform: "browser",
    conditions: ["workerd", "worker", "browser"],
    target: "es2022",
    charset: "ascii",
    define: { "process.env.NODE_ENV": '"production"' },
    external: ["cloudflare:*"],
  });
  const imports = Object.values(metafile.outputs)
    .flatMap((output) => output.imports)
    .map(({ path }) => path);
  return { code: outputFiles[0]!.text, imports: [...new Set(imports)] };
}

if (import.meta.main) {
  console.log(JSON.stringify(await bundleWorker(measuredWorker)));
  Deno.exit(); // Without waiting for the bundler's own process.
}
