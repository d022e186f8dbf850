import {
  ContextOverflowError,
  type ModelAdapter,
  type ModelRequest,
  ModelTimeoutError,
} from "../../mod.ts";
import { fallbackModel } from "../../src/middleware/mod.ts";
import {
  block,
  calls,
  deltas,
  fail,
  ScriptedModel,
  type ScriptStep,
  text,
} from "../../src/testing/mod.ts";
import { agentWith, contentsOf, echo } from "../agent/fixtures.ts";
import {
  assertEquals,
  assertStrictEquals,
  assertThrows,
} from "../support/assert.ts";
import { test } from "../support/suite.ts";
import { busy, textDeltas } from "./fixtures.ts";

test("another model answers if the own one fails", async () => {
  const failure = busy();
  const seen: unknown[] = [];
  const target = { provider: "reserve" };
  const reserve = new ScriptedModel([deltas(["he", "re"])], { target });
  const { agent, sink } = agentWith([fail(failure)], {
    middleware: [
      fallbackModel(reserve, { onFallback: (error) => void seen.push(error) }),
    ],
  });
  const result = await agent.run("t", { modelOptions: { temperature: 0 } });
  assertEquals(result.output, "here");
  assertEquals(textDeltas(sink.events), ["he", "re"]);
  const { context, call } = reserve.requests[0]!;
  assertEquals(contentsOf(context.llmMessages), ["P", "t"]);
  assertEquals(call.options, { temperature: 0 });
  assertEquals((call as ModelRequest).target, reserve.target);
  assertStrictEquals(seen[0], failure);
  assertEquals(
    [result.usage.requestCount, result.usage.complete],
    [2, false],
  );
});

test("what the other model spends is part of the run's usage", async () => {
  const usage = { inputTokens: 10, outputTokens: 4 };
  const reserve = new ScriptedModel([
    text("reserve", { usage }),
    fail(new ContextOverflowError("Too long")),
    fail(new ModelTimeoutError("Nobody knows what this cost")),
  ]);
  const { agent } = agentWith([fail(busy()), fail(busy()), fail(busy())], {
    middleware: [fallbackModel(reserve)],
  });
  const usages = [];
  for (const task of ["answered", "refused", "failed"]) {
    const result = await agent.run(task);
    usages.push([
      result.usage.requestCount,
      result.usage.reportedRequestCount,
      result.usage.totalTokens,
    ]);
  }
  assertEquals(usages, [[2, 2, 14], [2, 2, 0], [2, 1, 0]]);
});

test("a refused request does not cost a budget its other model", async () => {
  const usage = { inputTokens: 10, outputTokens: 4 };
  const reserve = new ScriptedModel([calls(["echo"], { usage })]);
  const { agent } = agentWith([fail(busy()), text("done", { usage })], {
    middleware: [fallbackModel(reserve)],
    policy: { maxRunTokens: 100 },
    tools: [echo],
  });
  const { output, usage: spent } = await agent.run("t");
  assertEquals([output, spent.totalTokens, spent.complete], ["done", 28, true]);
});

test("the own model is asked first every time", async () => {
  const reserve = new ScriptedModel([text("reserve")]);
  const { agent } = agentWith([fail(busy()), text("own")], {
    middleware: [fallbackModel(reserve)],
  });
  assertEquals((await agent.run("t")).output, "reserve");
  assertEquals((await agent.run("u")).output, "own");
});

test("only failures of the provider that nobody has seen go to another model", async () => {
  const cases: readonly (readonly [ScriptStep, string])[] = [
    [fail(new ContextOverflowError("Too long")), "context_overflow"],
    [fail(new TypeError("A bug")), "runtime_error"],
    [deltas(["he"], fail(busy())), "runtime_error"],
  ];
  for (const [step, stopReason] of cases) {
    const reserve = new ScriptedModel([]);
    const { agent } = agentWith([step], {
      middleware: [fallbackModel(reserve)],
    });
    assertEquals((await agent.run("t")).stopReason, stopReason);
    reserve.assertDone();
  }
});

test("a program can decide by itself when to change over", async () => {
  const reserve = new ScriptedModel([text("reserve")]);
  const { agent } = agentWith([fail(new TypeError("odd")), fail(busy())], {
    middleware: [
      fallbackModel(reserve, { when: (error) => error instanceof TypeError }),
    ],
  });
  assertEquals((await agent.run("t")).output, "reserve");
  assertEquals((await agent.run("u")).error, "Busy");
});

test("an abort is no failure of the provider", async () => {
  const reserve = new ScriptedModel([]);
  const waiting = block(fail(busy()), { ignoreAbort: true });
  const { agent } = agentWith([waiting], {
    middleware: [fallbackModel(reserve)],
  });
  const running = agent.run("t");
  await waiting.entered;
  agent.abort("enough");
  waiting.release();
  assertEquals((await running).stopReason, "external_abort");
  assertEquals(reserve.requests.length, 0);
});

test("the other model lives as long as the agent", async () => {
  const reserve = new ScriptedModel([]);
  const { agent } = agentWith([], { middleware: [fallbackModel(reserve)] });
  await agent.startup();
  assertEquals([reserve.startupCount, reserve.shutdownCount], [1, 0]);
  await agent.shutdown();
  assertEquals([reserve.startupCount, reserve.shutdownCount], [1, 1]);
});

test("a fallback must be a model", () => {
  assertThrows(
    () => fallbackModel({} as ModelAdapter),
    TypeError,
    "complete()",
  );
});
