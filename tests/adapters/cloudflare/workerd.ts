import { type Program, startProgram } from "../../faults/processes.ts";

/** A Worker of the tests that runs in a workerd of its own. */
export interface RunningWorker {
  /** Sends a request, the path without a slash at its beginning. */
  fetch(path: string, init?: RequestInit): Promise<Response>;
  /** Ends it as an operator would. */
  stop(): Promise<void>;
  /** Kills workerd, which then has no time for anything. */
  kill(): Promise<void>;
}

/** Starts a Worker of the tests. @param directory Where it keeps what it keeps. */
export function startWorker(
  file: string,
  directory: string,
): Promise<RunningWorker> {
  const path = `tests/adapters/cloudflare/${file}`;
  return startAnyWorker({ path, className: "TestObject" }, directory);
}

/** A Worker, as its source or as a module. */
export interface WorkerFile {
  readonly path: string;
  /** The class of its Durable Objects. */
  readonly className: string;
}

/** Starts a Worker. @param directory Where it keeps what it keeps. */
export async function startAnyWorker(
  { path, className }: WorkerFile,
  directory: string,
): Promise<RunningWorker> {
  const program = startProgram(
    "tests/adapters/cloudflare/workerd_program.ts",
    path,
    className,
    directory,
  );
  const { url, processId } = JSON.parse(await firstLine(program));
  const stop = async () => {
    program.send("stop");
    await program.done;
  };
  return {
    fetch: (path, init) => fetch(url + path, init),
    stop,
    async kill() {
      Deno.kill(processId, "SIGKILL");
      await stop();
    },
  };
}

async function firstLine(program: Program): Promise<string> {
  const line = await program.line();
  if (line === null) await program.done;
  return line!;
}
