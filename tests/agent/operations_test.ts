import {
  Agent,
  AgentBusyError,
  AgentCancelledError,
  AgentReentrancyError,
  BaseHandler,
  defineTool,
  proceed,
  type RunScope,
  UnknownToolError,
} from "../../mod.ts";
import {
  block,
  calls,
  ManualClock,
  ScriptedModel,
  text,
} from "../../src/testing/mod.ts";
import {
  assertEquals,
  assertRejects,
  assertStringIncludes,
  assertThrows,
} from "../support/assert.ts";
import { deferred } from "../support/deferred.ts";
import { test } from "../support/suite.ts";
import { agentWith, echo, read, toolResultsOf, waitTool } from "./fixtures.ts";

test(
  "one tool can be dispatched without a run",
  { case: ["X-021", "TL-43"] },
  async () => {
    let tasks = 0;
    class Counting extends BaseHandler {
      readonly tools = [{ name: "noted" }];
      override onTaskStart(): void {
        tasks += 1;
      }
      dispatch() {
        return proceed(null);
      }
    }
    const { agent, sink, model } = agentWith([], {
      tools: [read, echo, new Counting()],
    });
    const outcome = await agent.dispatch("echo", { text: "hi" });
    assertEquals([outcome.data, outcome.control], [
      { e: { text: "hi" } },
      "continue",
    ]);
    assertEquals([
      model.startupCount,
      sink.events.length,
      agent.messages.length,
      tasks,
    ], [1, 0, 2, 0]);
    const error = await assertRejects(
      () => agent.dispatch("missing", {}),
      UnknownToolError,
    );
    assertEquals(error.available, ["echo", "noted", "read"]);
    assertStringIncludes(error.message, '"missing"');
  },
);

test(
  "a dispatched tool is an operation like others",
  { case: "X-186" },
  async () => {
    const wait = waitTool();
    const { agent } = agentWith([], { tools: [wait.tool] });
    const dispatched = agent.dispatch("wait", {});
    await wait.entered;
    let idle = false;
    const idling = agent.waitForIdle().then(() => idle = true);
    assertEquals(idle, false);
    assertEquals(agent.abort("enough"), true);
    await assertRejects(() => dispatched, AgentCancelledError, "enough");
    await idling;
  },
);

test("an agent refuses to be its own tool", { case: "X-185" }, async () => {
  const inner = defineTool({
    name: "inner",
    execute: async (
      _args: Record<string, unknown>,
      { signal },
    ): Promise<string> => (await agent.run("inner", { signal })).output ?? "",
  });
  const { agent } = agentWith([calls(["inner"]), text("outer done")], {
    tools: [inner],
  });
  assertEquals((await agent.run("outer")).output, "outer done");
  assertStringIncludes(
    JSON.stringify(toolResultsOf(agent.messages)),
    "would wait for itself inside its own run; use followUp()",
  );
});

test(
  "a scope gives the agent away whose run it belongs to",
  { case: "X-185" },
  async () => {
    const scopes: RunScope[] = [];
    const { agent } = agentWith([calls(["echo"]), text("ok")], {
      tools: [echo],
      middleware: [{
        aroundTool(context, next) {
          scopes.push(context.scope);
          return next();
        },
      }],
    });
    await agent.run("go");
    const [scope] = scopes;
    await assertRejects(
      () => agent.run("inner", { scope: scope! }),
      AgentReentrancyError,
    );
    const other = new Agent({
      agentId: "b",
      model: new ScriptedModel([text("fine")]),
    });
    assertEquals((await other.run("inner", { scope: scope! })).output, "fine");
  },
);

test("what needs an idle agent says so", async () => {
  const gate = block();
  const { agent } = agentWith([gate]);
  const run = agent.run("go");
  await gate.entered;
  assertThrows(() => agent.reset(), AgentBusyError, "waitForIdle");
  assertThrows(() => agent.restoreProviderState({}), AgentBusyError);
  gate.release();
  await run;
  agent.reset();
});

test("a shutdown can abort what is active", async () => {
  const gate = block();
  const { agent } = agentWith([gate]);
  const run = agent.run("go");
  await gate.entered;
  await agent.shutdown({ abort: "closing time" });
  assertEquals((await run).error, "closing time");
  assertEquals(agent.lifecycle, "stopped");
});

test("the life cycle can be watched", { case: "X-188" }, async () => {
  const seen: string[] = [];
  const model = new ScriptedModel([text("1"), text("2")]);
  model.startup = () => void seen.push(agent.lifecycle);
  model.shutdown = () => void seen.push(agent.lifecycle);
  const { agent } = agentWith([], {
    model,
    onEvent: (event) => {
      if (event.kind === "turn_started") seen.push(agent.lifecycle);
    },
  });
  seen.push(agent.lifecycle);
  await agent.startup();
  seen.push(agent.lifecycle);
  await agent.run("go");
  seen.push(agent.lifecycle);
  await agent.shutdown();
  seen.push(agent.lifecycle);
  await agent.run("again");
  assertEquals(seen, [
    "new",
    "starting",
    "ready",
    "running",
    "ready",
    "stopping",
    "stopped",
    "starting",
    "running",
  ]);
});

test("runs happen one after the other in the order of the calls", async () => {
  const { agent, sink } = agentWith([text("1"), text("2"), text("3")]);
  const results = await Promise.all(
    ["a", "b", "c"].map((task) => agent.run(task)),
  );
  assertEquals(results.map((result) => result.output), ["1", "2", "3"]);
  assertEquals(sink.ofKind("agent_started").map((event) => event.task), [
    "a",
    "b",
    "c",
  ]);
});

test(
  "a tool that never settles is abandoned after the grace",
  { case: "B50" },
  async () => {
    const clock = new ManualClock();
    const entered = deferred();
    const stuck = defineTool({
      name: "stuck",
      execute: () => {
        entered.resolve();
        return new Promise<string>(() => {});
      },
    });
    const { agent, logger } = agentWith([calls(["stuck"])], {
      tools: [stuck],
      clock,
    });
    const run = agent.run("go");
    await entered.promise;
    agent.abort("enough");
    await clock.advanceAsync(20);
    const result = await run;
    assertEquals([result.status, result.error], ["cancelled", "enough"]);
    await agent.waitForIdle();
    await agent.shutdown();
    assertEquals(clock.pending, 0);
    assertEquals(logger.warnings.length, 1);
  },
);
