import { type Attributes, SpanKind, SpanStatusCode } from "@opentelemetry/api";
import {
  Agent,
  type AgentOptions,
  agentTool,
  CompactionPolicy,
  ContextBudget,
  ContextOverflowError,
  defineTool,
  type Middleware,
  ModelRateLimitError,
  RuleBasedToolPolicy,
  runResult,
  ToolPolicyMiddleware,
} from "../../mod.ts";
import {
  block,
  calls,
  deltas,
  fail,
  ManualClock,
  ScriptedModel,
  type ScriptStep,
  silentLogger,
  text,
} from "../../src/testing/mod.ts";
import { telemetry } from "../../src/telemetry/mod.ts";
import { boom, echo, waitTool } from "../agent/fixtures.ts";
import {
  assert,
  assertEquals,
  assertRejects,
  assertStrictEquals,
  assertThrows,
} from "../support/assert.ts";
import { deferred } from "../support/deferred.ts";
import { test } from "../support/suite.ts";
import { type Recorder, recorder } from "./recorder.ts";

const echoCall = calls([{ name: "echo", arguments: { text: "a" } }]);

/** An agent "a" over the model gpt-x. */
function agentOf(
  script: readonly ScriptStep[],
  options: Partial<AgentOptions> = {},
): Agent {
  return new Agent({
    agentId: "a",
    systemPrompt: "S",
    tools: [echo, boom],
    logger: silentLogger,
    runtimePolicy: { abortGraceMs: 0 },
    ...options,
    model: new ScriptedModel(script, {
      target: {
        provider: "openai",
        model: "gpt-x",
        baseUrl: "https://models.example/v1",
      },
    }),
  });
}

/** Runs work with a recorder; afterwards every span has ended exactly once. */
async function recording(
  work: (recorder: Recorder) => Promise<void>,
  options: Parameters<typeof recorder>[0] = {},
): Promise<void> {
  const one = recorder(options);
  try {
    await work(one);
    assertEquals(one.counts.ends, one.counts.started);
    assertEquals(one.spans().length, one.counts.started);
    assertEquals(one.logger.warnings, []);
  } finally {
    await one.shutdown();
  }
}

test("without a provider a run is what it is without telemetry", {
  case: "PL-E-01",
}, async () => {
  const script = [echoCall, text("done")];
  const bare = await agentOf(script).run("t");
  const traced = await agentOf(script, { middleware: [telemetry()] }).run("t");
  assertEquals({ ...traced, runId: "" }, { ...bare, runId: "" });
});

test("options that are none are refused, null counts as left out", () => {
  assertEquals(telemetry(null as never).name, "telemetry");
  assertThrows(
    () => telemetry("on" as never),
    TypeError,
    "The options of telemetry() must be an object",
  );
});

test("a run is the parent of its model requests and tool calls", {
  case: ["PL-E-02", "PL-E-03"],
}, () =>
  recording(async (recorder) => {
    const agent = agentOf([echoCall, text("done")], {
      middleware: [recorder.middleware],
    });
    await agent.run("t");
    assertEquals(
      recorder.tree(),
      [
        "invoke_agent a",
        "  chat gpt-x",
        "  execute_tool echo",
        "  chat gpt-x",
      ].join("\n"),
    );
    assertEquals(
      recorder.spans().map(({ kind }) => kind),
      [
        SpanKind.INTERNAL,
        SpanKind.CLIENT,
        SpanKind.INTERNAL,
        SpanKind.CLIENT,
      ],
    );
    assertEquals(recorder.startAttributes("invoke_agent a"), {
      "gen_ai.operation.name": "invoke_agent",
      "gen_ai.provider.name": "openai",
      "gen_ai.agent.name": "a",
      "gen_ai.agent.id": "a",
      "gen_ai.request.model": "gpt-x",
    });
    assertEquals(recorder.startAttributes("chat gpt-x"), {
      "gen_ai.operation.name": "chat",
      "gen_ai.provider.name": "openai",
      "gen_ai.request.model": "gpt-x",
      "gen_ai.request.stream": true,
      "server.address": "models.example",
      "server.port": 443,
    });
    assertEquals(recorder.startAttributes("execute_tool echo"), {
      "gen_ai.operation.name": "execute_tool",
      "gen_ai.tool.name": "echo",
      "gen_ai.tool.type": "function",
      "gen_ai.tool.call.id": "c1",
    });
  }));

