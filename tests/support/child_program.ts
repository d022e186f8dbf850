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
export async function childProgram(
  path: string,
  ...args: readonly string[]
): Promise<ChildCommand> {
  switch (runtime) {
    case "deno":
      return {
        command: Deno.execPath(),
        args: ["run", "-A", "--no-check", "--quiet", path, ...args],
      };
    case "bun":
      return { command: await nodeExecPath(), args: [path, ...args] };
    case "node": {
      const bundle = `.build/node/${path.replace(/\.ts$/, ".mjs")}`;
      return {
        command: await nodeExecPath(),
        args: ["--enable-source-maps", bundle, ...args],
      };
    }
    case "workerd":
      throw new Error(
        "A Worker cannot start a process; declare the runtimes of the test",
      );
  }
}

async function nodeExecPath(): Promise<string> {
  const specifier = "node:process"; // not a literal: the Worker bundle must not resolve it
  return (await import(specifier)).execPath;
}
