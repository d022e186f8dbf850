import {
  BaseHandler,
  behaviorStop,
  complete,
  type Middleware,
  proceed,
  RuleBasedToolPolicy,
  type RunScope,
  ToolPolicyMiddleware,
} from "../../mod.ts";
import { calls, text } from "../../src/testing/mod.ts";
import { assertEquals, assertRejects } from "../support/assert.ts";
import { deferred } from "../support/deferred.ts";
import { test } from "../support/suite.ts";
import {
  agentWith,
  contentsOf,
  echo,
  read,
  toolResultsOf,
} from "../agent/fixtures.ts";
import { provider, tracing } from "./fixtures.ts";

test(
  "a policy that denies keeps everything inside away",
  { case: "PL-D-12" },
  async () => {
    const log: string[] = [];
    const deny = new RuleBasedToolPolicy([], { defaultAction: "deny" });
    const { agent, sink } = agentWith([calls(["echo"])], {
      tools: [echo],
      middleware: [
        tracing("V", log, "t"),
        new ToolPolicyMiddleware(deny),
        tracing("A", log, "t"),
      ],
      contextProviders: [{
        sourceId: "p",
        beforeRun: (run) => run.extendMiddleware(tracing("pt", log, "t")),
      }],
    });
    const result = await agent.run("t");
    assertEquals(log.join(" "), "V>t V<t");
    assertEquals([result.status, result.stopReason], [
      "rejected",
      "tool_rejected",
    ]);
    assertEquals(
      sink.trace(),
      "AS TS1 MC tS(c1) tC(c1) TC1 AF(rejected/tool_rejected)",
    );
  },
);

test(
  "a tool layer that throws is an answer to the model",
  { case: "PL-D-13" },
  async () => {
    const { agent } = agentWith([calls(["echo"]), text("ok")], {
      tools: [echo],
      middleware: [{
        aroundTool: () => {
          throw new Error("mw");
        },
      }],
    });
    assertEquals((await agent.run("t")).output, "ok");
    assertEquals(toolResultsOf(agent.messages), [{
      status: "error",
      tool: "echo",
      error: "mw",
    }]);
  },
);

test("a tool layer may change the arguments", { case: "PL-D-14" }, async () => {
  const { agent, sink } = agentWith([
    calls([{ name: "echo", arguments: { text: "a" } }]),
    text("ok"),
  ], {
    tools: [echo],
    middleware: [{
      aroundTool: (context, next) =>
        next({ ...context, arguments: { text: "z" } }),
    }],
  });
  await agent.run("t");
  assertEquals(toolResultsOf(agent.messages), [{ e: { text: "z" } }]);
  assertEquals(
    sink.ofKind("tool_started")[0]?.toolCall.arguments,
    '{"text":"a"}',
  );
});

test("a tool layer may end the run itself", { case: "PL-D-15" }, async () => {
  let executed = 0;
  class Counting extends BaseHandler {
    readonly tools = [{ name: "echo" }];
    dispatch() {
      executed += 1;
      return proceed(null);
    }
  }
  const { agent } = agentWith([calls(["echo"])], {
    tools: [new Counting()],
    middleware: [{ aroundTool: () => complete("enough") }],
  });
  const result = await agent.run("t");
  assertEquals([result.stopReason, result.output, executed], [
    "tool_completion",
    "enough",
    0,
  ]);
});

test("calls that run side by side have scopes of their own", {
  case: "PL-D-16",
}, async () => {
  const log: string[] = [];
  const both = deferred();
  let entered = 0;
  const { agent } = agentWith([calls(["read", "read"]), text("ok")], {
    tools: [read],
    policy: { parallelToolCalls: true },
    middleware: [{
      aroundRun(request, next) {
        request.scope.set("run", "shared");
        return next();
      },
    }, {
      async aroundTool(context, next) {
        const { scope, toolCallId } = context;
        log.push(`>${toolCallId} ${scope.get("own")} ${scope.get("run")}`);
        scope.set("own", toolCallId);
        if (++entered === 2) both.resolve();
        await both.promise;
        const outcome = await next();
        log.push(`<${toolCallId} ${scope.get("own")}`);
        return outcome;
      },
    }],
  });
  await agent.run("t");
  assertEquals(log.slice(0, 2), [
    ">c1 undefined shared",
    ">c2 undefined shared",
  ]);
  assertEquals(log.slice(2).sort(), ["<c1 c1", "<c2 c2"]);
  const answered = agent.messages.flatMap((entry) =>
    entry.role === "tool" ? [entry.tool_call_id] : []
  );
  assertEquals(answered, ["c1", "c2"]);
});