test("options of the request and of the program are written into the spans", () =>
  recording(async (recorder) => {
    const agent = agentOf([text("done")], {
      name: "Guide",
      description: "Shows the way",
      middleware: [recorder.middleware],
    });
    await agent.run("t", {
      modelOptions: {
        temperature: 0.5,
        top_p: 1,
        max_tokens: 100,
        n: 1,
        stop: ["end"],
        response_format: { type: "json_object" },
        unknown: "kept out",
      },
    });
    const own = { "deployment.environment": "test" };
    assertEquals(recorder.startAttributes("invoke_agent Guide"), {
      ...own,
      "gen_ai.operation.name": "invoke_agent",
      "gen_ai.provider.name": "openai",
      "gen_ai.agent.name": "Guide",
      "gen_ai.agent.id": "a",
      "gen_ai.agent.description": "Shows the way",
      "gen_ai.request.model": "gpt-x",
    });
    assertEquals(recorder.startAttributes("chat gpt-x"), {
      ...own,
      "gen_ai.operation.name": "chat",
      "gen_ai.provider.name": "openai",
      "gen_ai.request.model": "gpt-x",
      "gen_ai.request.stream": true,
      "gen_ai.request.temperature": 0.5,
      "gen_ai.request.top_p": 1,
      "gen_ai.request.max_tokens": 100,
      "gen_ai.request.stop_sequences": ["end"],
      "gen_ai.output.type": "json",
      "server.address": "models.example",
      "server.port": 443,
    });
  }, { attributes: { "deployment.environment": "test" } }));

test("usage is written as far as it was reported", {
  case: ["PL-E-05", "PL-E-06"],
}, async () => {
  const usage = { inputTokens: 10, outputTokens: 4, cacheReadTokens: 2 };
  await recording(async (recorder) => {
    const agent = agentOf([text("x", { usage })], {
      middleware: [recorder.middleware],
    });
    await agent.run("t");
    const expected = {
      "gen_ai.usage.input_tokens": 10,
      "gen_ai.usage.output_tokens": 4,
      "gen_ai.usage.cache_read.input_tokens": 2,
    };
    assertEquals(usageOf(recorder.span("chat gpt-x").attributes), expected);
    const run = recorder.span("invoke_agent a").attributes;
    assertEquals(usageOf(run), expected);
    assertEquals(
      ["status", "stop_reason", "turns"].map((key) =>
        run[`ejagent.run.${key}`]
      ),
      ["completed", "text_response", 1],
    );
  });
  await recording(async (recorder) => {
    const agent = agentOf([echoCall, text("x", { usage })], {
      middleware: [recorder.middleware],
    });
    await agent.run("t");
    const [run, silent] = recorder.spans();
    assertEquals(usageOf(run!.attributes), {});
    assertEquals(usageOf(silent!.attributes), {});
  });
});

test("the time to the first delta is told", () => {
  // The SDK takes small numbers for times since the start of the process.
  const clock = new ManualClock(1_800_000_000_000);
  return recording(async (recorder) => {
    const gate = block(deltas(["he", "llo"]));
    const agent = agentOf([gate], { middleware: [recorder.middleware] });
    const run = agent.run("t");
    await gate.entered;
    clock.advance(1_500);
    gate.release();
    await run;
    const { attributes, startTime, endTime } = recorder.span("chat gpt-x");
    assertEquals(attributes["gen_ai.response.time_to_first_chunk"], 1.5);
    assertEquals([startTime, endTime], [
      [1_800_000_000, 0],
      [1_800_000_001, 500_000_000],
    ]);
    assertEquals(attributes["gen_ai.response.finish_reasons"], ["stop"]);
  }, { clock });
});

test("a failing model fails its span and the run's", {
  case: "PL-E-07",
}, async () => {
  const failing = fail(new ModelRateLimitError("secret words"));
  for (const recordExceptions of [false, true]) {
    await recording(async (recorder) => {
      const agent = agentOf([failing], { middleware: [recorder.middleware] });
      await agent.run("t");
      assertEquals(
        recorder.tree(),
        "invoke_agent a !runtime_error\n  chat gpt-x !rate_limit",
      );
      const events = recorder.spans().flatMap(({ events }) => events);
      assertEquals(
        events.map(({ name, attributes }) => [
          name,
          attributes?.["exception.message"],
        ]),
        recordExceptions ? [["exception", "secret words"]] : [],
      );
      assertEquals(recorder.span("chat gpt-x").status, {
        code: SpanStatusCode.ERROR,
      });
    }, { recordExceptions });
  }
});

