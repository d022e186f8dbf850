import { execPath } from "node:process";
import { startCommand } from "../faults/processes.ts";
import { isLong } from "../support/runtime.ts";
import { test } from "../support/suite.ts";

const runner = "node_modules/@modelcontextprotocol/conformance/dist/index.js";
const client = "tests/interop/mcp_conformance_program.ts";

// The scenarios for clients that need no authorization server.
const scenarios = [
  "initialize",
  "tools_call",
  "elicitation-sep1034-client-defaults",
  "sse-retry",
];

for (const scenario of scenarios) {
  test(
    `the protocol's own conformance scenario ${scenario}`,
    // The runner is made for one runtime; what it judges is the same everywhere.
    { runtimes: ["deno"], skip: !isLong, timeoutMs: 120_000 },
    async () => {
      await startCommand(execPath, [
        ...["run", "-A", "--quiet", runner, "client"],
        ...["--command", `${execPath} run -A --quiet --no-check ${client}`],
        ...["--scenario", scenario],
      ]).done;
    },
  );
}
