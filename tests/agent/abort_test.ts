import {
  AgentCancelledError,
  BaseHandler,
  DEFAULT_ABORT_REASON,
  defineTool,
  proceed,
} from "../../mod.ts";
import {
  block,
  calls,
  deltas,
  events,
  text,
  thinking,
} from "../../src/testing/mod.ts";
import {
  assert,
  assertEquals,
  assertNotEquals,
  assertRejects,
  assertStringIncludes,
} from "../support/assert.ts";
import { deferred } from "../support/deferred.ts";
import { test } from "../support/suite.ts";
import {
  agentWith,
  done,
  echo,
  shapeOf,
  toolResultsOf,
  waitTool,
} from "./fixtures.ts";

test("an abort ends a waiting model request", { case: "X-070" }, async () => {
  const gate = block();
  const { agent, sink, model } = agentWith([gate, text("second")]);
  assertEquals(agent.abort(), false);
  const run = agent.run("go");
  await gate.entered;
  assertEquals([agent.abort("stopped by user"), agent.abort("again")], [
    true,
    false,
  ]);
  const result = await run;
  assertEquals([result.status, result.stopReason, result.error], [
    "cancelled",
    "external_abort",
    "stopped by user",
  ]);
  assertEquals(sink.trace(), "AS TS1 TC1 AF(cancelled/external_abort)");
  const first = model.requests[0]?.call.signal;
  assertEquals([first?.aborted, shapeOf(agent.messages)], [true, "u"]);
  assertEquals((await agent.run("more")).output, "second");
  const second = model.requests[1]?.call.signal;
  assertNotEquals(first, second);
  assertEquals(second?.aborted, false);
});

test(
  "an abort without a reason has a fixed text",
  { case: ["X-071", "TL-61"] },
  async () => {
    for (const reason of [undefined, "", "  "]) {
      const gate = block();
      const { agent } = agentWith([gate]);
      const run = agent.run("go");
      await gate.entered;
      agent.abort(reason);
      assertEquals((await run).error, DEFAULT_ABORT_REASON);
    }
  },
);

test("an abort whose reason cannot be read is an abort", async () => {
  const unreadable = () => {
    throw new Error("do not look at me");
  };
  const reasons: unknown[] = [
    Object.create(null),
    Object.assign(new Error(), { message: 5 }),
    Object.defineProperty(new Error(), "message", { get: unreadable }),
    { toString: unreadable },
  ];
  for (const reason of reasons) {
    const gate = block();
    const { agent } = agentWith([gate]);
    const caller = new AbortController();
    const run = agent.run("go", { signal: caller.signal });
    await gate.entered;
    caller.abort(reason);
    const { status, error } = await run;
    assertEquals([status, error], ["cancelled", DEFAULT_ABORT_REASON]);
  }
});

test(
  "an abort before the first turn leaves two events",
  { case: "X-072" },
  async () => {
    let tasks = 0;
    class Counting extends BaseHandler {
      readonly tools = [{ name: "x" }];
      override onTaskStart(): void {
        tasks += 1;
      }
      dispatch() {
        return proceed(null);
      }
    }
    const { agent, sink, model } = agentWith([], {
      tools: [new Counting()],
      onEvent: (event) => {
        if (event.kind === "agent_started") agent.abort("no");
      },
    });
    const result = await agent.run("go");
    assertEquals(sink.trace(), "AS AF(cancelled/external_abort)");
    assertEquals([
      result.turns,
      result.usage.requestCount,
      tasks,
      model.requests.length,
    ], [0, 0, 0, 0]);
  },
);

test("an abort during start-up waits for it and cancels the run", {
  case: "X-073",
}, async () => {
  const started = deferred();
  const { agent, sink, model } = agentWith([]);
  model.startup = () => started.promise;
  const run = agent.run("go");
  assertEquals(agent.abort("r"), true);
  assertEquals(agent.steer("x").status, "run_closing");
  assertEquals(agent.followUp("y").receipt.status, "run_closing");
  assertEquals(sink.events.length, 0);
  started.resolve();
  const result = await run;
  assertEquals([result.status, result.turns, shapeOf(agent.messages)], [
    "cancelled",
    0,
    "u",
  ]);
  assertEquals(sink.trace(), "AS AF(cancelled/external_abort)");
});

test(
  "an abort interrupts a handler that prepares",
  { case: "X-074" },
  async () => {
    const entered = deferred();
    class Slow extends BaseHandler {
      readonly tools = [{ name: "x" }];
      override onTaskStart(): Promise<void> {
        entered.resolve();
        return new Promise(() => {});
      }
      dispatch() {
        return proceed(null);
      }
    }
    const { agent, sink } = agentWith([], { tools: [new Slow()] });
    const run = agent.run("go");
    await entered.promise;
    agent.abort("no");
    assertEquals((await run).turns, 0);
    assertEquals(sink.trace(), "AS AF(cancelled/external_abort)");
  },
);

