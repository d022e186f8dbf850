// deno-lint-ignore-file require-yield -- some of these streams have a result and no events
import type { AgentEvent } from "../../mod.ts";
import { block, deltas, text } from "../../src/testing/mod.ts";
import {
  assertEquals,
  assertRejects,
  assertStrictEquals,
  assertThrows,
} from "../support/assert.ts";
import { deferred } from "../support/deferred.ts";
import { test } from "../support/suite.ts";
import { agentWith } from "../agent/fixtures.ts";
import { kindsOf } from "./fixtures.ts";

const plainKinds = [
  "agent_started",
  "turn_started",
  "message_completed",
  "turn_completed",
  "agent_finished",
];

test(
  "a stream that nobody reads does nothing",
  { case: "PL-B-01" },
  async () => {
    const { agent, sink, model } = agentWith([text("u done")]);
    agent.stream("t");
    await new Promise((resolve) => setTimeout(resolve, 0));
    assertEquals([sink.events.length, model.requests.length], [0, 0]);
    assertEquals((await agent.run("u")).output, "u done");
  },
);

test("a slow reader holds nothing up and misses nothing", {
  case: ["PL-B-02", "PL-B-03"],
}, async () => {
  const { agent, sink } = agentWith([text("one"), text("two")]);
  const reader = agent.stream("t")[Symbol.asyncIterator]();
  const kinds = [(await reader.next()).value?.kind];
  await sink.first("agent_finished");
  assertEquals((await agent.run("u")).output, "two");
  for (let step = await reader.next(); !step.done; step = await reader.next()) {
    kinds.push(step.value.kind);
  }
  assertEquals(kinds, plainKinds);
});

test("the result can be awaited before the events are read", {
  case: "PL-B-04",
}, async () => {
  const { agent } = agentWith([text("one")]);
  const stream = agent.stream("t");
  const result = await stream.finalResult();
  assertEquals(await kindsOf(stream), plainKinds);
  assertStrictEquals(await stream.finalResult(), result);
  assertThrows(() => stream[Symbol.asyncIterator](), TypeError, "only once");
});

test(
  "closing a stream that never started makes no run",
  { case: "PL-B-06" },
  async () => {
    const { agent, sink } = agentWith([]);
    const stream = agent.stream("t");
    await stream.close();
    const result = await stream.finalResult();
    assertEquals([result.status, result.turns, result.runId], [
      "cancelled",
      0,
      null,
    ]);
    assertEquals([await kindsOf(stream), sink.events.length], [[], 0]);
  },
);

test("leaving the loop cancels and waits until all has settled", {
  case: "PL-B-07",
}, async () => {
  for (const leave of ["break", "dispose", "close"] as const) {
    const log: string[] = [];
    const { agent } = agentWith([block()], {
      middleware: [{
        async *aroundRun(request, next) {
          const result = yield* next(request);
          log.push(`post ${result.stopReason}`);
          return result;
        },
      }],
      contextProviders: [{
        sourceId: "p",
        afterRun: (_run, outcome) =>
          void log.push(`after ${outcome.result.status}`),
      }],
      onEvent: (event) => {
        if (event.kind === "agent_finished") log.push("finished");
      },
    });
    const stream = agent.stream("t");
    if (leave === "break") {
      for await (const event of stream) {
        if (event.kind === "turn_started") break;
      }
    } else {
      await stream[Symbol.asyncIterator]().next();
      await (leave === "dispose"
        ? stream[Symbol.asyncDispose]()
        : stream.close());
    }
    assertEquals(
      log,
      ["after cancelled", "finished", "post external_abort"],
      leave,
    );
    const result = await stream.finalResult();
    assertEquals([result.status, result.error], [
      "cancelled",
      "stream closed by consumer",
    ]);
    await agent.waitForIdle();
  }
});

test(
  "a reader sees the events in their order",
  { case: "PL-B-08" },
  async () => {
    const { agent } = agentWith([deltas(["he", "llo"])]);
    const events: AgentEvent[] = [];
    for await (const event of agent.stream("t")) events.push(event);
    assertEquals(events.map((event) => event.kind), [
      "agent_started",
      "turn_started",
      "assistant_text_delta",
      "assistant_text_delta",
      "message_completed",
      "turn_completed",
      "agent_finished",
    ]);
    assertEquals(events.map((event) => event.sequence), [1, 2, 3, 4, 5, 6, 7]);
  },
);

test("an exception of middleware meets both ways of reading", {
  case: "PL-B-09",
}, async () => {
  const failure = new Error("mw");
  for (const ways of [["read", "result"], ["read"], ["result"]]) {
    const { agent } = agentWith([], {
      middleware: [{
        async *aroundRun() {
          throw failure;
        },
      }],
    });
    const stream = agent.stream("t");
    if (ways.includes("read")) {
      assertStrictEquals(await assertRejects(() => kindsOf(stream)), failure);
    }
    if (ways.includes("result")) {
      assertStrictEquals(
        await assertRejects(() => stream.finalResult()),
        failure,
      );
    }
  }
});

test(
  "streams of one agent happen one after the other",
  { case: "PL-B-10" },
  async () => {
    const { agent, sink } = agentWith([text("one"), text("two")]);
    await Promise.all([kindsOf(agent.stream("a")), kindsOf(agent.stream("b"))]);
    assertEquals<readonly string[]>(sink.kinds, [...plainKinds, ...plainKinds]);
  },
);

test("closing a stream that still waits for its turn gives it up", async () => {
  const gate = block();
  const { agent, sink } = agentWith([gate]);
  const first = agent.run("a");
  await gate.entered;
  const waiting = agent.stream("b");
  const pending = waiting.finalResult();
  await waiting.close("never mind");
  assertEquals((await pending).status, "cancelled");
  gate.release();
  await first;
  assertEquals(sink.ofKind("agent_started").length, 1);
});

test("a reader that waits is woken by each event", async () => {
  const held = deferred();
  const { agent } = agentWith([text("one")], {
    onEvent: async (event) => {
      if (event.kind === "turn_started") await held.promise;
    },
  });
  const reader = agent.stream("t")[Symbol.asyncIterator]();
  assertEquals((await reader.next()).value?.kind, "agent_started");
  const next = reader.next();
  held.resolve();
  assertEquals((await next).value?.kind, "turn_started");
  await reader.return?.();
});

test("a reader that left gets nothing more", async () => {
  const { agent, sink } = agentWith([text("one")]);
  const reader = agent.stream("t")[Symbol.asyncIterator]();
  await reader.next();
  await sink.first("agent_finished");
  await reader.return?.();
  assertEquals(await reader.next(), { done: true, value: undefined });
});
