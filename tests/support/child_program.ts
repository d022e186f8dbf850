import { env, execPath } from "node:process";
import { runtime } from "./runtime.ts";

/** What to start, for the spawn function of the runtime at hand. */
export interface ChildCommand {
  readonly command: string;
  readonly args: readonly string[];
}

/**
 * The command that runs a program of the tests on the same runtime as the test itself.
 *
 * @param path The program from the project's root. Its name ends in `_program.ts`; by that name
 * the Node runner finds it and bundles it beside the tests.
 */
export function childProgram(
  path: string,
  ...args: readonly string[]
): ChildCommand {
  return { command: execPath, args: [...programArgs(path), ...args] };
}

function programArgs(path: string): string[] {
  switch (runtime) {
    case "deno":
      return ["run", "-A", "--no-check", "--quiet", path];
    case "node":
      // The runner says where it has put its modules.
      return [
        "--enable-source-maps",
        `${env.TEST_BUNDLES}/${path.replace(/\.ts$/, ".mjs")}`,
      ];
    case "bun":
      return [path];
    case "workerd":
      throw new Error(
        "A Worker cannot start a process; declare the runtimes of the test",
      );
  }
}
