import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { kill } from "node:process";
import { childProgram } from "../support/child_program.ts";
import { type Runtime, runtime } from "../support/runtime.ts";

/** Whether Python can take part. */
export const hasPython: boolean = runtime !== "workerd" &&
  spawnSync("python3", ["-c", "import fcntl"]).status === 0;

/** A child process that talks in lines. */
export interface Program {
  /** The next line of its output; null at its end. */
  line(): Promise<string | null>;
  /** Sends it a line. */
  send(line: string): void;
  /** Resolves when it has ended well; rejects with what it printed to its standard error. */
  readonly done: Promise<void>;
  /** Kills the process with a number, which may be a child of the one that was started. */
  kill(processId: number): Promise<void>;
}

/** Starts a program of the tests on this runtime. */
export function startProgram(
  path: string,
  ...args: readonly string[]
): Program {
  const { command, args: all } = childProgram(path, ...args);
  return startCommand(command, all);
}

/** Starts a program of the tests on another runtime, which comes from npm. */
export function startProgramOn(
  other: Exclude<Runtime, "node" | "workerd">,
  path: string,
  ...args: readonly string[]
): Program {
  const command = other === "deno"
    ? ["deno@2.9.6", "run", "-A", "--no-check", "--quiet"]
    : ["bun@1.4.5"];
  return startCommand("npx", ["--yes", ...command, path, ...args]);
}

/** Starts any command. */
export function startCommand(
  command: string,
  args: readonly string[],
): Program {
  const child = spawn(command, args, { stdio: ["pipe", "pipe", "pipe"] });
  const lines = linesOf(child);
  let log = "";
  child.stderr!.setEncoding("utf8").on("data", (text: string) => log += text);
  const closed = new Promise<number | null>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", resolve);
  });
  const done = closed.then((code) => {
    if (code !== 0) throw new Error(`${command} ended with ${code}: ${log}`);
  });
  done.catch(() => {}); // who does not ask need not know
  return {
    line: lines,
    send: (line) => child.stdin!.write(`${line}\n`),
    done,
    async kill(processId) {
      kill(processId, "SIGKILL");
      await closed;
    },
  };
}

function linesOf(child: ChildProcess): () => Promise<string | null> {
  const lines: string[] = [];
  const readers: ((line: string | null) => void)[] = [];
  let rest = "";
  let ended = false;
  child.stdout!.setEncoding("utf8").on("data", (text: string) => {
    const parts = (rest + text).split("\n");
    rest = parts.pop()!;
    for (const line of parts) {
      const reader = readers.shift();
      if (reader === undefined) lines.push(line);
      else reader(line);
    }
  }).on("close", () => {
    ended = true;
    for (const reader of readers.splice(0)) reader(null);
  });
  return () => {
    const line = lines.shift();
    if (line !== undefined) return Promise.resolve(line);
    if (ended) return Promise.resolve(null);
    return new Promise((resolve) => readers.push(resolve));
  };
}

/** Runs a test in a directory of its own that is removed afterwards. */
export async function inDirectory(
  body: (directory: string) => Promise<void>,
): Promise<void> {
  const directory = await mkdtemp(`${tmpdir()}/ejagent `); // with a space, on purpose
  try {
    await body(directory);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
