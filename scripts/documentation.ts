/** Checks the documentation of every entry: `lint` for what is missing, `test` for the examples. */

import { readEntries } from "./manifest.ts";

const commands: Readonly<Record<string, readonly string[]>> = {
  lint: ["doc", "--lint"],
  test: ["test", "-A", "--doc"],
};
const command = commands[Deno.args[0] ?? ""];
if (command === undefined) {
  throw new TypeError(`Say one of ${Object.keys(commands).join(", ")}`);
}

const files = readEntries().map(({ file }) => file);
const child = new Deno.Command(Deno.execPath(), {
  args: [...command, ...files],
}).spawn();
Deno.exit((await child.status).code);
