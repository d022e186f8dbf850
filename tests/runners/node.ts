import { bundleForNode } from "./bundle.ts";
import { countOf, runCommand } from "./command.ts";
import { judge, type Runner } from "./outcome.ts";

/** Bundles each file into one module that Node 20 understands and runs them with `node --test`. */
export const runOnNode: Runner = async (files) => {
  const modules = await bundleForNode(files);
  const { code, log } = await runCommand("node", [
    "--enable-source-maps",
    "--test",
    "--test-concurrency=2",
    "--test-reporter=./tests/runners/node_reporter.mjs",
    ...modules,
  ]);
  return judge({
    passed: countOf(log, /^passed (\d+)$/gm),
    failed: countOf(log, /^failed (\d+)$/gm),
    skipped: countOf(log, /^skipped (\d+)$/gm),
    log,
  }, code);
};
