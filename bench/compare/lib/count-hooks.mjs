// Preloaded with --import: counts every module file the process loads, and their bytes.
import { registerHooks } from "node:module";
import { statSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
const seen = new Set();
registerHooks({
  load(url, context, next) {
    if (url.startsWith("file:")) seen.add(url.split("?")[0]);
    return next(url, context);
  },
});
process.on("exit", () => {
  let bytes = 0;
  let files = 0;
  for (const u of seen) {
    const p = fileURLToPath(u);
    if (/\/\.cold-[^/]*$/.test(p)) continue;
    files++;
    try {
      bytes += statSync(p).size;
    } catch {}
  }
  writeFileSync(process.env.BENCH_COUNT_OUT, JSON.stringify({ files, bytes }));
});
