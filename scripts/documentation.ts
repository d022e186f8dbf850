/**
 * Checks the documentation: `lint` finds what is missing in the entries, `test` runs every example
 * in published code.
 *
 * @module
 */

import { findFiles } from "../tests/runners/files.ts";
import { readEntries } from "./manifest.ts";

const [choice] = Deno.args;
const child = new Deno.Command(Deno.execPath(), { args: commandFor(choice) })
  .spawn();
Deno.exit((await child.status).code);

function commandFor(choice: string | undefined): string[] {
  switch (choice) {
    case "lint":
      return ["doc", "--lint", ...readEntries().map(({ file }) => file)];
    case "test":
      return ["test", "-A", "--doc", "--quiet", ...filesWithExamples()];
    default:
      throw new TypeError("Say lint or test");
  }
}

/** Each file costs a module graph of its own, so those without an example are left out. */
function filesWithExamples(): string[] {
  const published = [
    "mod.ts",
    ...findFiles(".ts", "src"),
    ...findFiles(".ts", "adapters"),
  ];
  return published.filter((path) =>
    /^ *\* ```ts/m.test(Deno.readTextFileSync(path))
  );
}
