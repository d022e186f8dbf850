import {
  behaviorStop,
  CompactionPolicy,
  ContextBudget,
  type SteeringReceipt,
} from "../../mod.ts";
import { block, calls, text } from "../../src/testing/mod.ts";
import { assertEquals, assertThrows } from "../support/assert.ts";
import { deferred } from "../support/deferred.ts";
import { test } from "../support/suite.ts";
import { agentWith, contentsOf, done, waitTool } from "./fixtures.ts";

test(
  "steering is applied in order and forces a turn",
  { case: "X-098" },
  async () => {
    const gate = block();
    const { agent, sink, model } = agentWith([gate, text("corrected answer")], {
      steeringQueueCapacity: 2,
    });
    const run = agent.run("task");
    await gate.entered;
    const receipts = [agent.steer("first"), agent.steer("second")];
    assertEquals(
      receipts.map((receipt) => [receipt.status, receipt.queueSize]),
      [
        ["accepted", 1],
        ["accepted", 2],
      ],
    );
    assertEquals(agent.pendingSteeringCount, 2);
    gate.release(text("superseded answer"));
    const result = await run;
    assertEquals([result.output, result.turns], ["corrected answer", 2]);
    assertEquals(contentsOf(model.contexts[1]?.llmMessages ?? []), [
      "P",
      "task",
      "superseded answer",
      "first",
      "second",
    ]);
    const applied = sink.ofKind("steering_applied");
    assertEquals(
      applied.map((event) => event.control.inputId),
      receipts.map((receipt) => receipt.control.inputId),
    );
    assertEquals(applied.map((event) => event.targetTurn), [2, 2]);
    assertEquals(
      await Promise.all(receipts.map((receipt) => receipt.outcome)),
      [
        { kind: "applied", turn: 2 },
        { kind: "applied", turn: 2 },
      ],
    );
  },
);

test("a receipt tells the truth at once", { case: "X-099" }, async () => {
  const gate = block();
  const { agent } = agentWith([gate, text("ok")], { steeringQueueCapacity: 1 });
  const idle = agent.steer("x");
  assertEquals([idle.status, idle.queueSize, idle.accepted], [
    "agent_idle",
    0,
    false,
  ]);
  assertEquals(await idle.outcome, { kind: "refused", status: "agent_idle" });
  for (const blank of ["", "  "]) {
    assertThrows(() => agent.steer(blank), RangeError);
  }
  assertThrows(() => agent.steer(7 as unknown as string), TypeError);
  const run = agent.run("task");
  await gate.entered;
  const [first, second] = [agent.steer(" x "), agent.steer("y")];
  assertEquals([first.control.content, first.status], ["x", "accepted"]);
  assertEquals([second.status, second.queueSize], ["queue_full", 1]);
  assertEquals(first.control.inputId === second.control.inputId, false);
  gate.release();
  await run;
  assertEquals(agent.steer("z").status, "agent_idle");
});

test(
  "a tool settles before steering reaches the model",
  { case: "X-100" },
  async () => {
    const wait = waitTool();
    const { agent, sink, model } = agentWith([calls(["wait"]), text("ok")], {
      tools: [wait.tool],
    });
    const run = agent.run("task");
    await wait.entered;
    agent.steer("hurry");
    wait.release();
    await run;
    assertEquals(
      sink.trace(),
      "AS TS1 MC tS(c1) tC(c1) TC1 TS2 SA MC TC2 AF(completed/text_response)",
    );
    assertEquals(
      model.contexts[1]?.llmMessages.slice(-3).map((message) => message.role),
      [
        "assistant",
        "tool",
        "user",
      ],
    );
  },
);

test(
  "a cancelled run discards its steering",
  { case: ["X-101", "B59"] },
  async () => {
    const gate = block();
    const { agent, sink } = agentWith([gate]);
    const run = agent.run("task");
    await gate.entered;
    const receipt = agent.steer("too late");
    agent.abort("no");
    assertEquals(agent.steer("later").status, "run_closing");
    await run;
    assertEquals(
      sink.ofKind("steering_discarded").map((
        { control, reason },
      ) => [control, reason]),
      [
        [receipt.control, "external_abort"],
      ],
    );
    assertEquals(await receipt.outcome, {
      kind: "discarded",
      reason: "external_abort",
    });
    assertEquals(sink.ofKind("steering_applied").length, 0);
    assertEquals(contentsOf(agent.messages), ["P", "task"]);
    assertEquals(agent.pendingSteeringCount, 0);
  },
);

