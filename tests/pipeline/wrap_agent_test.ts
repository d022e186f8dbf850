import { mapEvents, runResult, RunScope, wrapAgent } from "../../mod.ts";
import { block, deltas, text } from "../../src/testing/mod.ts";
import { assertEquals, assertStrictEquals } from "../support/assert.ts";
import { test } from "../support/suite.ts";
import { agentWith } from "../agent/fixtures.ts";
import { tracing } from "./fixtures.ts";
import { ForeignAgent } from "./foreign_agent.ts";

test("a foreign agent gets middleware of its own", {
  case: "PL-A-24",
}, async () => {
  const foreign = new ForeignAgent();
  const log: string[] = [];
  const agent = wrapAgent(foreign).use(tracing("A", log));
  const scope = new RunScope();
  scope.set("tenant", 7);
  const modelOptions = { temperature: 0 };
  const stream = agent.stream("t", { modelOptions, scope });
  const events = [];
  for await (const event of stream) events.push(event);
  assertEquals(events, [...foreign.events]);
  assertStrictEquals(await stream.finalResult(), foreign.result);
  assertEquals(log, ["A>r", "A<r"]);
  assertEquals(agent.info, foreign.info);
  const { task, options } = foreign.calls[0]!;
  assertEquals([task, options.modelOptions], ["t", modelOptions]);
  assertEquals(options.scope?.get("tenant"), 7);
});

test("a wrapper around a local agent sees its events and leaves it alone", async () => {
  const { agent: inner } = agentWith([deltas(["he", "llo"]), text("again")]);
  const agent = wrapAgent(inner).use({
    aroundRun: (request, next) =>
      mapEvents(
        next(request),
        (event) =>
          event.kind === "assistant_text_delta"
            ? { ...event, delta: event.delta.toUpperCase() }
            : undefined,
      ),
  });
  const shown: string[] = [];
  for await (const event of agent.stream("t")) {
    if (event.kind === "assistant_text_delta") shown.push(event.delta);
  }
  assertEquals(shown, ["HE", "LLO"]);
  assertEquals((await inner.run("u")).output, "again");
});

test("leaving a mapped stream cancels the run behind it", async () => {
  const { agent: inner, sink } = agentWith([deltas(["he"], block())]);
  const agent = wrapAgent(inner).use({
    async *aroundRun(request, next) {
      for await (const event of mapEvents(next(request), (same) => same)) {
        yield event;
        if (event.kind === "assistant_text_delta") break;
      }
      return runResult({ stopReason: "text_response", output: "enough" });
    },
  });
  assertEquals((await agent.run("t")).output, "enough");
  const { result } = await sink.first("agent_finished");
  assertEquals(result.stopReason, "external_abort");
});
