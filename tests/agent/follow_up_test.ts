import {
  AgentStartupError,
  FollowUpDiscardedError,
  FollowUpRejectedError,
} from "../../mod.ts";
import { block, calls, fail, text } from "../../src/testing/mod.ts";
import {
  assert,
  assertEquals,
  assertInstanceOf,
  assertRejects,
  assertStrictEquals,
  assertThrows,
} from "../support/assert.ts";
import { deferred } from "../support/deferred.ts";
import { test } from "../support/suite.ts";
import { agentWith, can, contentsOf, rej } from "./fixtures.ts";

test("follow-ups run in order behind the last event and before others", {
  case: "X-112",
}, async () => {
  const gate = block();
  const held = deferred();
  const finishing = deferred();
  const { agent, sink, model } = agentWith([
    gate,
    text("1"),
    text("2"),
    text("d"),
  ], {
    onEvent: async (event) => {
      if (
        event.kind !== "agent_finished" || event.result.output !== "initial"
      ) return;
      finishing.resolve();
      await held.promise;
    },
  });
  const initial = agent.run("initial");
  await gate.entered;
  const handles = [agent.followUp("1"), agent.followUp("2")];
  assertEquals(handles.map((handle) => handle.receipt.queueSize), [1, 2]);
  assertEquals(agent.pendingFollowUpCount, 2);
  const direct = agent.run("direct");
  let idle = false;
  const idling = agent.waitForIdle().then(() => idle = true);
  gate.release(text("initial"));
  await finishing.promise;
  assertEquals([model.requests.length, handles[0]?.done, idle], [
    1,
    false,
    false,
  ]);
  held.resolve();
  assertEquals((await initial).output, "initial");
  assertEquals(handles[1]?.done, false);
  await Promise.all([
    ...handles.map((handle) => handle.wait()),
    direct,
    idling,
  ]);
  const started = sink.ofKind("agent_started");
  assertEquals(started.map((event) => event.task), [
    "initial",
    "1",
    "2",
    "direct",
  ]);
  assertEquals(new Set(started.map((event) => event.runId)).size, 4);
});

test(
  "a follow-up right after a run is accepted",
  { case: "X-113" },
  async () => {
    for (const started of [true, false]) {
      const { agent } = agentWith([text("a"), text("b")]);
      if (started) await agent.startup();
      const run = agent.run("a");
      const handle = agent.followUp("b");
      assert(handle.accepted);
      assertEquals([(await run).output, (await handle.wait()).output], [
        "a",
        "b",
      ]);
    }
  },
);

test(
  "a follow-up that is not accepted says why",
  { case: "X-114" },
  async () => {
    const gate = block();
    const { agent } = agentWith([gate, text("1")], {
      followUpQueueCapacity: 1,
    });
    const idle = agent.followUp("x");
    assertEquals([idle.receipt.status, idle.done, idle.accepted], [
      "agent_idle",
      true,
      false,
    ]);
    const error = await assertRejects(
      () => idle.wait(),
      FollowUpRejectedError,
      "agent_idle; ask with run()",
    );
    assertStrictEquals(error.receipt, idle.receipt);
    const run = agent.run("task");
    await gate.entered;
    const [first, full] = [agent.followUp("1"), agent.followUp("2")];
    assertEquals(
      [first.accepted, full.receipt.status, full.receipt.queueSize],
      [
        true,
        "queue_full",
        1,
      ],
    );
    assertThrows(() => agent.followUp("  "), RangeError);
    gate.release();
    await run;
    await first.wait();
    assertEquals(agent.followUp("late").receipt.status, "agent_idle");
  },
);

test(
  "a run that does not complete discards what waits",
  { case: "X-115" },
  async () => {
    const ends = [
      [text(null), "empty_response"],
      [calls(["rej"]), "tool_rejected"],
      [calls(["can"]), "tool_cancelled"],
    ] as const;
    for (const [step, stopReason] of ends) {
      const gate = block(step);
      const { agent, model } = agentWith([gate], { tools: [rej, can] });
      const run = agent.run("task");
      await gate.entered;
      const handle = agent.followUp("next");
      gate.release();
      assertEquals((await run).stopReason, stopReason);
      const error = await assertRejects(
        () => handle.wait(),
        FollowUpDiscardedError,
      );
      assertEquals(error.reason, "previous_run_not_completed");
      assertStrictEquals(error.control, handle.control);
      assertEquals(model.requests.length, 1);
    }
  },
);

test("an aborted run discards what waits and admits no more", {
  case: ["X-115", "X-117"],
}, async () => {
  const gate = block();
  const { agent } = agentWith([gate]);
  const run = agent.run("task");
  await gate.entered;
  const earlier = agent.followUp("earlier");
  agent.abort("no");
  assertEquals(agent.followUp("later").receipt.status, "run_closing");
  await run;
  await assertRejects(
    () => earlier.wait(),
    FollowUpDiscardedError,
    "ask again with run()",
  );
});

test(
  "with the policy continue the chain goes on",
  { case: "X-116" },
  async () => {
    const { agent } = agentWith([fail(new Error("down")), text("up")], {
      followUpFailurePolicy: "continue",
    });
    const run = agent.run("task");
    const handle = agent.followUp("again");
    assertEquals([(await run).status, (await handle.wait()).output], [
      "failed",
      "up",
    ]);
  },
);