const policy = new CompactionPolicy({
  budget: new ContextBudget({
    contextWindow: 10_000,
    reserveTokens: 100,
    keepRecentTokens: 100,
  }),
});

test("steering is taken at the next safe point of every phase", {
  case: ["X-102", "B58"],
}, async () => {
  const plain = "AS TS1 SA MC TC1 AF(completed/text_response)";
  const twoTurns = "AS TS1 MC TC1 TS2 SA MC TC2 AF(completed/text_response)";
  const phases: [string, string, string][] = [
    ["agent_started", "accepted", plain],
    ["turn_started", "accepted", plain],
    ["message_completed", "accepted", twoTurns],
    [
      "turn_completed",
      "run_closing",
      "AS TS1 MC TC1 AF(completed/text_response)",
    ],
    [
      "agent_finished",
      "run_closing",
      "AS TS1 MC TC1 AF(completed/text_response)",
    ],
  ];
  for (const [kind, status, trace] of phases) {
    let receipt: SteeringReceipt | undefined;
    const { agent, sink } = agentWith([text("one"), text("two")], {
      onEvent: (event) => {
        if (event.kind === kind) receipt ??= agent.steer("S");
      },
    });
    await agent.run("task");
    assertEquals([receipt?.status, sink.trace()], [status, trace], kind);
    const applied = sink.ofKind("steering_applied")[0];
    if (trace === plain) assertEquals(applied?.targetTurn, 1);
  }
});

test("steering during a pressure check is in the same request", {
  case: "X-102",
}, async () => {
  let receipt: SteeringReceipt | undefined;
  const { agent, sink, model } = agentWith([text("one")], {
    compactionPolicy: policy,
    onEvent: (event) => {
      if (event.kind === "context_pressure_evaluated") {
        receipt ??= agent.steer("S");
      }
    },
  });
  await agent.run("task");
  assertEquals(
    sink.trace(),
    "AS TS1 CP SA CP MC TC1 AF(completed/text_response)",
  );
  assertEquals(model.contexts[0]?.llmMessages.at(-1)?.content, "S");
  assertEquals(await receipt?.outcome, { kind: "applied", turn: 1 });
});

test("steering from the sink of other steering makes the same request", {
  case: "X-102",
}, async () => {
  let second: SteeringReceipt | undefined;
  const { agent, sink, model } = agentWith([text("one")], {
    onEvent: (event) => {
      if (event.kind === "turn_started") agent.steer("A");
      if (event.kind === "steering_applied") second ??= agent.steer("B");
    },
  });
  await agent.run("task");
  assertEquals(sink.trace(), "AS TS1 SA SA MC TC1 AF(completed/text_response)");
  assertEquals(contentsOf(model.contexts[0]?.llmMessages ?? []), [
    "P",
    "task",
    "A",
    "B",
  ]);
});

test("a stopping hook beats steering", { case: "X-104" }, async () => {
  const { agent, sink } = agentWith([text("the text")], {
    behaviorHooks: [{ afterTurn: () => behaviorStop() }],
    onEvent: (event) => {
      if (event.kind === "message_completed") agent.steer("S");
    },
  });
  const result = await agent.run("task");
  assertEquals([result.stopReason, result.output], [
    "behavior_stop",
    "the text",
  ]);
  assertEquals(sink.ofKind("steering_discarded")[0]?.reason, "behavior_stop");
});

test("a spent budget beats steering", { case: "X-105" }, async () => {
  const { agent, sink } = agentWith(
    [text("one", { usage: { inputTokens: 20, outputTokens: 5 } })],
    {
      policy: { maxRunTokens: 10 },
      onEvent: (event) => {
        if (event.kind === "message_completed") agent.steer("S");
      },
    },
  );
  const result = await agent.run("task");
  assertEquals([result.stopReason, result.turns], ["token_budget_exceeded", 1]);
  assertEquals(
    sink.ofKind("steering_discarded")[0]?.reason,
    "token_budget_exceeded",
  );
});

