import { execPath } from "node:process";
import { startCommand } from "../faults/processes.ts";
import { assertEquals } from "../support/assert.ts";
import { test } from "../support/suite.ts";

const runner = "node_modules/@modelcontextprotocol/conformance/dist/index.js";
const client = "tests/interop/mcp_conformance_program.ts";

// The runner is made for one runtime; what it judges is the same everywhere.
const options = { runtimes: ["deno"], timeoutMs: 180_000 } as const;

const scenarios = [
  "initialize",
  "tools_call",
  "elicitation-sep1034-client-defaults",
  "sse-retry",
  "auth/metadata-default",
  "auth/metadata-var1",
  "auth/metadata-var2",
  "auth/metadata-var3",
  "auth/basic-cimd",
  "auth/scope-from-www-authenticate",
  "auth/scope-from-scopes-supported",
  "auth/scope-omitted-when-undefined",
  "auth/scope-step-up",
  "auth/scope-retry-limit",
  "auth/token-endpoint-auth-basic",
  "auth/token-endpoint-auth-post",
  "auth/token-endpoint-auth-none",
  "auth/pre-registration",
  "auth/2025-03-26-oauth-metadata-backcompat",
  "auth/2025-03-26-oauth-endpoint-fallback",
  "auth/resource-mismatch",
  "auth/offline-access-scope",
  "auth/offline-access-not-supported",
  "auth/client-credentials-jwt",
  "auth/client-credentials-basic",
  "auth/cross-app-access-complete-flow",
];

/** Scenarios in which a client that does right is never let in. */
const refusals = ["auth/scope-retry-limit", "auth/resource-mismatch"];

for (const scenario of scenarios) {
  test(
    `the protocol's own conformance scenario ${scenario}`,
    options,
    async () => {
      const { verdicts } = await judgement();
      assertEquals(verdicts.get(scenario), ["passed"]);
    },
  );
}

test(
  "the runner knows no other scenarios and refuses only those it means to refuse",
  options,
  async () => {
    const { verdicts, failedClients } = await judgement();
    assertEquals([...verdicts.keys()].sort(), [...scenarios].sort());
    assertEquals(failedClients, refusals.length);
  },
);

interface Judgement {
  /** By scenario: `["passed"]`, or what was wrong. */
  readonly verdicts: ReadonlyMap<string, readonly string[]>;
  /** How many clients ended with an error. */
  readonly failedClients: number;
}

let running: Promise<Judgement> | undefined;

/** All scenarios at once, which takes as long as a few of them one by one. */
function judgement(): Promise<Judgement> {
  running ??= judge();
  return running;
}

async function judge(): Promise<Judgement> {
  const program = startCommand("sh", [
    "-c",
    'exec "$0" "$@" 2>&1', // errors between the lines that they belong to
    execPath,
    ...["run", "-A", "--quiet", runner, "client", "--suite", "all"],
    ...["--command", `${execPath} run -A --quiet --no-check ${client}`],
    ...["--timeout", "120000", "--verbose"],
  ]);
  const verdicts = new Map<string, string[]>();
  let failedClients = 0;
  let last: string[] = [];
  for (let line = await program.line(); line !== null;) {
    const verdict = /^([✓✗]) (\S+): (.*)$/.exec(line);
    if (verdict !== null) {
      const [, mark, scenario, counts] = verdict;
      last = [mark === "✓" ? "passed" : counts!];
      verdicts.set(scenario!, last);
    } else if (line.startsWith("    - ")) {
      last.push(line.trim());
    } else if (line.startsWith("Client exited with code")) {
      failedClients++;
    }
    line = await program.line();
  }
  await program.done.catch(() => {}); // the verdicts say more
  return { verdicts, failedClients };
}
