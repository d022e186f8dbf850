import { runDeno } from "../../scripts/run.ts";
import { countOf, judge, type Runner } from "./outcome.ts";

/** Runs the files with `deno test`; types are checked by their own task. */
export const runOnDeno: Runner = async (files, { coverage }) => {
  const options = ["-A", "--no-check", "--reporter=dot"];
  if (coverage !== undefined) {
    options.push(
      `--coverage=${coverage}`,
      "--clean",
      "--coverage-raw-data-only",
    );
  }
  const { code, stdout, stderr } = await runDeno("test", ...options, ...files);
  const log = stdout + stderr;
  return judge({
    passed: countOf(log, /\| (\d+) passed/g),
    failed: countOf(log, /\| (\d+) failed/g),
    skipped: countOf(log, /\| (\d+) ignored/g),
    log: log.replaceAll(/^[.!,]\n/gm, ""),
  }, code);
};
