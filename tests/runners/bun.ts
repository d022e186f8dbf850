import { run } from "../../scripts/run.ts";
import { countOf, judge, type Runner } from "./outcome.ts";

/** The Bun that the suite runs on, as npm knows it. */
export const bunPackage = "bun@1.4.5";

/** Runs the files with `bun test`. */
export const runOnBun: Runner = async (files) => {
  const paths = files.map((file) => `./${file}`);
  const options = ["--yes", bunPackage, "test", "--only-failures"];
  const { code, stdout, stderr } = await run("npx", [...options, ...paths]);
  const log = stdout + stderr;
  return judge({
    passed: countOf(log, /^ *(\d+) pass$/gm),
    failed: countOf(log, /^ *(\d+) fail$/gm),
    skipped: countOf(log, /^ *(\d+) skip$/gm),
    log,
  }, code);
};