test(
  "an abort while an answer streams drops it",
  { case: "X-076" },
  async () => {
    for (const piece of ["partial", thinking("unfinished")]) {
      let cleanedUp = false;
      const gate = block();
      const { agent, sink } = agentWith([events(async function* ({ signal }) {
        try {
          yield* deltas([piece]).deltas;
          await gate.enter(signal);
        } finally {
          cleanedUp = true;
        }
      })]);
      const run = agent.run("go");
      await gate.entered;
      agent.abort("no");
      await run;
      const kind = typeof piece === "string" ? "xD" : "hD";
      assertEquals(
        sink.trace(),
        `AS TS1 ${kind} TC1 AF(cancelled/external_abort)`,
      );
      assertEquals([cleanedUp, shapeOf(agent.messages)], [true, "u"]);
    }
  },
);

test(
  "no delta follows an abort in the sink of one",
  { case: "X-077" },
  async () => {
    const { agent, sink } = agentWith([deltas(["a", "b"])], {
      onEvent: (event) => {
        if (event.kind === "assistant_text_delta") agent.abort("no");
      },
    });
    await agent.run("go");
    assertEquals(sink.trace(), "AS TS1 xD TC1 AF(cancelled/external_abort)");
  },
);

test(
  "an abort after the answer keeps it and still cancels",
  { case: "X-078" },
  async () => {
    const { agent, sink } = agentWith([text("hi")], {
      onEvent: (event) => {
        if (event.kind === "message_completed") agent.abort("no");
      },
    });
    assertEquals((await agent.run("go")).stopReason, "external_abort");
    assertEquals(sink.trace(), "AS TS1 MC TC1 AF(cancelled/external_abort)");
    assertEquals(shapeOf(agent.messages), "u a");
  },
);

test("an abort while the first of two tools runs settles both", {
  case: ["X-080", "B01", "B03", "TL-60"],
}, async () => {
  const wait = waitTool();
  const { agent, sink } = agentWith([calls(["wait", "wait"]), text("later")], {
    tools: [wait.tool],
  });
  const run = agent.run("go");
  await wait.entered;
  assertEquals([agent.abort("stopped"), agent.abort()], [true, false]);
  const result = await run;
  assertEquals([result.stopReason, result.error, wait.callCount], [
    "external_abort",
    "stopped",
    1,
  ]);
  assertEquals(
    sink.trace(),
    "AS TS1 MC tS(c1) tC(c1,cancelled) tS(c2) tC(c2,cancelled) TC1 AF(cancelled/external_abort)",
  );
  assertEquals(shapeOf(agent.messages), "u a+ t(c1) t(c2)");
  const cancelled = { status: "cancelled", tool: "wait", error: "stopped" };
  assertEquals(toolResultsOf(agent.messages), [cancelled, cancelled]);
  await agent.run("next");
  assertEquals(shapeOf(agent.messages), "u a+ t(c1) t(c2) u a");
});

test("an abort in the sink of a starting tool calls no handler", {
  case: "X-081",
}, async () => {
  let executed = 0;
  const counted = defineTool({ name: "echo", execute: () => ++executed });
  const { agent, sink } = agentWith([calls(["echo", "done"])], {
    tools: [counted, done],
    onEvent: (event) => {
      if (event.kind === "tool_started") agent.abort("no");
    },
  });
  await agent.run("go");
  assertEquals(executed, 0);
  assertStringIncludes(
    sink.trace(),
    "tS(c1) tC(c1,cancelled) tS(c2) tC(c2,cancelled)",
  );
});

test("an abort in the sink of a completed tool keeps its data", {
  case: "X-081",
}, async () => {
  const { agent, sink } = agentWith([calls(["echo", "done"])], {
    tools: [echo, done],
    onEvent: (event) => {
      if (event.kind === "tool_completed") agent.abort("no");
    },
  });
  assertEquals((await agent.run("go")).stopReason, "external_abort");
  assertStringIncludes(sink.trace(), "tS(c1) tC(c1) tS(c2) tC(c2,cancelled)");
});

test("every call is settled when the abort comes with their message", {
  case: "X-081",
}, async () => {
  const { agent } = agentWith([calls(["echo", "done"])], {
    tools: [echo, done],
    onEvent: (event) => {
      if (event.kind === "message_completed") agent.abort("no");
    },
  });
  assertEquals((await agent.run("go")).stopReason, "external_abort");
  assertEquals(shapeOf(agent.messages), "u a+ t(c1) t(c2)");
});

test(
  "an abort at the end of a turn asks no hook",
  { case: "X-084" },
  async () => {
    const asked: number[] = [];
    const { agent, sink } = agentWith([calls(["echo"])], {
      tools: [echo],
      behaviorHooks: [{ afterTurn: (turn) => void asked.push(turn.turn) }],
      onEvent: (event) => {
        if (event.kind === "turn_completed") agent.abort("no");
      },
    });
    assertEquals((await agent.run("go")).stopReason, "external_abort");
    assertEquals(asked, []);
    assertEquals(sink.ofKind("turn_started").length, 1);
  },
);

