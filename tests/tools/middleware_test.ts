import { defineTool } from "../../src/tools/define_tool.ts";
import { standaloneContext } from "../../src/tools/execution_context.ts";
import {
  composeToolMiddlewares,
  type ToolCallContext,
  type ToolLayer,
} from "../../src/tools/middleware.ts";
import { complete, proceed, reject } from "../../src/tools/outcome.ts";
import { RuleBasedToolPolicy } from "../../src/tools/policy.ts";
import { ToolPolicyMiddleware } from "../../src/tools/policy_middleware.ts";
import {
  assert,
  assertEquals,
  assertRejects,
  assertStrictEquals,
} from "../support/assert.ts";
import { test } from "../support/suite.ts";
import { call, openCancellation, settle, started } from "./tool_kit.ts";

function tracing(name: string, trace: string[]): ToolLayer {
  return {
    name,
    async aroundTool(_context, next) {
      trace.push(`${name}:before`);
      try {
        return await next();
      } finally {
        trace.push(`${name}:after`);
      }
    },
  };
}

function dispatchOf(
  tools: Parameters<typeof started>[0],
  layers: readonly ToolLayer[],
) {
  return async (toolName: string, args: Record<string, unknown> = {}) => {
    const runtime = await started(tools, { layers });
    const { agent, state, scope } = standaloneContext("", {});
    return await runtime.dispatch({
      toolName,
      arguments: args,
      cancellation: openCancellation(),
      agent,
      state,
      scope,
    });
  };
}

test("the first middleware is the outermost", { case: "TL-91" }, async () => {
  const trace: string[] = [];
  const chain = composeToolMiddlewares(
    [tracing("first", trace), {}, tracing("second", trace)],
    () => proceed(void trace.push("tool")),
  );
  await chain(standaloneContext("t", {}));
  assertEquals(trace, [
    "first:before",
    "second:before",
    "tool",
    "second:after",
    "first:after",
  ]);
});

test("without middleware the tool is called at once", async () => {
  const chain = composeToolMiddlewares(
    [],
    ({ arguments: { n } }) => proceed(n),
  );
  assertEquals(await chain(standaloneContext("t", { n: 1 })), proceed(1));
});

test("a middleware that answers keeps the call from what is inside", {
  case: "TL-92",
}, async () => {
  const trace: string[] = [];
  const blocking: ToolLayer = {
    aroundTool: () => reject({ status: "blocked" }),
  };
  const tool = defineTool({ name: "t", execute: () => trace.push("tool") });
  const dispatch = dispatchOf([tool], [
    tracing("observer", trace),
    blocking,
    tracing("inner", trace),
  ]);
  assertEquals(await dispatch("t"), reject({ status: "blocked" }));
  assertEquals(trace, ["observer:before", "observer:after"]);
});

test("a failure passes every middleware on its way out", {
  case: "TL-93",
}, async () => {
  const trace: string[] = [];
  const failure = new Error("broken");
  const tool = defineTool({
    name: "t",
    execute: () => {
      throw failure;
    },
  });
  const dispatch = dispatchOf([tool], [tracing("outer", trace)]);
  assertStrictEquals(await assertRejects(() => dispatch("t")), failure);
  assertEquals(trace, ["outer:before", "outer:after"]);
});

test("a middleware that throws at once fails the call like any other", async () => {
  const throwing: ToolLayer = {
    aroundTool() {
      throw new Error("at once");
    },
  };
  const dispatch = dispatchOf([], [throwing]);
  await assertRejects(() => dispatch("t"), Error, "at once");
});

test("every next runs everything inside again", { case: "TL-94" }, async () => {
  let calls = 0;
  const tool = defineTool({ name: "t", execute: () => ++calls });
  const twice: ToolLayer = {
    async aroundTool(_context, next) {
      const first = await next();
      const second = await next();
      return proceed([first.control, second.control]);
    },
  };
  const policy = new RuleBasedToolPolicy([
    { ruleId: "once", action: "allow", maxCallsPerRun: 1 },
  ]);
  const dispatch = dispatchOf([tool], [
    twice,
    new ToolPolicyMiddleware(policy),
  ]);
  assertEquals((await dispatch("t")).data, ["continue", "reject"]);
  assertEquals(calls, 1);
});

