// Lays this checkout out as the package that npm users of JSR get: one JavaScript
// file per source file, in node_modules/@ejagent/core.
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import esbuild from "../tools/node_modules/esbuild/lib/main.js";

const here = dirname(fileURLToPath(import.meta.url));
const checkout = process.env.BENCH_SOURCE ?? join(here, "../../../..");
const target = join(here, "node_modules/@ejagent/core");

export function build() {
  const { name, version, exports } = JSON.parse(
    readFileSync(join(checkout, "deno.json"), "utf8"),
  );
  rmSync(target, { recursive: true, force: true });
  for (
    const file of ["mod.ts", ...sourcesIn("src"), ...sourcesIn("adapters")]
  ) {
    const source = readFileSync(join(checkout, file), "utf8");
    const { code } = esbuild.transformSync(source, {
      loader: "ts",
      target: "es2022",
    });
    put(
      toJs(file),
      code.replace(/(from |import\()"(\.[^"]+)\.ts"/g, '$1"$2.js"'),
    );
  }
  const entries = Object.entries(exports).map((
    [key, file],
  ) => [key, toJs(file)]);
  const manifest = {
    name,
    version,
    type: "module",
    exports: Object.fromEntries(entries),
  };
  put("package.json", JSON.stringify(manifest, null, 2));
}

function sourcesIn(folder) {
  return readdirSync(join(checkout, folder), { recursive: true })
    .filter((file) => file.endsWith(".ts"))
    .map((file) => `${folder}/${file}`);
}

function put(file, text) {
  const path = join(target, file);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

function toJs(file) {
  return file.replace(/\.ts$/, ".js");
}
