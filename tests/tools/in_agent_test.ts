import {
  Agent,
  AgentCancelledError,
  AgentConfigurationError,
  complete,
  createRuntimePolicy,
  defineTool,
  MethodToolHandler,
  RuleBasedToolPolicy,
  ToolDefinitionError,
  ToolPolicyMiddleware,
} from "../../mod.ts";
import { calls, ScriptedModel, text } from "../../src/testing/mod.ts";
import { MemorySessionStorage } from "../../src/session/memory.ts";
import { SessionRecorder } from "../../src/session/recorder.ts";
import {
  agentWith,
  echo,
  shapeOf,
  toolResultsOf,
  waitTool,
} from "../agent/fixtures.ts";
import {
  assert,
  assertEquals,
  assertRejects,
  assertStringIncludes,
  assertThrows,
} from "../support/assert.ts";
import { deferred } from "../support/deferred.ts";
import { test } from "../support/suite.ts";

/** Read-only tools that meet: none of them goes on before all are entered. */
function meeting(
  names: readonly string[],
  answers: Record<string, unknown> = {},
) {
  const met = deferred();
  let entered = 0;
  return names.map((name) =>
    defineTool({
      name,
      effect: "read_only",
      execute: async (_args, { progress }) => {
        await progress.report(`${name} entered`);
        if (++entered === names.length) met.resolve();
        await met.promise;
        const answer = answers[name] ?? name;
        if (answer instanceof Error) throw answer;
        return answer;
      },
    })
  );
}

test("the tool protocol stands in the history if tools are configured", {
  case: "TL-171",
}, () => {
  const systemOf = (agent: Agent) => {
    assert(agent.messages.every(({ role }) => role === "system"));
    return agent.messages.map(({ content }) => content);
  };
  const bare = systemOf(agentWith([]).agent);
  assertEquals(bare, ["P"]);

  const { agent } = agentWith([], { tools: [echo] });
  const prefix = systemOf(agent);
  assertEquals(prefix[0], "P");
  assertEquals(prefix.length, 2);
  const empty = agentWith([], { tools: [new MethodToolHandler([])] });
  assertEquals(systemOf(empty.agent), prefix, "configured counts, not offered");

  agent.reset([{ role: "user", content: "earlier" }]);
  assertEquals(agent.messages.map(({ content }) => content), [
    ...prefix,
    "earlier",
  ]);
});

test("a tool without its method fails the start-up of the agent", {
  case: "TL-22",
}, async () => {
  const { agent } = agentWith([], {
    tools: [new MethodToolHandler([{ name: "my-tool" }])],
  });
  await assertRejects(
    () => agent.startup(),
    ToolDefinitionError,
    'tool "my-tool" has no method (looked for do_my-tool, doMyTool)',
  );
});

test(
  "the start-up of an agent names its tools once, and calls are not logged",
  {
    case: "TL-173",
  },
  async () => {
    const lines: string[] = [];
    const agent = new Agent({
      agentId: "a",
      model: new ScriptedModel([calls(["echo"]), calls(["done"])]),
      tools: [
        echo,
        defineTool({ name: "done", execute: () => complete("ok") }),
      ],
      logger: {
        warn: (message) => void lines.push(`warn ${message}`),
        info: (message, details) =>
          void lines.push(`info ${message}: ${details?.tools}`),
      },
    });
    await agent.startup();
    assertEquals(lines, ["info Tools are ready: done, echo"]);
    await agent.run("Go");
    assertEquals(lines.length, 1);
    await agent.shutdown();
  },
);

test("a cancellation error of a tool's own does not cancel the run", {
  case: "TL-66",
}, async () => {
  const leaking = defineTool({
    name: "a",
    execute: () => {
      throw new AgentCancelledError("handler said stop");
    },
  });
  const { agent, sink } = agentWith([calls(["a", "echo"]), text("done")], {
    tools: [leaking, echo],
  });
  const result = await agent.run("Go");
  assertEquals(result.stopReason, "text_response");
  assertEquals(
    sink.trace(),
    "AS TS1 MC tS(c1) tC(c1,error) tS(c2) tC(c2) TC1 TS2 MC TC2 AF(completed/text_response)",
  );
});

test("a denied call ends the run as rejected", { case: "TL-97" }, async () => {
  const { agent } = agentWith([calls(["echo"])], {
    tools: [echo],
    middleware: [new ToolPolicyMiddleware(new RuleBasedToolPolicy([]))],
  });
  const { status, stopReason, output } = await agent.run("Go");
  assertEquals([status, stopReason], ["rejected", "tool_rejected"]);
  assertEquals(
    output,
    '{"status":"rejected","tool":"echo","reason":"denied by tool policy"}',
  );
});

test("bare functions are no middleware", { case: "TL-96" }, () => {
  assertThrows(
    () =>
      agentWith([], {
        middleware: [(() => complete(1)) as never],
      }),
    AgentConfigurationError,
    "middleware",
  );
});

test("switches and limits of parallel calls are checked", {
  case: ["TL-89", "TL-58"],
}, () => {
  const refused = (policy: unknown, type: typeof TypeError) =>
    assertThrows(() => createRuntimePolicy(policy as never), type);
  refused({ parallelToolCalls: "yes" }, TypeError);
  refused({ maxParallelToolCalls: 0 }, RangeError);
  refused({ maxParallelToolCalls: true }, TypeError);
  refused({ maxParallelToolCalls: 1.5 }, TypeError);
  refused({ maxRepeatedToolCalls: 1 }, RangeError);
  refused({ maxRepeatedToolCalls: 2.5 }, TypeError);
  assertEquals(
    createRuntimePolicy({ maxRepeatedToolCalls: Infinity })
      .maxRepeatedToolCalls,
    Infinity,
  );
});

