import { z } from "zod";
import {
  type Agent,
  AgentReentrancyError,
  type AgentStream,
  agentTool,
  type DefinedTool,
  defineTool,
  type Middleware,
  RuleBasedToolPolicy,
  ToolPolicyMiddleware,
  wrapAgent,
} from "../../mod.ts";
import { calls, ScriptedModel, text } from "../../src/testing/mod.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { deferred } from "../support/deferred.ts";
import { settle } from "../support/fake_time.ts";
import { test } from "../support/suite.ts";
import { agentWith, waitTool } from "./fixtures.ts";

const policy = { abortGraceMs: 0 };
const slowPaths = ["a schema", "a rule", "middleware"] as const;

/** An agent whose only call waits on a gate before its tool begins. */
function slowAgent(path: typeof slowPaths[number], graceMs: number) {
  const gate = deferred();
  const entered = deferred();
  const wait = async () => {
    entered.resolve();
    await gate.promise;
    return true;
  };
  let paid = 0;
  const tool = defineTool({
    name: "pay",
    // A schema of a library would look at the signal once more.
    parameters: path === "a schema"
      ? z.object({ to: z.string().refine(wait) })
      : { type: "object" },
    execute: () => paid++,
  });
  const around: Middleware = {
    async aroundTool(_context, next) {
      await wait();
      return await next();
    },
  };
  const rules = new RuleBasedToolPolicy([
    { ruleId: "all", action: "allow", when: wait },
  ]);
  const { agent } = agentWith([
    calls([{ name: "pay", arguments: { to: "me" } }]),
    text("done"),
  ], {
    tools: [tool],
    middleware: path === "a rule"
      ? [new ToolPolicyMiddleware(rules)]
      : path === "middleware"
      ? [around]
      : [],
    policy: { abortGraceMs: graceMs },
  });
  return { agent, gate, entered, paid: () => paid };
}

for (const path of slowPaths) {
  test(`no call begins after an abort because ${path} took its time`, async () => {
    for (const graceMs of [0, 10_000]) {
      const { agent, gate, entered, paid } = slowAgent(path, graceMs);
      const run = agent.run("pay me");
      await entered.promise;
      agent.abort("stop");
      if (graceMs === 0) await run;
      gate.resolve();
      assertEquals((await run).status, "cancelled");
      await settle();
      assertEquals(paid(), 0);
    }
  });
}

test("a tool that looks at its signal late finds it aborted", async () => {
  const gate = deferred();
  const seen = deferred<boolean>();
  const late = defineTool({
    name: "late",
    async execute(_args: Record<string, unknown>, context) {
      await gate.promise;
      seen.resolve(context.signal.aborted);
    },
  });
  const { agent } = agentWith([calls(["late"])], { tools: [late], policy });
  const run = agent.run("go");
  await settle();
  agent.abort("stop");
  assertEquals((await run).status, "cancelled");
  gate.resolve();
  assertEquals(await seen.promise, true);
});

test("an agent that is made too late for its run does nothing", async () => {
  const gate = deferred();
  const made = deferred();
  let effects = 0;
  const sub = agentTool(async () => {
    made.resolve();
    await gate.promise;
    const act = defineTool({ name: "act", execute: () => effects++ });
    return agentWith([calls(["act"]), text("done")], { tools: [act] }).agent;
  }, { name: "sub" });
  const { agent } = agentWith([
    calls([{ name: "sub", arguments: { task: "t" } }]),
  ], { tools: [sub], policy });
  const run = agent.run("go");
  await made.promise;
  agent.abort("stop");
  await run;
  gate.resolve();
  await settle();
  assertEquals(effects, 0);
});

test("a layer with a signal of its own cannot keep an abort away", async () => {
  const wait = waitTool();
  const { agent } = agentWith([calls(["wait"])], {
    tools: [wait.tool],
    middleware: [{
      async *aroundRun(request, next): AgentStream {
        const { signal } = new AbortController();
        return yield* next({ ...request, signal });
      },
    }],
  });
  const run = agent.run("go");
  await wait.entered;
  assertEquals(agent.abort("stop"), true);
  assertEquals((await run).status, "cancelled");
});

test("a layer that asks until it succeeds is given up, too", async () => {
  let rounds = 0;
  const { agent } = agentWith([], {
    model: new ScriptedModel(() => text("no")),
    middleware: [{
      async *aroundRun(request, next): AgentStream {
        for (;;) {
          rounds++;
          const result = yield* next(request);
          if (result.output === "yes") return result;
        }
      },
    }],
    policy,
  });
  const run = agent.run("go");
  await settle();
  agent.abort("stop");
  assertEquals((await run).status, "cancelled");
  const before = rounds;
  await settle();
  assert(rounds - before <= 1);
});

test("an agent that asks itself through another one is told so", async () => {
  const askWith = (other: () => Pick<Agent, "run">): DefinedTool =>
    defineTool({
      name: "ask",
      async execute(_args: Record<string, unknown>, { signal }) {
        try {
          return (await other().run("again", { signal })).output;
        } catch (error) {
          return error instanceof AgentReentrancyError ? "told" : "other";
        }
      },
    });
  const results = (agent: Agent) =>
    agent.messages.flatMap(({ role, content }) =>
      role === "tool" ? [content] : []
    );
  const make = (other: () => Pick<Agent, "run">) =>
    agentWith([calls(["ask"]), text("done")], { tools: [askWith(other)] })
      .agent;

  const one: Agent = make(() => two);
  const two: Agent = make(() => one);
  assertEquals((await one.run("go")).output, "done");
  assertEquals(results(two), ["told"]);

  const inner: Agent = make(() => wrapAgent(inner));
  assertEquals((await inner.run("go")).output, "done");
  assertEquals(results(inner), ["told"]);

  const middle: Agent = make(() => outer);
  const outer = wrapAgent(middle);
  assertEquals((await outer.run("go")).output, "done");
  assertEquals(results(middle), ["told"]);
});
