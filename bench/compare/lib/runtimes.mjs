// The runtimes under test, and the tools that every run needs.
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = join(dirname(fileURLToPath(import.meta.url)), "..");

const tool = (file) => join(root, "peers/tools/node_modules", file);

/** The newest Node: also serves, bundles and reads the drivers, whatever is under test. */
export const newestNode = process.env.BENCH_NODE26 ?? tool("node/bin/node");

const denoRun = [
  "run",
  "-A",
  "--no-config",
  "--no-lock",
  "--node-modules-dir=manual",
];

/** `flags` for measurements in a warm process, `cold` for the time from its start. */
export const runtimes = {
  node26: { command: newestNode, flags: ["--expose-gc"], cold: [] },
  node20: {
    command: process.env.BENCH_NODE20 ?? "node",
    flags: ["--expose-gc"],
    cold: [],
  },
  deno: {
    command: process.env.BENCH_DENO ?? tool("deno/deno"),
    flags: [...denoRun, "--v8-flags=--expose-gc"],
    cold: denoRun,
  },
  bun: {
    command: process.env.BENCH_BUN ?? tool("bun/bin/bun.exe"),
    flags: [],
    cold: [],
  },
};

export async function loadEsbuild() {
  return (await import(tool("esbuild/lib/main.js"))).default;
}
