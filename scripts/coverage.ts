/**
 * Reads the coverage that the suite left behind and compares it with what is asked of `src` and
 * `adapters`. `deno task coverage` runs the suite on Deno first.
 *
 * @module
 */

import { runSuite } from "../tests/runners/run_suite.ts";
import { readFromDeno } from "./run.ts";

/** Folder of the raw data. */
export const coverageFolder = ".build/coverage";

/** The shares that must be reached, in percent. */
export const coverageGoals: Coverage = { lines: 90, branches: 85 };

/** Shares in percent. */
export interface Coverage {
  readonly lines: number;
  readonly branches: number;
}

/** What the tests reached, over all files and for each file, the least covered first. */
export interface CoverageReport {
  readonly total: Coverage;
  readonly files: readonly (Coverage & { readonly path: string })[];
}

/** Reads the raw data of the last run. */
export async function readCoverage(): Promise<CoverageReport> {
  const root = `${Deno.cwd()}/`;
  const include = `--include=^file://${root}(src|adapters)/`;
  return coverageIn(
    await readFromDeno("coverage", "--lcov", include, coverageFolder),
    root,
  );
}

/** Adds up a tracefile in the format of lcov; paths are told from the root. */
export function coverageIn(tracefile: string, root: string): CoverageReport {
  const records = tracefile.split("end_of_record").filter((record) =>
    record.includes("SF:")
  );
  const files = records.map((record) => ({
    path: /^SF:(.*)$/m.exec(record)![1]!.replace(root, ""),
    ...sharesOf([record]),
  }));
  return {
    total: sharesOf(records),
    files: files.sort((a, b) => a.lines - b.lines),
  };
}

/** A few lines about a report: the files that lie below the goal, then the total. */
export function describeCoverage({ total, files }: CoverageReport): string {
  const line = ({ lines, branches }: Coverage, name: string) =>
    `${percent(lines)} lines ${percent(branches)} branches  ${name}`;
  const below = files.filter((file) => !reachesGoals(file));
  return [
    ...below.map((file) => line(file, file.path)),
    line(total, "src and adapters"),
  ].join("\n");
}

/** Whether both shares are high enough. */
export function reachesGoals({ lines, branches }: Coverage): boolean {
  return lines >= coverageGoals.lines && branches >= coverageGoals.branches;
}

if (import.meta.main) {
  await runSuite({
    runtimes: ["deno"],
    filters: Deno.args,
    coverage: coverageFolder,
  });
  const report = await readCoverage();
  console.log(describeCoverage(report));
  Deno.exit(reachesGoals(report.total) ? 0 : 1);
}

function percent(share: number): string {
  return `${share.toFixed(1).padStart(6)} %`;
}

function sharesOf(records: readonly string[]): Coverage {
  const sum = (tag: string) =>
    records.reduce((total, record) => {
      return total +
        Number(new RegExp(`^${tag}:(\\d+)$`, "m").exec(record)?.[1] ?? 0);
    }, 0);
  const share = (hit: string, found: string) => {
    const count = sum(found);
    return count === 0 ? 100 : 100 * sum(hit) / count;
  };
  return { lines: share("LH", "LF"), branches: share("BRH", "BRF") };
}