test("an abort interrupts a slow hook", { case: "X-085" }, async () => {
  const entered = deferred<AbortSignal>();
  const { agent, sink } = agentWith([calls(["echo"])], {
    tools: [echo],
    behaviorHooks: [{
      afterTurn: (_turn, { signal }) => {
        entered.resolve(signal);
        return new Promise<null>(() => {});
      },
    }],
  });
  const run = agent.run("go");
  const signal = await entered.promise;
  let idle = false;
  const waiting = agent.waitForIdle().then(() => idle = true);
  assertEquals(agent.abort("cancel slow behavior"), true);
  assertEquals([(await run).error, signal.aborted], [
    "cancel slow behavior",
    true,
  ]);
  await waiting;
  assert(idle);
  assertEquals(sink.kinds.at(-1), "agent_finished");
});

test("an abort on the last permitted turn beats the limit", async () => {
  const { agent } = agentWith([calls(["echo"])], {
    tools: [echo],
    policy: { maxSteps: 1 },
    onEvent: (event) => {
      if (event.kind === "turn_completed") agent.abort("no");
    },
  });
  assertEquals((await agent.run("go")).stopReason, "external_abort");
});

test("an abort hits the active run only", { case: "X-088" }, async () => {
  const gate = block();
  const { agent } = agentWith([gate, text("y done")]);
  const [x, y] = [agent.run("x"), agent.run("y")];
  await gate.entered;
  agent.abort("only x");
  assertEquals([(await x).status, (await y).status], [
    "cancelled",
    "completed",
  ]);
});

test(
  "the caller's signal aborts exactly its run",
  { case: "X-094" },
  async () => {
    const gate = block();
    const { agent, sink } = agentWith([gate, text("next")]);
    const controller = new AbortController();
    const listeners = countListeners(controller.signal);
    const run = agent.run("x", { signal: controller.signal });
    await gate.entered;
    controller.abort(new Error("bye"));
    const result = await run;
    assertEquals([result.stopReason, result.error], ["external_abort", "bye"]);
    assertEquals(sink.trace(), "AS TS1 TC1 AF(cancelled/external_abort)");
    assertEquals(listeners(), 0);
    assertEquals((await agent.run("y")).output, "next");
  },
);

test(
  "an aborted signal gives a place in the queue up",
  { case: "X-095" },
  async () => {
    const gate = block();
    const { agent, sink } = agentWith([gate, text("z done")]);
    const controller = new AbortController();
    const x = agent.run("x");
    const y = agent.run("y", { signal: controller.signal });
    const z = agent.run("z");
    await gate.entered;
    controller.abort("changed my mind");
    await assertRejects(() => y, AgentCancelledError, "changed my mind");
    gate.release(text("x done"));
    assertEquals([(await x).output, (await z).output], ["x done", "z done"]);
    assertEquals(sink.ofKind("agent_started").map((event) => event.task), [
      "x",
      "z",
    ]);
    const before = sink.events.length;
    await assertRejects(
      () =>
        agent.run("q", { signal: AbortSignal.abort(new Error("too late")) }),
      AgentCancelledError,
      "too late",
    );
    assertEquals(sink.events.length, before);
  },
);

test(
  "an idle agent has delivered its last event",
  { case: "X-096" },
  async () => {
    const gate = block();
    const held = deferred();
    const last = deferred();
    const { agent } = agentWith([gate], {
      policy: { abortGraceMs: 1_000_000 },
      onEvent: async (event) => {
        if (event.kind !== "agent_finished") return;
        last.resolve();
        await held.promise;
      },
    });
    const settled: string[] = [];
    const run = agent.run("go").then(() => settled.push("run"));
    await gate.entered;
    agent.abort("no");
    const idle = agent.waitForIdle().then(() => settled.push("idle"));
    await last.promise;
    assertEquals(settled, []);
    held.resolve();
    await Promise.all([run, idle]);
    assertEquals(settled.length, 2);
  },
);

test(
  "an agent is reusable after every kind of end",
  { case: "X-097" },
  async () => {
    const { agent, model } = agentWith([
      text("completed"),
      text(null),
      calls(["echo", "done"]),
      calls(["echo"]),
      text("last"),
    ], {
      tools: [echo, done],
      onEvent: (event) => {
        if (
          event.kind === "tool_started" && agent.state.task === "cancel"
        ) agent.abort("no");
      },
    });
    for (const task of ["complete", "fail", "finish", "cancel"]) {
      await agent
        .run(task);
    }
    assertEquals((await agent.run("again")).output, "last");
    const sent = model.contexts.at(-1)?.llmMessages ?? [];
    assertEquals(shapeOf(sent), "u a u u a+ t(c1) t(c2) u a+ t(c1_2) u");
  },
);

function countListeners(signal: AbortSignal): () => number {
  let count = 0;
  const add = signal.addEventListener.bind(signal);
  const remove = signal.removeEventListener.bind(signal);
  signal.addEventListener = (...args: Parameters<typeof add>) => {
    count += 1;
    add(...args);
  };
  signal.removeEventListener = (...args: Parameters<typeof remove>) => {
    count -= 1;
    remove(...args);
  };
  return () => count;
}
