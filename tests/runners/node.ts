import { run } from "../../scripts/run.ts";
import { bundleForNode } from "./bundle.ts";
import { countOf, judge, type Runner } from "./outcome.ts";

const options = [
  "--enable-source-maps",
  "--test",
  "--test-concurrency=2",
  "--test-reporter=./tests/runners/node_reporter.mjs",
];

/** Bundles each file into one module that Node 20 understands and runs them with `node --test`. */
export const runOnNode: Runner = async (files) => {
  // A folder of its own, so that two runs at the same time do not take each other's modules away.
  const folder = `.build/node/${Deno.pid}`;
  try {
    const modules = await bundleForNode(files, folder);
    const env = { TEST_BUNDLES: folder };
    const { code, stdout, stderr } = await run(
      "node",
      [...options, ...modules],
      { env },
    );
    return judge({
      passed: countOf(stdout, /^passed (\d+)$/gm),
      failed: countOf(stdout, /^failed (\d+)$/gm),
      skipped: countOf(stdout, /^skipped (\d+)$/gm),
      log: stdout + stderr,
    }, code);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
};
