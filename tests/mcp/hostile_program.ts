/**
 * Lets an agent use a server that misbehaves; fails unless the run goes on and nothing of
 * the server is left. Ends only when nothing holds it any longer.
 *
 * The tests run it as a program of its own: the timers that the SDK leaves behind when a
 * connection ends do not hold a program back, but would count as leaks of a test.
 */
import { argv, kill } from "node:process";
import { stdioTransport } from "../../adapters/node/mcp_stdio.ts";
import { defineTool } from "../../mod.ts";
import {
  convertMcpResult,
  McpToolHandler,
  type McpToolHandlerOptions,
  type McpTransport,
} from "../../src/mcp/mod.ts";
import { calls, text } from "../../src/testing/mod.ts";
import { agentWith, type FixtureOptions } from "../agent/fixtures.ts";
import { assert, assertEquals, assertMatch } from "../support/assert.ts";
import { childProgram } from "../support/child_program.ts";
import { deferred } from "../support/deferred.ts";

const scenarios: Readonly<Record<string, () => Promise<void>>> = {
  die: () => failOnce("die", lost("exited with code 1")),

  die_in_a_word: () => failOnce("die_in_a_word", lost("exited with code 1")),

  // It is ended by the client, in whatever time and way that takes.
  never_end_a_line: () => failOnce("never_end_a_line", lost()),

  never_answer: () =>
    failOnce(
      "never_answer",
      /^MCP request timed out: bad did not answer never_answer within 2000 ms \(timeoutMs\)$/,
      { timeoutMs: 2000 },
    ),

  async unlicensed() {
    const { handler } = hostile("unlicensed");
    await handler.startup();
    const { status, error = "" } = handler.serverStatus("bad")!;
    assertEquals(status, "failed");
    assertMatch(
      error,
      /^MCP server bad ended: \S+ exited with code 3; it wrote: License missing$/,
    );
    assertEquals(handler.diagnostics.map(({ message }) => message), [error]);
    await handler.shutdown();
  },

  async last_words() {
    const { handler } = hostile();
    await handler.startup();
    await handler.dispatch("bad__leave_a_word", {}).catch(() => {});
    await until(() => handler.serverStatus("bad")?.error !== undefined);
    const { status, error = "" } = handler.serverStatus("bad")!;
    assertEquals(status, "closed");
    assertMatch(error, / exited with code 1; it wrote: x{1900,2044}\nbye$/);
    await handler.shutdown();
    assertEquals(handler.serverStatus("bad"), { status: "closed" });
  },

  async not_there() {
    const { command } = childProgram("tests/mcp/hostile_server_program.ts");
    const handler = new McpToolHandler({
      servers: {
        lost: { command: "ejagent-no-such-program", args: ["--key=sesame"] },
        homeless: { command, cwd: "/no/such/folder" },
      },
      stdio: stdioTransport,
      logger: { warn() {} },
    });
    await handler.startup();
    assertEquals(handler.diagnostics.map(({ message }) => message), [
      "MCP server lost could not be started: there is no program ejagent-no-such-program",
      "MCP server homeless could not be started: its cwd /no/such/folder is no directory",
    ]);
    await handler.shutdown();
    const { handler: present } = hostile();
    await present.startup();
    await present.shutdown();
  },

  async shut_down() {
    const { handler, started } = hostile("deaf", { connectTimeoutMs: 60_000 });
    const { agent } = agentWith([text("never")], { tools: [handler] });
    const run = agent.run("Go", { signal: AbortSignal.timeout(500) });
    await started;
    assertEquals((await run).status, "cancelled");
    await agent.shutdown();
    await untilGone(startedIds);
    assertEquals(handler.serverStatus("bad"), { status: "closed" });
    assertEquals(handler.diagnostics, []);
  },

  async answer_twice() {
    const { handler, logs } = hostile();
    const { answers } = await runOver(handler, ["answer_twice", "echo"]);
    assertEquals(answers, ["first", "echo"]);
    // The log must not be flooded by what nobody asked for either.
    assert(logs.every((line) => line.length < 300));
    assert(logs.some((line) => /unknown message ID/.test(line)));
  },

  async talk_garbage() {
    const { handler } = hostile("garbage");
    const { answers } = await runOver(handler, ["talk_garbage", "echo"]);
    assertEquals(answers, ["after garbage", "echo"]);
  },

  async flood() {
    const answered = deferred();
    const { handler } = hostile("well", {
      convertResult: (result, options) => {
        answered.resolve();
        return convertMcpResult(result, options);
      },
    });
    let seenCount = 0;
    const { answers } = await runOver(handler, ["flood", "echo"], {
      // Takes nothing in before the flood is over.
      onEvent: async ({ kind }) => {
        if (kind !== "tool_progressed") return;
        seenCount += 1;
        await answered.promise;
      },
    });
    assertEquals(answers, ["flooded", "echo"]);
    assert(seenCount <= 65, `${seenCount} reports were kept`);
  },

  async flood_errors() {
    const { handler, logs } = hostile();
    const { answers } = await runOver(handler, ["flood_errors", "echo"]);
    assertEquals(answers, ["flooded", "echo"]);
    assert(logs.every((line) => line.length < 9000));
  },

  async deaf() {
    const { handler } = hostile("deaf", { connectTimeoutMs: 200 });
    const beside = hostile().handler;
    const { answers } = await runOver(beside, ["echo"], { tools: [handler] });
    assertEquals(answers, ["echo"]);
    assertEquals(
      handler.diagnostics.map(({ kind, message }) => [kind, message]),
      [[
        "server_failed",
        "MCP server bad did not connect within 200 ms (connectTimeoutMs)",
      ]],
    );
  },

  async change() {
    const changed = deferred();
    const { handler } = hostile("well", {
      onToolsChanged: (_, { changed: names }) => {
        if (names.includes("bad__echo")) changed.resolve();
      },
    });
    const wait = defineTool({ name: "wait", execute: () => changed.promise });
    const { model } = await runOver(handler, ["change", "wait", "echo"], {
      tools: [wait],
    });
    assertEquals(
      model.contexts.map(({ tools }) =>
        tools?.find(({ function: { name } }) => name === "bad__echo")
          ?.function.parameters?.properties
      ),
      [{}, {}, { value: { type: "number" } }, { value: { type: "number" } }],
    );
  },

  async many() {
    const { handler } = hostile("many");
    await handler.startup();
    const names = handler.toolNames;
    assertEquals(names.length, 2000);
    assertEquals(new Set(names).size, 2000);
    assert(names.every((name) => /^[\w-]{1,64}$/.test(name)));
    const answers = await Promise.all(
      handler.mcpTools.map(async ({ name, toolName }) =>
        (await handler.dispatch(name, {})).data === toolName
      ),
    );
    assert(answers.every((isRight) => isRight));
    await handler.shutdown();

    const { answers: inRun } = await runOver(handler, ["tool_1999", "tool_1"]);
    assertEquals(inRun, ["tool_1999", "tool_1"]);
    await handler.startup();
    assertEquals(handler.toolNames, names);
    await handler.shutdown();
  },
};