test(
  "steering saves an empty answer from being the end",
  { case: "X-106" },
  async () => {
    let steered = false;
    const { agent } = agentWith([text(null), text("two")], {
      onEvent: (event) => {
        if (event.kind !== "message_completed" || steered) return;
        steered = true;
        agent.steer("go on");
      },
    });
    const result = await agent.run("task");
    assertEquals([result.status, result.turns], ["completed", 2]);
  },
);

test("a good answer on the last turn beats steering", async () => {
  const { agent, sink } = agentWith([text("good")], {
    policy: { maxSteps: 1 },
    onEvent: (event) => {
      if (event.kind === "message_completed") agent.steer("S");
    },
  });
  const result = await agent.run("task");
  assertEquals([result.stopReason, result.output], ["text_response", "good"]);
  assertEquals(sink.ofKind("steering_discarded")[0]?.reason, "text_response");
});

test("discarded steering is gone for good", { case: "X-109" }, async () => {
  const { agent, model } = agentWith([calls(["done"]), text("two")], {
    tools: [done],
    onEvent: (event) => {
      if (event.kind === "message_completed" && agent.state.task === "one") {
        agent.steer("S");
      }
    },
  });
  await agent.run("one");
  await agent.run("two");
  assertEquals(
    contentsOf(model.contexts[1]?.llmMessages ?? []).includes("S"),
    false,
  );
});

test("only runs can be steered", { case: ["X-110", "X-186"] }, async () => {
  const wait = waitTool();
  const { agent } = agentWith([], { tools: [wait.tool] });
  const dispatched = agent.dispatch("wait", {});
  await wait.entered;
  assertEquals(agent.steer("x").status, "agent_idle");
  assertEquals(agent.followUp("y").receipt.status, "agent_idle");
  assertEquals(agent.continueRejectionReason, "agent_active");
  wait.release();
  await dispatched;
});

test("a compaction cannot be steered", { case: "X-110" }, async () => {
  const entered = deferred();
  const held = deferred();
  const { agent } = agentWith([text("a"), text("b")], {
    compactionPolicy: new CompactionPolicy({
      budget: new ContextBudget({
        contextWindow: 1000,
        reserveTokens: 10,
        keepRecentTokens: 1,
      }),
    }),
    compactor: {
      async compact() {
        entered.resolve();
        await held.promise;
        return { content: "summary", source: "test" };
      },
    },
  });
  await agent.run("one");
  await agent.run("two");
  const compaction = agent.compact();
  await entered.promise;
  assertEquals(agent.steer("x").status, "agent_idle");
  held.resolve();
  assertEquals((await compaction).status, "completed");
});

test("a run that is still active can be steered during a shutdown", {
  case: "X-111",
}, async () => {
  const gate = block();
  const { agent, sink } = agentWith([gate, text("two")]);
  const run = agent.run("task");
  await gate.entered;
  const stopping = agent.shutdown();
  assertEquals(agent.steer("S").status, "accepted");
  gate.release();
  assertEquals((await run).turns, 2);
  await stopping;
  assertEquals(sink.ofKind("steering_applied").length, 1);
});

test(
  "steering that a failed start-up loses is reported",
  { case: "X-015" },
  async () => {
    const started = deferred();
    const { agent, model, sink, logger } = agentWith([]);
    model.startup = () => started.promise;
    const run = agent.run("go");
    const receipt = agent.steer("z");
    const followUp = agent.followUp("q");
    assertEquals([receipt.status, followUp.accepted], ["accepted", true]);
    const failure = new Error("no model");
    started.reject(failure);
    const error = await run.then(() => null, (reason) => reason);
    assertEquals([error.code, error.cause === failure], [
      "agent_startup",
      true,
    ]);
    assertEquals(error.discardedSteering, [receipt.control]);
    assertEquals(await receipt.outcome, {
      kind: "discarded",
      reason: "startup_failed",
    });
    const discarded = await followUp.wait().then(
      () => null,
      (reason) => reason,
    );
    assertEquals(discarded.reason, "previous_run_not_completed");
    assertEquals([
      sink.events.length,
      agent.messages.length,
      agent.state.status,
    ], [0, 1, "idle"]);
    assertEquals(logger.warnings.length, 1);
    await agent.waitForIdle();
  },
);
