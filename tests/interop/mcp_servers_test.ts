import { startProgram } from "../faults/processes.ts";
import { runtimesWith } from "../support/runtime.ts";
import { test } from "../support/suite.ts";

const options = {
  runtimes: runtimesWith("processes", "listen"),
  timeoutMs: 60_000,
};

const scenarios = {
  stdio: "a child process does everything, with an environment of its own",
  filesystem: "the filesystem server works in its folder and nowhere else",
  memory: "the memory server remembers for the next process",
  streamableHttp: "a server over streamable HTTP does everything",
  sse: "a server over the older transport does everything",
  restart: "a child process that died is started again by the next call",
  missing: "a program that does not exist is its server's failure",
};

for (const [scenario, title] of Object.entries(scenarios)) {
  test(title, options, async () => {
    await startProgram("tests/interop/mcp_program.ts", scenario).done;
  });
}

test(
  "a Worker without compatibility flags uses a server over HTTP",
  { ...options, runtimes: ["deno"] },
  async () => {
    await startProgram("tests/interop/mcp_worker_program.ts").done;
  },
);
