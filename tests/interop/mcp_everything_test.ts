import { startProgram } from "../faults/processes.ts";
import { runtimesWith } from "../support/runtime.ts";
import { test } from "../support/suite.ts";
import { everythingHandler, useEverything } from "./mcp_everything.ts";
import { startEverything } from "./mcp_servers.ts";

const options = {
  runtimes: runtimesWith("processes", "listen"),
  timeoutMs: 60_000,
};

const scenarios = {
  all: "a server as a child process does everything",
  environment: "a child process gets its own environment and nothing else",
  restart: "a child process that died is started again by the next call",
  missing: "a program that does not exist is its server's failure",
};

for (const [scenario, title] of Object.entries(scenarios)) {
  test(title, options, async () => {
    await startProgram("tests/interop/mcp_stdio_program.ts", scenario).done;
  });
}

for (const kind of ["streamableHttp", "sse"] as const) {
  test(`a server over ${kind} does everything`, options, async () => {
    const server = await startEverything(kind);
    const handler = everythingHandler({ url: server.url });
    try {
      await handler.startup();
      await useEverything(handler);
    } finally {
      await handler.shutdown();
      await server.stop();
    }
  });
}
