import {
  Agent,
  type AgentEventSink,
  AgentEventSinkError,
  CompositeAgentEventSink,
  consoleLogger,
} from "../../mod.ts";
import {
  calls,
  ManualClock,
  RecordingEventSink,
  RecordingLogger,
  ScriptedModel,
  text,
} from "../../src/testing/mod.ts";
import { assertEquals, assertRejects } from "../support/assert.ts";
import { deferred } from "../support/deferred.ts";
import { test } from "../support/suite.ts";
import { agentWith, echo, shapeOf } from "./fixtures.ts";

const broken: AgentEventSink = {
  emit() {
    throw new Error("broken");
  },
};

function observedBy(eventSink: AgentEventSink, script = [text("hi")]) {
  const logger = new RecordingLogger();
  const model = new ScriptedModel(script);
  return {
    agent: new Agent({ agentId: "a", model, eventSink, logger }),
    logger,
  };
}

test("a failing sink never changes the result", { case: "X-139" }, async () => {
  const { agent, logger, sink } = agentWith([text("hi")], {
    onEvent: () => {
      throw new Error("broken");
    },
  });
  assertEquals((await agent.run("go")).status, "completed");
  assertEquals([sink.events.length, logger.warnings.length], [5, 5]);
});

test("a warning says whether the run goes on without its sink", async () => {
  const cases = [
    [true, "A run could not be recorded"],
    [false, "An event sink failed"],
  ] as const;
  for (const [required, message] of cases) {
    const { agent, logger } = observedBy({ ...broken, required });
    await agent.run("go");
    assertEquals(logger.warnings[0]!.message, message);
  }
});

test("a composite keeps its members apart", { case: "X-140" }, async () => {
  const [recorder, observer] = [
    new RecordingEventSink(),
    new RecordingEventSink(),
  ];
  const { agent, logger } = observedBy(
    new CompositeAgentEventSink([broken, recorder, observer]),
  );
  await agent.run("go");
  assertEquals([recorder.events.length, observer.events.length], [5, 5]);
  assertEquals(logger.warnings.length, 5);
});

test("a composite on its own reports all failures after all members", async () => {
  const recorder = new RecordingEventSink();
  const composite = new CompositeAgentEventSink([broken, recorder, broken]);
  await agentWith([text("x")], {
    onEvent: async (event) => {
      if (event.kind !== "agent_finished") return;
      const error = await assertRejects(
        () => composite.emit(event),
        AgentEventSinkError,
      );
      assertEquals(error.errors.length, 2);
    },
  }).agent.run("go");
  assertEquals(recorder.events.length, 1);
});

test(
  "sinks may answer at once, later or with any thenable",
  { case: "X-187" },
  async () => {
    const log: string[] = [];
    const thenable: AgentEventSink = {
      emit: (event) => ({
        then(resolve: (value: never) => void) {
          log.push(event.kind);
          resolve(undefined as never);
        },
      } as PromiseLike<void>),
    };
    const silent: AgentEventSink = { emit: () => {} };
    const { agent, logger } = observedBy(
      new CompositeAgentEventSink([thenable, silent, broken]),
    );
    assertEquals((await agent.run("go")).status, "completed");
    assertEquals([log.length, logger.warnings.length], [5, 5]);
  },
);

test("events never overtake each other, however slow a sink is", async () => {
  const order: number[] = [];
  const slow: AgentEventSink = {
    async emit(event) {
      for (let i = 0; i < 6 - event.sequence; i++) await Promise.resolve();
      order.push(event.sequence);
    },
  };
  const { agent } = observedBy(slow);
  await agent.run("go");
  assertEquals(order, [1, 2, 3, 4, 5]);
});

test("a required sink that fails stops the run before its next effect", {
  case: "X-142",
}, async () => {
  const ordinary = new RecordingEventSink();
  const required = new RecordingEventSink({
    required: true,
    onEvent: (event) => {
      if (event.kind === "message_completed") throw new Error("disk full");
    },
  });
  const model = new ScriptedModel([calls(["echo"]), text("x")]);
  const logger = new RecordingLogger();
  const agent = new Agent({
    agentId: "a",
    model,
    logger,
    tools: [echo],
    eventSink: new CompositeAgentEventSink([ordinary, required]),
  });
  const result = await agent.run("go");
  assertEquals([result.status, result.stopReason], ["failed", "runtime_error"]);
  assertEquals(result.failure?.code, "persistence_failed");
  assertEquals(
    ordinary.trace(),
    "AS TS1 MC tS(c1) tC(c1,cancelled) TC1 AF(failed/runtime_error)",
  );
  assertEquals(required.trace(), "AS TS1 MC");
  assertEquals([shapeOf(agent.messages), model.requests.length], [
    "u a+ t(c1)",
    1,
  ]);
});

test("a required sink that fails at the end changes the result for everyone", {
  case: "X-143",
}, async () => {
  const ordinary = new RecordingEventSink();
  const required = new RecordingEventSink({
    required: true,
    onEvent: (event) => {
      if (event.kind === "agent_finished") throw new Error("disk full");
    },
  });
  const { agent } = observedBy(
    new CompositeAgentEventSink([ordinary, required]),
  );
  const result = await agent.run("go");
  assertEquals([result.stopReason, result.failure?.code], [
    "runtime_error",
    "persistence_failed",
  ]);
  assertEquals(ordinary.ofKind("agent_finished")[0]?.result, result);
  assertEquals(agent.state.lastRunResult, result);
  assertEquals(agent.state.status, "failed");
});

test(
  "a sink that hangs is detached after its time",
  { case: "X-189" },
  async () => {
    const clock = new ManualClock();
    const entered = deferred();
    const ordinary = new RecordingEventSink();
    const hanging: AgentEventSink = {
      emit(event) {
        if (event.kind !== "message_completed") return;
        entered.resolve();
        return new Promise<void>(() => {});
      },
    };
    const logger = new RecordingLogger();
    const agent = new Agent({
      agentId: "a",
      model: new ScriptedModel([text("hi")]),
      eventSink: new CompositeAgentEventSink([hanging, ordinary]),
      sinkTimeoutMs: 30,
      clock,
      logger,
    });
    const run = agent.run("go");
    await entered.promise;
    clock.advance(30);
    assertEquals((await run).status, "completed");
    assertEquals(ordinary.trace(), "AS TS1 MC TC1 AF(completed/text_response)");
    assertEquals([logger.warnings.length, clock.pending], [1, 0]);
  },
);

test("a run writes nothing to the console unless something is wrong", {
  case: "X-196",
}, async () => {
  const written: unknown[] = [];
  const original = { ...console };
  for (const name of ["log", "info", "warn", "error", "debug"] as const) {
    console[name] = (...args: unknown[]) => void written.push([name, args[0]]);
  }
  try {
    const model = () => new ScriptedModel([text("hi")]);
    await new Agent({ agentId: "a", model: model() }).run("go");
    assertEquals(written, []);
    await new Agent({ agentId: "a", model: model(), eventSink: broken }).run(
      "go",
    );
    assertEquals(written.length, 5);
    written.length = 0;
    await observedBy(broken).agent.run("go");
    assertEquals(written, []);
    consoleLogger.warn("plain");
    assertEquals(written, [["warn", "plain"]]);
  } finally {
    Object.assign(console, original);
  }
});