const startedIds: number[] = [];

await scenarios[argv.at(-1)!]!();
await untilGone(startedIds);

/** What the model reads of a connection that was lost in a call. */
function lost(ending = ".*"): RegExp {
  return new RegExp(
    "^MCP server bad closed the connection" +
      `( \\(its program ${ending}\\))?; the call may have been carried out$`,
  );
}

/** A tool that brings its server down, whose next call finds it up again. */
async function failOnce(
  tool: string,
  error: RegExp,
  options: Partial<McpToolHandlerOptions> = {},
): Promise<void> {
  const { handler } = hostile("well", options);
  const { answers } = await runOver(handler, [tool, "echo"]);
  const [failure, ...rest] = answers;
  assertMatch(JSON.parse(String(failure)).error, error);
  assertEquals(rest, ["echo"]);
}

/** A handler over the hostile server, under the name "bad". */
function hostile(
  mode = "well",
  options: Partial<McpToolHandlerOptions> = {},
) {
  const logs: string[] = [];
  const started = deferred();
  const { command, args } = childProgram(
    "tests/mcp/hostile_server_program.ts",
    mode,
  );
  const handler = new McpToolHandler({
    servers: { bad: { command, args: [...args] } },
    stdio: (request) => {
      const transport: McpTransport & { pid?: number } = stdioTransport(
        request,
      );
      const { start } = transport;
      transport.start = async () => {
        await start.call(transport);
        startedIds.push(transport.pid!);
        started.resolve();
      };
      return transport;
    },
    logger: {
      warn() {},
      info: (_, details) =>
        void logs.push(String(details?.error ?? details?.line)),
    },
    ...options,
  });
  return { handler, logs, started: started.promise };
}

/** A run that calls one tool a turn; gives back what the model was told. */
async function runOver(
  handler: McpToolHandler,
  tools: readonly string[],
  options: FixtureOptions = {},
) {
  const { agent, model } = agentWith([
    ...tools.map((tool) => calls([tool === "wait" ? tool : `bad__${tool}`])),
    text("done"),
  ], { ...options, tools: [handler, ...options.tools ?? []] });
  const { status, output } = await agent.run("Go");
  assertEquals([status, output], ["completed", "done"]);
  await agent.shutdown();
  assertEquals(handler.serverStatus("bad"), { status: "closed" });
  assertEquals(handler.toolNames, []);
  const answers = agent.state.messages
    .filter(({ role }) => role === "tool").map(({ content }) => content);
  return { answers, model };
}

/** A process that was killed may take a moment to end. */
async function untilGone(processIds: readonly number[]): Promise<void> {
  assert(processIds.length > 0);
  await until(() => !processIds.some(isAlive));
}

async function until(holds: () => boolean): Promise<void> {
  for (let attempt = 0; attempt < 1000; attempt++) {
    if (holds()) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error("It is still not so");
}

function isAlive(processId: number): boolean {
  try {
    return kill(processId, 0);
  } catch {
    return false;
  }
}
