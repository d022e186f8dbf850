// What esbuild makes of a driver's minimal program.
import { builtinModules } from "node:module";
import { basename } from "node:path";
import { gzipSync } from "node:zlib";
import { loadEsbuild } from "./runtimes.mjs";

const requireInModules =
  "import{createRequire as __cr}from'node:module';const require=__cr(import.meta.url);";

/**
 * Sizes for Node and for browsers, what of the former must load before the first
 * line runs (`initial`), and the code for Node.
 */
export async function bundleSizes(driver) {
  const sizes = {};
  const attempt = async (key, make) => {
    try {
      Object.assign(sizes, await make());
    } catch (error) {
      const message = error.errors?.[0]?.text ?? String(error);
      const count = error.errors?.length ?? 1;
      sizes[key] = { error: message.slice(0, 160), errors: count };
    }
  };
  await attempt("node", async () => {
    const { outputFiles, external } = await bundle(driver, "node");
    return {
      node: sizeOf(outputFiles),
      code: outputFiles[0].text,
      ...(external.length > 0 && { external }),
    };
  });
  await attempt("nodeSplit", async () => {
    const built = await bundle(driver, "node", { splitting: true });
    return { initial: sizeOf(initialFiles(built)) };
  });
  await attempt("browser", async () => {
    return { browser: sizeOf((await bundle(driver, "browser")).outputFiles) };
  });
  return sizes;
}

// Optional packages that are not installed stay outside; what the runtime lacks is a failure.
async function bundle(driver, platform, { splitting = false } = {}) {
  const esbuild = await loadEsbuild();
  const external = [];
  for (;;) {
    try {
      const built = await esbuild.build({
        stdin: {
          contents: driver.minimal,
          resolveDir: driver.dir,
          sourcefile: "minimal.mjs",
          loader: "js",
        },
        bundle: true,
        minify: true,
        format: "esm",
        platform,
        target: "es2022",
        external,
        write: false,
        metafile: true,
        logLevel: "silent",
        outdir: "/out",
        splitting,
        define: { "process.env.NODE_ENV": '"production"' },
        legalComments: "none",
        ...(platform === "node" && { banner: { js: requireInModules } }),
      });
      return { ...built, external };
    } catch (error) {
      const missing = missingPackages(error);
      if (missing.length === 0) throw error;
      if (missing.some((name) => external.includes(name))) throw error;
      external.push(...missing);
    }
  }
}

function missingPackages({ errors = [] }) {
  const names = errors
    .map(({ text }) => /^Could not resolve "([^"]+)"/.exec(text)?.[1])
    .filter((name) => name !== undefined && !name.startsWith("node:"));
  return [...new Set(names)].filter((name) => !builtinModules.includes(name));
}

function sizeOf(files) {
  const sum = (size) => files.reduce((total, file) => total + size(file), 0);
  return {
    min: sum(({ contents }) => contents.length),
    gzip: sum(({ contents }) => gzipSync(contents, { level: 9 }).length),
    files: files.length,
  };
}

/** The entry and what it imports statically. */
function initialFiles({ metafile: { outputs }, outputFiles }) {
  const needed = new Set();
  const walk = (path) => {
    if (outputs[path] === undefined || needed.has(basename(path))) return;
    needed.add(basename(path));
    for (const { kind, path: imported } of outputs[path].imports) {
      if (kind !== "dynamic-import") walk(imported);
    }
  };
  walk(Object.keys(outputs).find((path) => outputs[path].entryPoint));
  return outputFiles.filter(({ path }) => needed.has(basename(path)));
}
