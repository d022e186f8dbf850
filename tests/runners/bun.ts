import { countOf, runCommand } from "./command.ts";
import { judge, type Runner } from "./outcome.ts";

/** The Bun that the suite runs on, taken from npm. */
const bun = "bun@1.4.5";

/** Runs the files with `bun test`. */
export const runOnBun: Runner = async (files) => {
  const paths = files.map((file) => `./${file}`);
  const { code, log } = await runCommand("npx", [
    "--yes",
    bun,
    "test",
    "--only-failures",
    ...paths,
  ]);
  return judge({
    passed: countOf(log, /^ *(\d+) pass$/gm),
    failed: countOf(log, /^ *(\d+) fail$/gm),
    skipped: countOf(log, /^ *(\d+) skip$/gm),
    log,
  }, code);
};
