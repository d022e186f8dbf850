import {
  Agent,
  assistantMessage,
  type ModelStreamEvent,
  modelUsage,
} from "../../mod.ts";
import {
  deltas,
  events,
  fail,
  RecordingEventSink,
  ScriptedModel,
  text,
  thinking,
} from "../../src/testing/mod.ts";
import { assertEquals, assertStringIncludes } from "../support/assert.ts";
import { test } from "../support/suite.ts";
import { agentWith, shapeOf } from "./fixtures.ts";

test(
  "text deltas are shown and the whole text is kept once",
  { case: "X-144" },
  async () => {
    const { agent, sink } = agentWith([deltas(["Hel", "lo"])]);
    await agent.run("go");
    assertEquals(
      sink.trace(),
      "AS TS1 xD xD MC TC1 AF(completed/text_response)",
    );
    assertEquals(
      agent.messages.filter((message) => message.content === "Hello").length,
      1,
    );
    assertEquals(sink.ofKind("message_completed")[0]?.sequence, 5);
  },
);

test("thinking is seen and never stored", { case: "X-145" }, async () => {
  const { agent, sink } = agentWith([
    deltas([thinking("inspect "), thinking("context"), "final"]),
  ]);
  const result = await agent.run("go");
  assertEquals(
    sink.trace(),
    "AS TS1 hD hD xD MC TC1 AF(completed/text_response)",
  );
  const stored = JSON.stringify([
    agent.messages,
    result,
    agent.state.snapshot(),
  ]);
  assertEquals(stored.includes("inspect"), false);
});

test(
  "a model that only completes is asked once",
  { case: "X-146" },
  async () => {
    const model = new ScriptedModel([text("whole")], { completeOnly: true });
    const { agent, sink } = agentWith([], { model });
    const result = await agent.run("go");
    assertEquals([model.requests.length, model.requests[0]?.method], [
      1,
      "complete",
    ]);
    assertEquals(sink.trace(), "AS TS1 MC TC1 AF(completed/text_response)");
    assertEquals(result.usage.reportedRequestCount, 0);
  },
);

test("a whole answer can report its usage, a bare message cannot", {
  case: "X-146",
}, async () => {
  const message = assistantMessage("whole");
  const usage = modelUsage({ inputTokens: 3, outputTokens: 2 });
  const sink = new RecordingEventSink();
  const reporting = new Agent({
    agentId: "a",
    model: { complete: () => Promise.resolve({ message, usage }) },
    eventSink: sink,
  });
  const result = await reporting.run("go");
  assertEquals([result.usage.totalTokens, result.usage.complete], [5, true]);
  const bare = new Agent({
    agentId: "a",
    model: { complete: () => Promise.resolve(message) },
  });
  assertEquals((await bare.run("go")).usage.complete, false);
});

const completed: ModelStreamEvent = {
  kind: "completed",
  message: assistantMessage("ok"),
};

test(
  "a stream that breaks its contract fails the run",
  { case: "X-147" },
  async () => {
    const broken: [string, readonly unknown[]][] = [
      ["without a completed response", []],
      ["unknown event kind", [{ kind: "other" }]],
      ["empty text_delta", [{ kind: "text_delta", delta: "" }]],
      ["no assistant message", [{ kind: "completed" }]],
    ];
    for (const [reason, list] of broken) {
      const { agent, sink } = agentWith([events(list as ModelStreamEvent[])]);
      const result = await agent.run("go");
      assertEquals(result.failure?.code, "protocol_error", reason);
      assertStringIncludes(result.error ?? "", reason);
      assertEquals(sink.trace(), "AS TS1 TC1 AF(failed/runtime_error)");
      assertEquals(shapeOf(agent.messages), "u");
    }
  },
);

test(
  "nothing behind the completed response counts",
  { case: "X-147" },
  async () => {
    const second: ModelStreamEvent = {
      kind: "completed",
      message: assistantMessage("second"),
    };
    const { agent, sink } = agentWith([
      events([completed, { kind: "text_delta", delta: "late" }, second]),
    ]);
    assertEquals((await agent.run("go")).output, "ok");
    assertEquals(sink.trace(), "AS TS1 MC TC1 AF(completed/text_response)");
  },
);

test(
  "a stream that throws at once closes its turn",
  { case: "X-147" },
  async () => {
    const model = new ScriptedModel([]);
    Object.defineProperty(model, "stream", {
      value: () => {
        throw new Error("no stream");
      },
    });
    const { agent, sink } = agentWith([], { model });
    assertEquals((await agent.run("go")).error, "no stream");
    assertEquals(sink.trace(), "AS TS1 TC1 AF(failed/runtime_error)");
  },
);

test(
  "the completed message wins over its deltas",
  { case: "X-148" },
  async () => {
    const { agent } = agentWith([deltas(["abc"], text("xyz"))]);
    assertEquals((await agent.run("go")).output, "xyz");
    assertEquals(agent.messages.at(-1)?.content, "xyz");
  },
);

test("a failure after deltas voids the turn", { case: "X-149" }, async () => {
  const { agent, sink } = agentWith([deltas(["par"], fail(new Error("cut")))]);
  await agent.run("go");
  assertEquals(sink.trace(), "AS TS1 xD TC1 AF(failed/runtime_error)");
  assertEquals(shapeOf(agent.messages), "u");
});

test("the rest of a stream is closed when the answer is complete", async () => {
  let closed = false;
  const { agent } = agentWith([events(async function* () {
    try {
      yield completed;
      yield completed;
    } finally {
      closed = true;
    }
  })]);
  await agent.run("go");
  assertEquals(closed, true);
});