test("a value of the run is seen in all its layers and in no other run", {
  case: "PL-D-17",
}, async () => {
  const seen: unknown[] = [];
  const look = (where: string, scope: RunScope) =>
    seen.push(`${where}:${scope.get("k")}`);
  let run = 0;
  const middleware: Middleware = {
    aroundRun(request, next) {
      if (++run === 1) request.scope.set("k", "v");
      return next();
    },
    aroundModel(request, next) {
      look("model", request.scope);
      return next();
    },
    aroundTool(context, next) {
      look("tool", context.scope);
      return next();
    },
  };
  const { agent } = agentWith([calls(["echo"]), text("1"), text("2")], {
    tools: [echo],
    middleware: [middleware],
    contextProviders: [{
      sourceId: "p",
      beforeRun: ({ scope }) => void look("before", scope),
      afterRun: ({ scope }) => void look("after", scope),
    }],
  });
  await agent.run("t");
  assertEquals(seen.join(" "), "before:v model:v tool:v model:v after:v");
  seen.length = 0;
  await agent.run("u");
  assertEquals(
    seen.join(" "),
    "before:undefined model:undefined after:undefined",
  );
});

test(
  "middleware lives as long as the agent is started",
  { case: "PL-D-18" },
  async () => {
    const log: string[] = [];
    const living = (name: string, fails = false): Middleware => ({
      ...tracing(name, log, ""),
      aroundTool: (_context, next) => next(),
      startup: () => {
        log.push(`${name}.start`);
        if (fails) throw new Error(`${name} is broken`);
      },
      shutdown: () => void log.push(`${name}.stop`),
      onTaskStart: () => void log.push(`${name}.task`),
    });
    const { agent } = agentWith([text("1"), text("2"), text("3")], {
      tools: [echo],
      middleware: [living("A"), living("B")],
    });
    for (const task of ["a", "b", "c"]) await agent.run(task);
    await agent.shutdown();
    assertEquals(
      log.join(" "),
      "A.start B.start A.task B.task A.task B.task A.task B.task B.stop A.stop",
    );
    log.length = 0;
    const broken = agentWith([], {
      tools: [echo],
      middleware: [living("A"), living("B", true)],
    });
    await assertRejects(() => broken.agent.run("t"), Error, "B is broken");
    assertEquals(log.join(" "), "A.start B.start A.stop");
  },
);

test("only middleware for tools alone sleeps without tools", {
  case: "PL-D-19",
}, async () => {
  const log: string[] = [];
  const noted = (name: string, layers: string): Middleware => ({
    ...tracing(name, [], layers),
    startup: () => void log.push(`${name}.start`),
    onTaskStart: () => void log.push(`${name}.task`),
  });
  const { agent } = agentWith([text("hi")], {
    middleware: [noted("tools", "t"), noted("both", "mt")],
  });
  await agent.run("t");
  assertEquals(log, ["both.start", "both.task"]);
});

test(
  "a stop by a hook flows out like any result",
  { case: "PL-D-20" },
  async () => {
    const log: string[] = [];
    const { agent } = agentWith([calls(["echo"])], {
      tools: [echo],
      behaviorHooks: [{ afterTurn: () => behaviorStop("enough") }],
      contextProviders: [
        provider("p", log, {
          after: (_run, { result }) => void log.push(result.stopReason),
        }),
      ],
      middleware: [{
        async *aroundRun(request, next) {
          const result = yield* next(request);
          log.push(`post ${result.stopReason}`);
          return result;
        },
      }],
    });
    await agent.run("t");
    assertEquals(log, [
      "p+",
      "p-:completed",
      "behavior_stop",
      "post behavior_stop",
    ]);
    assertEquals(agent.canContinue, true);
  },
);

test(
  "steering asks the providers no second time",
  { case: "PL-D-21" },
  async () => {
    const log: string[] = [];
    const { agent, model } = agentWith([calls(["echo"]), text("fin")], {
      tools: [echo],
      contextProviders: [provider("p", log)],
      onEvent: (event) => {
        if (event.kind === "tool_started") agent.steer("S");
      },
    });
    await agent.run("t");
    assertEquals(contentsOf(model.contexts[1]?.llmMessages ?? []).slice(-2), [
      '{"e":{}}',
      "S",
    ]);
    assertEquals(log, ["p+", "p-:completed"]);
  },
);