test("a changed context is what the inside sees", async () => {
  const doubling: ToolLayer = {
    aroundTool: (context, next) =>
      next({ ...context, arguments: { n: Number(context.arguments.n) * 2 } }),
  };
  const tool = defineTool({ name: "t", execute: ({ n }) => n });
  const dispatch = dispatchOf([tool], [doubling, doubling]);
  assertEquals((await dispatch("t", { n: 1 })).data, 4);
});

test("another name sends the call to that tool, with its definition", async () => {
  const seen: (string | undefined)[] = [];
  const rerouting: ToolLayer = {
    aroundTool: (context, next) => next({ ...context, toolName: "new" }),
  };
  const looking: ToolLayer = {
    aroundTool: (context, next) => {
      seen.push(context.toolName, context.toolDefinition?.name);
      return next();
    },
  };
  const tools = ["old", "new"].map((name) =>
    defineTool({ name, execute: () => name })
  );
  const runtime = await started(tools, { layers: [rerouting, looking] });
  const { contents } = await settle(runtime, [call("1", "old")]);
  assertEquals(seen, ["new", "new"]);
  assertEquals(contents["1"], "new");
});

test("what is no outcome is a failure", { case: "TL-33" }, async () => {
  const careless = { aroundTool: () => ({ x: 1 }) } as unknown as ToolLayer;
  const tool = defineTool({ name: "a", execute: () => 1 });
  const runtime = await started([tool], { layers: [careless] });
  const { outcome, contents } = await settle(runtime, [call("1", "a")]);
  assertEquals(
    contents["1"],
    '{"status":"error","tool":"a","error":"tool \\"a\\" did not produce a StepOutcome"}',
  );
  assertEquals(outcome, { kind: "continue" });
});

test(
  "a context tells everything about the call",
  { case: "TL-50" },
  async () => {
    const contexts: ToolCallContext[] = [];
    const recording: ToolLayer = {
      aroundTool(context, next) {
        contexts.push(context);
        return next();
      },
    };
    const tool = defineTool({ name: "t", execute: () => 1 });
    const runtime = await started([tool], { layers: [recording] });
    const { agent, state, scope } = standaloneContext("", {});
    scope.set("tenant", "a");
    await settle(runtime, [call("call-1", "t", { n: 1 })], {
      state,
      agent,
      scope,
      turn: 4,
    });
    await runtime.dispatch({
      toolName: "t",
      arguments: {},
      cancellation: openCancellation(),
      agent,
      state,
      scope,
    });
    const [byModel, direct] = contexts as [ToolCallContext, ToolCallContext];
    assertEquals(byModel.toolCallId, "call-1");
    assertEquals(byModel.arguments, { n: 1 });
    assertEquals([byModel.runId, byModel.turn], ["run-1", 4]);
    assertStrictEquals(byModel.state, state);
    assertStrictEquals(byModel.agent, agent);
    assert(byModel.signal instanceof AbortSignal);
    assertEquals(byModel.toolDefinition?.name, "t");
    assertEquals(byModel.scope.get("tenant"), "a");
    assert(byModel.scope !== scope, "each call writes into a fork");
    assertEquals(direct.toolCallId, undefined);
    assertEquals(direct.progress, undefined);
    assertEquals([direct.runId, direct.turn], ["", 0]);
  },
);

test("middleware may end the run", async () => {
  const ending: ToolLayer = { aroundTool: () => complete("enough") };
  const runtime = await started([], { layers: [ending] });
  const { outcome } = await settle(runtime, [call("1", "unknown")]);
  assertEquals(outcome.kind, "terminal");
});
