import { build, type Plugin } from "esbuild";
import { findFiles } from "./files.ts";

/** Packages that only tools and host tests use; a Worker gets an empty module instead. */
const hostPackages = [
  "esbuild",
  "miniflare",
  "typescript",
  "koffi",
  "@opentelemetry/context-async-hooks",
  "@electric-sql/pglite",
];

/**
 * Bundles each test file, and each program that tests start, into one module for Node 20.
 *
 * @param files From the project's root.
 * @param outdir Where the modules go.
 * @returns The modules of the test files.
 */
export async function bundleForNode(
  files: readonly string[],
  outdir: string,
): Promise<string[]> {
  await build({
    entryPoints: [...files, ...findFiles("_program.ts")],
    outdir,
    outbase: ".",
    outExtension: { ".js": ".mjs" },
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    target: "node20",
    packages: "external",
    // Newer versions of Node would take every script within a bundle for the program itself.
    define: { "import.meta.main": "false" },
    sourcemap: "linked",
    logLevel: "warning",
  });
  return files.map((file) => `${outdir}/${file.replace(/\.ts$/, ".mjs")}`);
}

/** Bundles all test files into one Worker module that serves their results. */
export async function bundleForWorkerd(
  files: readonly string[],
): Promise<{ readonly code: string; readonly sourceMap: string }> {
  const { outputFiles } = await build({
    stdin: {
      contents: workerEntry(files),
      resolveDir: Deno.cwd(),
      sourcefile: "worker_entry.ts",
    },
    outfile: "worker.mjs",
    write: false,
    bundle: true,
    format: "esm",
    platform: "browser",
    target: "es2022",
    conditions: ["workerd", "worker", "browser"],
    // Many files share one scope here; without this, classes of the same name would be renamed.
    keepNames: true,
    sourcemap: "external",
    plugins: [standInForHosts],
    logLevel: "warning",
  });
  const text = (ending: string) =>
    outputFiles.find(({ path }) => path.endsWith(ending))!.text;
  return { code: text(".mjs"), sourceMap: text(".map") };
}

/** The imports are dynamic, so that one file that cannot be loaded is one failure and not the end. */
function workerEntry(files: readonly string[]): string {
  return [
    `import { load, serve } from "./tests/runners/worker.ts";`,
    ...files.map((file) => `await load("${file}", () => import("./${file}"));`),
    `export default { fetch: serve };`,
  ].join("\n");
}

/**
 * Lets files whose tests are skipped on workerd be loaded there, so that they are counted as skipped:
 * a module of another platform becomes an empty one. The core gets no such mercy: an import of a
 * platform under `src` breaks the bundle.
 */
const standInForHosts: Plugin = {
  name: "stand-in for hosts",
  setup({ onResolve, onLoad }) {
    const hostOnly = new RegExp(
      `^(node:|bun:|cloudflare:|(${hostPackages.join("|")})(/|$))`,
    );
    onResolve({ filter: hostOnly }, ({ path, importer }) => {
      if (importer.startsWith(`${Deno.cwd()}/src/`)) {
        return {
          errors: [{
            text: `"${path}" is imported by the core, which must run anywhere`,
          }],
        };
      }
      return { path, namespace: "stand-in" };
    });
    onLoad(
      { filter: /.*/, namespace: "stand-in" },
      () => ({ contents: "module.exports = {};" }),
    );
  },
};