test("progress is neither kept nor sent", { case: "TL-75" }, async () => {
  const storage = new MemorySessionStorage();
  const scan = defineTool({
    name: "scan",
    execute: async (_args, { progress }) => {
      await progress.report("halfway there", { done: 1 });
      return "scanned";
    },
  });
  const model = new ScriptedModel([calls(["scan"]), text("done")]);
  const agent = new Agent({
    agentId: "a",
    model,
    tools: [scan],
    eventSink: new SessionRecorder({ storage, sessionId: "s" }),
  });
  await agent.run("Go");
  const session = await storage.load("s");
  assertEquals(session?.messages.map(({ role }) => role), [
    "user",
    "assistant",
    "tool",
    "assistant",
  ]);
  const everything = JSON.stringify([
    session,
    agent.messages,
    model.contexts.map(({ llmMessages }) => llmMessages),
  ]);
  assertStringIncludes(everything, "scanned");
  assert(!everything.includes("halfway"));
});

test("a sink that fails on progress does not reach the tool", {
  case: "TL-76",
}, async () => {
  const scan = defineTool({
    name: "scan",
    execute: async (_args, { progress }) => {
      await progress.report("halfway there");
      return "scanned";
    },
  });
  const { agent, logger } = agentWith([calls(["scan"]), text("done")], {
    tools: [scan],
    onEvent: ({ kind }) => {
      if (kind === "tool_progressed") throw new Error("sink is broken");
    },
  });
  const result = await agent.run("Go");
  assertEquals(result.status, "completed");
  assertEquals(agent.messages.at(-2)?.content, "scanned");
  assertEquals(logger.warnings.length, 1);
});

test("reads of an agent run side by side and are announced in order", {
  case: ["X-056", "TL-78", "TL-87"],
}, async () => {
  const { agent, sink } = agentWith(
    [calls(["slow", "fast"]), text("done")],
    {
      tools: meeting(["slow", "fast"]),
      policy: { parallelToolCalls: true },
    },
  );
  await agent.run("Go");
  assertEquals(
    sink.trace(),
    "AS TS1 MC tS(c1) tS(c2) tP(c1) tP(c2) tC(c1) tC(c2) TC1 TS2 MC TC2 AF(completed/text_response)",
  );
  assertEquals(shapeOf(agent.messages), "u a+ t(c1) t(c2) a");
});

test("one failing read of three costs neither its peers nor the run", {
  case: ["X-060", "B57"],
}, async () => {
  const names = ["one", "two", "three"];
  const { agent, sink } = agentWith([calls(names), text("done")], {
    tools: meeting(names, { two: new Error("failed two") }),
    policy: { parallelToolCalls: true },
  });
  const result = await agent.run("Go");
  assertEquals(result.status, "completed");
  assertEquals(
    agent.messages.filter(({ role }) => role === "tool")
      .map(({ content }) => content),
    ["one", '{"status":"error","tool":"two","error":"failed two"}', "three"],
  );
  const settled = sink.kinds.lastIndexOf("tool_completed");
  assert(settled < sink.kinds.indexOf("turn_completed"));
});

test(
  "the first terminal read in source order ends the run, the rest is answered",
  {
    case: "X-061",
  },
  async () => {
    const late = defineTool({
      name: "late",
      effect: "read_only",
      execute: () => "must not run",
    });
    const { agent, sink } = agentWith(
      [calls(["finish", "peer", "late", "echo"])],
      {
        tools: [
          ...meeting(["finish", "peer"], { finish: complete("mine") }),
          late,
          echo,
        ],
        policy: { parallelToolCalls: true, maxParallelToolCalls: 2 },
      },
    );
    const { stopReason, output } = await agent.run("Go");
    assertEquals([stopReason, output], ["tool_completion", "mine"]);
    assertStringIncludes(
      sink.trace(),
      "tC(c1) tC(c2) tS(c3) tC(c3,cancelled) tS(c4) tC(c4,cancelled) TC1",
    );
    assert(agent.canContinue);
  },
);

test("an abort of reads side by side answers every call", {
  case: ["X-062", "TL-85"],
}, async () => {
  const one = waitTool("one");
  const reading = defineTool({
    name: "two",
    effect: "read_only",
    execute: (_args, { signal }) =>
      new Promise((_resolve, reject) =>
        signal.addEventListener("abort", () => reject(signal.reason))
      ),
  });
  const { agent, sink } = agentWith([calls(["two", "two", "one"])], {
    tools: [reading, one.tool],
    policy: { parallelToolCalls: true },
    onEvent: (event) => {
      if (event.kind === "tool_started" && event.toolCall.id === "c2") {
        setTimeout(() => agent.abort("stop parallel calls"), 0);
      }
    },
  });
  const result = await agent.run("Go");
  assertEquals([result.stopReason, result.error], [
    "external_abort",
    "stop parallel calls",
  ]);
  assertStringIncludes(
    sink.trace(),
    "tS(c1) tS(c2) tC(c1,cancelled) tC(c2,cancelled) tS(c3) tC(c3,cancelled)",
  );
  assertEquals(one.callCount, 0);
  assertEquals(
    toolResultsOf(agent.messages).map((entry) =>
      (entry as { error: string }).error
    ),
    Array(3).fill("stop parallel calls"),
  );
});