test(
  "a rejection is no error of the run",
  { case: "PL-E-08" },
  () =>
    recording(async (recorder) => {
      const policy = new RuleBasedToolPolicy([
        { ruleId: "nothing", action: "deny" },
      ]);
      const agent = agentOf([echoCall], {
        middleware: [recorder.middleware, new ToolPolicyMiddleware(policy)],
      });
      await agent.run("t");
      assertEquals(
        recorder.tree(),
        [
          "invoke_agent a",
          "  chat gpt-x",
          "  execute_tool echo !tool_rejected",
        ].join("\n"),
      );
      const { status, attributes } = recorder.span("invoke_agent a");
      assertEquals(status, { code: SpanStatusCode.UNSET });
      assertEquals(attributes["ejagent.run.status"], "rejected");
    }),
);

test(
  "a failing tool fails its span alone",
  { case: "PL-E-09" },
  () =>
    recording(async (recorder) => {
      const refused = defineTool({
        name: "refused",
        execute: () => ({ status: "error", code: "no_such_city" }),
      });
      const agent = agentOf([calls(["boom", "refused"]), text("done")], {
        tools: [boom, refused],
        middleware: [recorder.middleware],
      });
      await agent.run("t");
      assertEquals(
        recorder.tree(),
        [
          "invoke_agent a",
          "  chat gpt-x",
          "  execute_tool boom !Error",
          "  execute_tool refused !no_such_city",
          "  chat gpt-x",
        ].join("\n"),
      );
    }),
);

test(
  "a reader that leaves cuts the spans off",
  { case: "PL-E-12" },
  () =>
    recording(async (recorder) => {
      const agent = agentOf([deltas(["he"], block())], {
        middleware: [recorder.middleware],
      });
      for await (const event of agent.stream("t")) {
        if (event.kind === "assistant_text_delta") break;
      }
      assertEquals(
        recorder.tree(),
        "invoke_agent a\n  chat gpt-x ?cancelled",
      );
      const { status, attributes } = recorder.span("invoke_agent a");
      assertEquals(status, { code: SpanStatusCode.UNSET });
      assertEquals(attributes["ejagent.run.stop_reason"], "external_abort");
    }),
);

test(
  "an abort cuts the span of a tool off",
  { case: "PL-E-12" },
  () =>
    recording(async (recorder) => {
      const { tool, entered } = waitTool();
      const agent = agentOf([calls(["wait"])], {
        tools: [tool],
        middleware: [recorder.middleware],
      });
      const run = agent.run("t");
      await entered;
      agent.abort("enough");
      await run;
      assertEquals(
        recorder.tree(),
        [
          "invoke_agent a",
          "  chat gpt-x",
          "  execute_tool wait ?cancelled",
        ].join("\n"),
      );
    }),
);

test("what ignores its abort ends with the run that gave it up", {
  case: "PL-E-12",
}, async () => {
  const entered = deferred();
  const never = new Promise<never>(() => {});
  const deaf = defineTool({
    name: "deaf",
    execute: async () => {
      entered.resolve();
      return await never;
    },
  });
  await recording(async (recorder) => {
    const agent = agentOf([calls(["deaf"])], {
      tools: [deaf],
      middleware: [recorder.middleware],
    });
    const run = agent.run("t");
    await entered.promise;
    agent.abort();
    await run;
    assertEquals(
      recorder.tree(),
      [
        "invoke_agent a",
        "  chat gpt-x",
        "  execute_tool deaf ?cancelled",
      ].join("\n"),
    );
  });
  await recording(async (recorder) => {
    const gate = block(undefined, { ignoreAbort: true });
    const agent = agentOf([gate], { middleware: [recorder.middleware] });
    const run = agent.run("t");
    await gate.entered;
    agent.abort();
    await run;
    assertEquals(recorder.tree(), "invoke_agent a\n  chat gpt-x ?cancelled");
    gate.release();
  });
});

test("a run whose layer never returns ends ten seconds after its abort", {
  case: "PL-E-12",
}, async () => {
  const clock = new ManualClock();
  const entered = deferred();
  await recording(async (recorder) => {
    const agent = agentOf([], {
      middleware: [recorder.middleware, {
        // deno-lint-ignore require-yield
        async *aroundRun() {
          entered.resolve();
          return await new Promise<never>(() => {});
        },
      }],
    });
    const run = agent.run("t");
    await entered.promise;
    agent.abort();
    assertEquals((await run).status, "cancelled");
    clock.advance(9_999);
    assertEquals(recorder.spans(), []);
    clock.advance(1);
    assertEquals(recorder.tree(), "invoke_agent a");
    assertEquals(
      recorder.span("invoke_agent a").attributes["ejagent.run.status"],
      "cancelled",
    );
  }, { clock });
});

