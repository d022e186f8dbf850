import { runDeno } from "../../scripts/run.ts";
import { countOf, judge, type Runner } from "./outcome.ts";

/**
 * Runs the files with `deno test`; types are checked by their own task.
 *
 * The files of a folder share one module: Deno makes a new world for each, which
 * takes longer than the tests of most files.
 */
export const runOnDeno: Runner = async (files, { coverage }) => {
  const options = ["-A", "--no-check", "--reporter=dot", "--config=deno.json"];
  if (coverage !== undefined) {
    options.push(
      `--coverage=${coverage}`,
      "--clean",
      "--coverage-raw-data-only",
    );
  }
  const groups = await Deno.makeTempDir();
  try {
    const modules = writeGroups(files, groups);
    const output = await runDeno("test", ...options, ...modules);
    const log = output.stdout + output.stderr;
    return judge({
      passed: countOf(log, /\| (\d+) passed/g),
      failed: countOf(log, /\| (\d+) failed/g),
      skipped: countOf(log, /\| (\d+) ignored/g),
      log: log.replaceAll(/^[.!,]\n/gm, ""),
    }, output.code);
  } finally {
    await Deno.remove(groups, { recursive: true });
  }
};

/** Writes a module for each folder that imports its files. @returns The modules. */
function writeGroups(files: readonly string[], target: string): string[] {
  const root = new URL("../../", import.meta.url);
  const folderOf = (file: string) => file.slice(0, file.lastIndexOf("/"));
  return [...Map.groupBy(files, folderOf)].map(([folder, members]) => {
    const module = `${target}/${folder.replaceAll("/", "_")}_test.ts`;
    const imports = members.map((file) => `import "${new URL(file, root)}";\n`);
    Deno.writeTextFileSync(module, imports.join(""));
    return module;
  });
}
