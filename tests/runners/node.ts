import { bundleForNode } from "./bundle.ts";
import { countOf, runCommand } from "./command.ts";
import { judge, type Runner } from "./outcome.ts";

/** Bundles each file into one module that Node 20 understands and runs them with `node --test`. */
export const runOnNode: Runner = async (files) => {
  // A folder of its own, so that two runs at the same time do not take each other's modules away.
  const folder = `.build/node/${Deno.pid}`;
  try {
    const modules = await bundleForNode(files, folder);
    const { code, log } = await runCommand("node", [
      "--enable-source-maps",
      "--test",
      "--test-concurrency=2",
      "--test-reporter=./tests/runners/node_reporter.mjs",
      ...modules,
    ], { TEST_BUNDLES: folder });
    return judge({
      passed: countOf(log, /^passed (\d+)$/gm),
      failed: countOf(log, /^failed (\d+)$/gm),
      skipped: countOf(log, /^skipped (\d+)$/gm),
      log,
    }, code);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
};
