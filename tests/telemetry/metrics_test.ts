import type { Meter } from "@opentelemetry/api";
import {
  Agent,
  type AgentEvent,
  agentEvent,
  type AgentInfo,
  type AgentStream,
  ModelRateLimitError,
  PipelineAgent,
  runResult,
} from "../../mod.ts";
import {
  calls,
  fail,
  ScriptedModel,
  type ScriptStep,
  silentLogger,
  text,
} from "../../src/testing/mod.ts";
import manifest from "../../deno.json" with { type: "json" };
import { INSTRUMENTATION } from "../../src/telemetry/semconv.ts";
import { echo } from "../agent/fixtures.ts";
import { assertEquals } from "../support/assert.ts";
import { test } from "../support/suite.ts";
import { type Measured, recorder, steppingClock } from "./recorder.ts";

interface Measuring {
  readonly measured: readonly Measured[];
  /** The seconds that the spans took, by name. */
  readonly durations: Readonly<Record<string, number[]>>;
}

/** Runs an agent "a" once. */
async function measure(script: readonly ScriptStep[]): Promise<Measuring> {
  const one = recorder({ clock: steppingClock(7) });
  const agent = new Agent({
    agentId: "a",
    tools: [echo],
    logger: silentLogger,
    model: new ScriptedModel(script, {
      target: { provider: "openai", model: "gpt-x" },
    }),
    middleware: [one.middleware],
  });
  await agent.run("t");
  const durations: Record<string, number[]> = {};
  for (const { name, duration: [seconds, nanoseconds] } of one.spans()) {
    (durations[name] ??= []).push(seconds + nanoseconds / 1e9);
  }
  const measured = await one.measurements();
  await one.shutdown();
  return { measured, durations };
}

/** The measurements of one metric. */
function of(
  { measured }: Measuring,
  metric: string,
): Omit<Measured, "metric">[] {
  return measured
    .filter((entry) => entry.metric === metric)
    .map(({ attributes, count, sum }) => ({ attributes, count, sum }));
}

const model = {
  "gen_ai.operation.name": "chat",
  "gen_ai.provider.name": "openai",
  "gen_ai.request.model": "gpt-x",
};

test("runs, model requests and tool calls are measured as their spans", {
  case: "PL-E-13",
}, async () => {
  const usage = { inputTokens: 10, outputTokens: 4 };
  const measuring = await measure([
    calls([{ name: "echo" }], { usage }),
    text("done"),
  ]);
  const { durations } = measuring;
  assertEquals(of(measuring, "gen_ai.client.operation.duration"), [{
    attributes: model,
    count: 2,
    sum: durations["chat gpt-x"]![0]! + durations["chat gpt-x"]![1]!,
  }]);
  assertEquals(of(measuring, "gen_ai.client.token.usage"), [
    {
      attributes: { ...model, "gen_ai.token.type": "input" },
      count: 1,
      sum: 10,
    },
    {
      attributes: { ...model, "gen_ai.token.type": "output" },
      count: 1,
      sum: 4,
    },
  ]);
  assertEquals(of(measuring, "gen_ai.execute_tool.duration"), [{
    attributes: {
      "gen_ai.tool.name": "echo",
      "gen_ai.tool.type": "function",
      "gen_ai.agent.name": "a",
    },
    count: 1,
    sum: durations["execute_tool echo"]![0]!,
  }]);
  assertEquals(of(measuring, "gen_ai.invoke_agent.duration"), [{
    attributes: { "gen_ai.agent.name": "a", "gen_ai.request.model": "gpt-x" },
    count: 1,
    sum: durations["invoke_agent a"]![0]!,
  }]);
  const own = { "gen_ai.agent.name": "a" };
  assertEquals(of(measuring, "gen_ai.invoke_agent.inference_calls"), [
    { attributes: own, count: 1, sum: 2 },
  ]);
  assertEquals(of(measuring, "gen_ai.invoke_agent.tool_calls"), [
    { attributes: own, count: 1, sum: 1 },
  ]);
});

test("a failure is a dimension of its duration, and no tokens are made up", {
  case: "PL-E-13",
}, async () => {
  const measuring = await measure([fail(new ModelRateLimitError("no"))]);
  assertEquals(
    of(measuring, "gen_ai.client.operation.duration")
      .map(({ attributes }) => attributes),
    [{ ...model, "error.type": "rate_limit" }],
  );
  assertEquals(of(measuring, "gen_ai.client.token.usage"), []);
  assertEquals(
    of(measuring, "gen_ai.invoke_agent.duration")
      .map(({ attributes }) => attributes["error.type"]),
    ["runtime_error"],
  );
  assertEquals(
    of(measuring, "gen_ai.invoke_agent.inference_calls").map(({ sum }) => sum),
    [1],
  );
});

test("what a remote agent does for its answer is not made up", async () => {
  class Remote extends PipelineAgent {
    readonly info: AgentInfo = { agentId: "far", remote: true };
    protected async *execute(): AgentStream {
      const at = { agentId: "far", runId: "r", sequence: 1, timeMs: 0 };
      const event: AgentEvent = agentEvent(at, {
        kind: "turn_started",
        turn: 1,
      });
      yield event;
      return runResult({ stopReason: "text_response", output: "x", turns: 1 });
    }
  }
  const one = recorder();
  await new Remote().use(one.middleware).run("t");
  const metrics = (await one.measurements()).map(({ metric }) => metric);
  await one.shutdown();
  assertEquals(metrics, ["gen_ai.invoke_agent.duration"]);
});

test("the instrumentation has the version of the package", () => {
  assertEquals(INSTRUMENTATION, {
    name: "@ejagent/core",
    version: manifest.version as "0.1.0",
  });
});

test("a meter that throws leaves the run alone and is told about once", async () => {
  const broken = () => {
    throw new Error("no meter");
  };
  const one = recorder({
    meter: new Proxy({} as Meter, { get: () => broken }),
  });
  const agent = new Agent({
    agentId: "a",
    model: new ScriptedModel([text("done")]),
    middleware: [one.middleware],
  });
  assertEquals(await agent.runText("t"), "done");
  assertEquals(one.tree(), "invoke_agent a\n  chat");
  assertEquals(one.logger.warnings.map(({ details }) => details), [
    { error: "no meter" },
  ]);
  await one.shutdown();
});