test("with the policy continue even aborted runs are followed", {
  case: "X-116",
}, async () => {
  const gates = [block(), block()];
  const { agent } = agentWith([...gates, text("2")], {
    followUpFailurePolicy: "continue",
  });
  const run = agent.run("task");
  await gates[0]!.entered;
  const handles = [agent.followUp("1"), agent.followUp("2")];
  agent.abort("first");
  await gates[1]!.entered;
  agent.abort("second");
  const statuses = [(await run).status];
  for (const handle of handles) statuses.push((await handle.wait()).status);
  assertEquals(statuses, ["cancelled", "cancelled", "completed"]);
});

test(
  "a shutdown discards follow-ups in the same step",
  { case: "X-118" },
  async () => {
    const gate = block();
    const { agent, model } = agentWith([gate]);
    const run = agent.run("task");
    await gate.entered;
    const handle = agent.followUp("next");
    const stopping = agent.shutdown();
    assert(handle.done);
    assertEquals(agent.followUp("late").receipt.status, "run_closing");
    const error = await assertRejects(
      () => handle.wait(),
      FollowUpDiscardedError,
    );
    assertEquals(error.reason, "agent_shutdown");
    gate.release();
    assertEquals((await run).status, "completed");
    await stopping;
    assertEquals(model.requests.length, 1);
  },
);

test(
  "giving up a wait leaves the follow-up alone",
  { case: "X-119" },
  async () => {
    const gate = block();
    const { agent } = agentWith([gate, text("next done")]);
    const run = agent.run("task");
    await gate.entered;
    const handle = agent.followUp("next");
    const controller = new AbortController();
    const waiting = handle.wait({ signal: controller.signal });
    controller.abort(new Error("I am off"));
    await assertRejects(() => waiting, Error, "I am off");
    assertEquals(handle.done, false);
    gate.release();
    await run;
    assertEquals((await handle.wait()).output, "next done");
    assertEquals(
      (await handle.wait({ signal: new AbortController().signal })).output,
      "next done",
    );
  },
);

test(
  "a follow-up whose start-up fails gets its own error",
  { case: "X-122" },
  async () => {
    const { agent, model, sink } = agentWith([], {
      followUpFailurePolicy: "continue",
    });
    let attempts = 0;
    model.startup = () => Promise.reject(new Error(`attempt ${++attempts}`));
    const run = agent.run("a");
    const handles = [agent.followUp("b"), agent.followUp("c")];
    await assertRejects(() => run, AgentStartupError, "attempt 1");
    await assertRejects(
      () => handles[0]!.wait(),
      AgentStartupError,
      "attempt 2",
    );
    await assertRejects(
      () => handles[1]!.wait(),
      AgentStartupError,
      "attempt 3",
    );
    assertEquals(sink.events.length, 0);
    await agent.waitForIdle();
  },
);

test(
  "a follow-up runs when the second start-up works",
  { case: "X-122" },
  async () => {
    const { agent, model } = agentWith([text("b done")], {
      followUpFailurePolicy: "continue",
    });
    let attempts = 0;
    model.startup = () =>
      ++attempts === 1 ? Promise.reject(new Error("down")) : undefined;
    const run = agent.run("a");
    const handle = agent.followUp("b");
    await assertRejects(() => run, AgentStartupError);
    assertEquals((await handle.wait()).output, "b done");
  },
);

test("a follow-up is a fresh run with the earlier exchange", {
  case: ["X-123", "B60"],
}, async () => {
  const usage = { inputTokens: 10, outputTokens: 5 };
  const { agent, sink, model } = agentWith([
    text("one", { usage }),
    text("two", { usage }),
  ]);
  const run = agent.run("first");
  const handle = agent.followUp("second");
  const first = await run;
  const second = await handle.wait();
  assertEquals([first.usage.totalTokens, second.usage.totalTokens], [15, 15]);
  assertEquals(sink.events.filter((event) => event.sequence === 1).length, 2);
  assertEquals(contentsOf(model.contexts[1]?.llmMessages ?? []), [
    "P",
    "first",
    "one",
    "second",
  ]);
  assertStrictEquals(agent.state.lastRunResult, second);
});

test("a follow-up from the sink of the last event still runs", async () => {
  let handle: ReturnType<typeof agent.followUp> | undefined;
  const { agent } = agentWith([text("one"), text("two")], {
    onEvent: (event) => {
      if (event.kind === "agent_finished") handle ??= agent.followUp("more");
    },
  });
  await agent.run("go");
  assertInstanceOf(handle, Object);
  assertEquals((await handle.wait()).output, "two");
});

test("a follow-up of parts is run as parts", async () => {
  const { agent, model } = agentWith([text("one"), text("two")]);
  const run = agent.run("go");
  const handle = agent.followUp([{ type: "text", text: "look" }, {
    type: "image_url",
    image_url: { url: "https://example.com/a.png" },
  }]);
  await run;
  await handle.wait();
  assertEquals(
    Array.isArray(model.contexts[1]?.llmMessages.at(-1)?.content),
    true,
  );
});
