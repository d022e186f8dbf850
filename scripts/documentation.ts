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
      return [
        "test",
        "-A",
        "--doc",
        "--quiet",
        "mod.ts",
        ...findFiles(".ts", "src"),
        ...findFiles(".ts", "adapters"),
      ];
    default:
      throw new TypeError("Say lint or test");
  }
}
