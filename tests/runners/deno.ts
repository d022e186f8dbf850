import { countOf, runCommand } from "./command.ts";
import { judge, type Runner } from "./outcome.ts";

/** Runs the files with `deno test`; types are checked by their own task. */
export const runOnDeno: Runner = async (files, { coverage }) => {
  const args = ["test", "-A", "--no-check", "--reporter=dot"];
  if (coverage !== undefined) {
    args.push(`--coverage=${coverage}`, "--clean", "--coverage-raw-data-only");
  }
  const { code, log } = await runCommand(Deno.execPath(), [...args, ...files]);
  return judge({
    passed: countOf(log, /\| (\d+) passed/g),
    failed: countOf(log, /\| (\d+) failed/g),
    skipped: countOf(log, /\| (\d+) ignored/g),
    log: log.replaceAll(/^[.!,]\n/gm, ""),
  }, code);
};