test("middleware that throws inside fails the span of the run", {
  case: "PL-E-12",
}, () =>
  recording(async (recorder) => {
    const mistake = new RangeError("mw");
    const broken: Middleware = {
      async *aroundRun(request, next) {
        yield* next(request);
        throw mistake;
      },
    };
    const agent = agentOf([text("x")], {
      middleware: [recorder.middleware, broken],
    });
    assertStrictEquals(
      await assertRejects(() => agent.run("t"), RangeError),
      mistake,
    );
    assertEquals(recorder.tree(), "invoke_agent a !RangeError\n  chat gpt-x");
  }));

test("the place decides what is seen", { case: "PL-E-14" }, async () => {
  const cached: Middleware = {
    // deno-lint-ignore require-yield
    async *aroundRun() {
      return runResult({ stopReason: "text_response", output: "cached" });
    },
  };
  await recording(async (recorder) => {
    await agentOf([], { middleware: [recorder.middleware, cached] }).run("t");
    assertEquals(recorder.tree(), "invoke_agent a");
    assertEquals(usageOf(recorder.span("invoke_agent a").attributes), {});
  });
  await recording(async (recorder) => {
    await agentOf([], { middleware: [cached, recorder.middleware] }).run("t");
    assertEquals(recorder.tree(), "");
  });
});

test("a run that is tried again has a span for each try, side by side", () =>
  recording(async (recorder) => {
    const again: Middleware = {
      async *aroundRun(request, next) {
        yield* next(request);
        return yield* next(request);
      },
    };
    const agent = agentOf([text("x"), text("y")], {
      middleware: [again, recorder.middleware],
    });
    await agent.run("t");
    assertEquals(
      recorder.tree(),
      [
        "invoke_agent a",
        "  chat gpt-x",
        "invoke_agent a",
        "  chat gpt-x",
      ].join("\n"),
    );
  }));

test("a tracer that throws leaves the run alone and is told about once", {
  case: "PL-E-15",
}, async () => {
  const broken = () => {
    throw new Error("no tracer");
  };
  const one = recorder({
    tracer: { startSpan: broken },
  });
  const script = [echoCall, text("done")];
  const bare = await agentOf(script).run("t");
  const traced = await agentOf(script, { middleware: [one.middleware] })
    .run("t");
  assertEquals({ ...traced, runId: "" }, { ...bare, runId: "" });
  assertEquals(one.logger.warnings.map(({ details }) => details), [
    { error: "no tracer" },
  ]);
  const measured = (await one.measurements()).map(({ metric }) => metric);
  assert(measured.includes("gen_ai.client.operation.duration"));
  await one.shutdown();
});

test("a request that is made again after an overflow has a span of its own", {
  case: "PL-E-16",
}, () =>
  recording(async (recorder) => {
    const agent = agentOf([
      text("old answer"),
      fail(new ContextOverflowError("too large")),
      text("recovered"),
    ], {
      middleware: [recorder.middleware],
      compactionPolicy: new CompactionPolicy({
        budget: new ContextBudget({
          contextWindow: 10_000,
          reserveTokens: 10,
          keepRecentTokens: 1,
        }),
      }),
      autoCompactionPolicy: { compactOnPressure: false },
      compactor: {
        compact: () =>
          Promise.resolve({ content: "summary", source: "test", usage: null }),
      },
    });
    await agent.run("first");
    assertEquals((await agent.run("second")).output, "recovered");
    assertEquals(
      recorder.tree(),
      [
        "invoke_agent a",
        "  chat gpt-x",
        "invoke_agent a",
        "  chat gpt-x !context_overflow",
        "  chat gpt-x",
      ].join("\n"),
    );
  }));

test("the run of a sub-agent hangs below the call that started it", () =>
  recording(async (recorder) => {
    const researcher = new Agent({
      agentId: "researcher",
      model: new ScriptedModel([text("1889")]),
      middleware: [recorder.telemetry()],
    });
    const writer = agentOf([
      calls([{ name: "researcher", arguments: { task: "When?" } }, "echo"]),
      text("done"),
    ], {
      tools: [agentTool(researcher), echo],
      middleware: [recorder.middleware],
    });
    await writer.run("t");
    assertEquals(
      recorder.tree(),
      [
        "invoke_agent a",
        "  chat gpt-x",
        "  execute_tool researcher",
        "    invoke_agent researcher",
        "      chat",
        "  execute_tool echo",
        "  chat gpt-x",
      ].join("\n"),
    );
  }));

function usageOf(attributes: Attributes): Attributes {
  return Object.fromEntries(
    Object.entries(attributes).filter(([key]) =>
      key.startsWith("gen_ai.usage.")
    ),
  );
}
