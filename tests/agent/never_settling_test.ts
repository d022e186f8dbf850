import {
  Agent,
  AgentCancelledError,
  type AgentOptions,
  AgentPipelineError,
  type AgentRunResult,
  BaseHandler,
  CompactionPolicy,
  CompositeAgentEventSink,
  ContextBudget,
  defineTool,
  type ModelAdapter,
  type ModelNext,
  type ModelStreamEvent,
  proceed,
  runResult,
} from "../../mod.ts";
import {
  calls,
  ManualClock,
  RecordingEventSink,
  RecordingLogger,
  ScriptedModel,
  text,
} from "../../src/testing/mod.ts";
import { assert, assertEquals, assertRejects } from "../support/assert.ts";
import { type Deferred, deferred } from "../support/deferred.ts";
import { test } from "../support/suite.ts";
import { echo, shapeOf } from "./fixtures.ts";
import { assertClosedTranscript, assertWholeRuns } from "./invariants.ts";
import { watchedController } from "./watched_signal.ts";

/** Enters a place where something never comes back. */
type Stick = () => Promise<never>;

/** A part of an agent that never settles, not even when it is told to stop. */
interface StuckPart {
  readonly name: string;
  parts(stick: Stick): Partial<AgentOptions>;
  /** What the model is asked for. @default one text */
  readonly script?: ConstructorParameters<typeof ScriptedModel>[0];
  readonly trace: string;
  /** Graces that pass until the run has ended. @default {1} */
  readonly graces?: number;
}

const graceMs = 20;
const CANCELLED = "AF(cancelled/external_abort)";

const tight = new CompactionPolicy({
  budget: new ContextBudget({
    contextWindow: 100,
    reserveTokens: 10,
    keepRecentTokens: 5,
  }),
});

/** A model whose stream is made by hand. */
function modelOf(
  iterator: Partial<AsyncIterator<ModelStreamEvent>>,
): ModelAdapter {
  const stream = () => ({ [Symbol.asyncIterator]: () => iterator });
  return {
    complete: () => Promise.reject(new Error("not asked")),
    stream: stream as NonNullable<ModelAdapter["stream"]>,
  };
}

const delta = {
  done: false,
  value: { kind: "text_delta", delta: "x" },
} as const;

const parts: readonly StuckPart[] = [
  {
    name: "a tool",
    script: [calls(["stuck", "stuck"])],
    parts: (stick) => ({
      tools: [defineTool({ name: "stuck", execute: stick })],
    }),
    trace:
      `AS TS1 MC tS(c1) tC(c1,cancelled) tS(c2) tC(c2,cancelled) TC1 ${CANCELLED}`,
  },
  {
    name: "a model that answers as a whole",
    parts: (stick) => ({ model: { complete: stick } }),
    trace: `AS TS1 TC1 ${CANCELLED}`,
  },
  {
    name: "a model that streams",
    parts: (stick) => ({ model: modelOf({ next: stick }) }),
    trace: `AS TS1 TC1 ${CANCELLED}`,
  },
  ...([
    ["hangs", () => new Promise<never>(() => {})],
    ["rejects", () => Promise.reject(new Error("return() failed"))],
    ["throws", () => {
      throw new Error("return() failed");
    }],
  ] as const).map(([how, close]): StuckPart => ({
    name: `a stream whose return() ${how}`,
    parts(stick) {
      let pulled = 0;
      const next = () => pulled++ === 0 ? Promise.resolve(delta) : stick();
      return { model: modelOf({ next, return: close }) };
    },
    trace: `AS TS1 xD TC1 ${CANCELLED}`,
  })),
  {
    name: "middleware around the model",
    parts: (stick) => ({
      middleware: [{
        async *aroundModel(_request, next) {
          await stick();
          return yield* next();
        },
      }],
    }),
    trace: `AS TS1 TC1 ${CANCELLED}`,
  },
  {
    name: "middleware around a tool",
    script: [calls(["echo"])],
    parts: (stick) => ({ tools: [echo], middleware: [{ aroundTool: stick }] }),
    trace: `AS TS1 MC tS(c1) tC(c1,cancelled) TC1 ${CANCELLED}`,
  },
  {
    name: "a hook",
    script: [calls(["echo"])],
    parts: (stick) => ({
      tools: [echo],
      behaviorHooks: [{ afterTurn: stick }],
    }),
    trace: `AS TS1 MC tS(c1) tC(c1) TC1 ${CANCELLED}`,
  },
  {
    name: "a handler that prepares",
    parts: (stick) => ({
      tools: [
        new class extends BaseHandler {
          readonly tools = [{ name: "x" }];
          override onTaskStart = stick;
          dispatch() {
            return proceed(null);
          }
        }(),
      ],
    }),
    trace: `AS ${CANCELLED}`,
  },
  {
    name: "a context provider",
    parts: (stick) => ({
      contextProviders: [{ sourceId: "stuck", beforeRun: stick }],
    }),
    trace: `AS ${CANCELLED}`,
  },
  {
    name: "a skill that is prepared",
    parts: (stick) => ({
      skills: {
        discover: () => Promise.resolve(),
        indexMessage: () => null,
        select: () => "stuck",
        prepare: stick,
        message: () => null,
      },
    }),
    trace: `AS ${CANCELLED}`,
  },
  {
    name: "a history that is loaded",
    parts: (stick) => ({ history: { sourceId: "stuck", load: stick } }),
    trace: `AS ${CANCELLED}`,
  },
  {
    name: "the compactor of a run",
    parts: (stick) => ({
      compactionPolicy: tight,
      autoCompactionPolicy: {},
      compactor: { compact: stick },
    }),
    trace: `AS TS1 CP cS cF(cancelled) TC1 ${CANCELLED}`,
  },
  ...[false, true].map((required): StuckPart => ({
    name: required ? "a required sink" : "a sink",
    parts: (stick) => ({
      eventSink: {
        required,
        emit: (event) =>
          event.kind === "message_completed" ? stick() : undefined,
      },
    }),
    trace: `AS TS1 MC TC1 ${CANCELLED}`,
  })),
  {
    name: "a model, and behind it a sink",
    parts: (stick) => ({
      model: { complete: stick },
      eventSink: {
        emit: (event) => event.kind === "turn_completed" ? stick() : undefined,
      },
    }),
    trace: `AS TS1 TC1 ${CANCELLED}`,
    graces: 2,
  },
];

for (const part of parts) {
  for (const late of ["resolves", "rejects"] as const) {
    test(
      `an abort leaves ${part.name} behind that later ${late}`,
      () => abandon(part, late),
    );
  }
}

async function abandon(
  part: StuckPart,
  late: "resolves" | "rejects",
): Promise<void> {
  const world = stuckWorld(part);
  const { agent, clock, caller, sink, stuck } = world;
  agent.reset([
    { role: "user", content: "old ".repeat(100) },
    { role: "assistant", content: "old answer" },
  ]);
  const run = agent.run("go", { signal: caller.signal });
  await stuck.entered.promise;
  assertEquals(agent.abort("stop"), true);
  for (let grace = 0; grace < (part.graces ?? 1); grace++) {
    await clock.advanceAsync(graceMs);
  }
  const result = await run;
  await agent.waitForIdle();
  assertEquals([result.stopReason, result.error], ["external_abort", "stop"]);
  assertEquals(sink.trace(), part.trace);
  assertLeft(world);

  const messages = agent.messages;
  if (late === "resolves") stuck.promise.resolve(undefined as never);
  else stuck.promise.reject(new Error("Nobody waits for this"));
  await clock.advanceAsync(graceMs);
  assertEquals([sink.trace(), agent.messages], [part.trace, messages]);
  assertLeft(world);
}

interface StuckWorld {
  readonly agent: Agent;
  readonly clock: ManualClock;
  readonly caller: ReturnType<typeof watchedController>;
  readonly sink: RecordingEventSink;
  readonly logger: RecordingLogger;
  readonly stuck: {
    readonly entered: Deferred<void>;
    readonly promise: Deferred<never>;
  };
}

function stuckWorld(
  part: Pick<StuckPart, "parts" | "script">,
  options: Partial<AgentOptions> = {},
): StuckWorld {
  const clock = new ManualClock();
  const sink = new RecordingEventSink();
  const logger = new RecordingLogger();
  const stuck = { entered: deferred(), promise: deferred<never>() };
  const stick = () => {
    stuck.entered.resolve();
    return stuck.promise.promise;
  };
  const { eventSink, ...rest } = part.parts(stick);
  const agent = new Agent({
    agentId: "a",
    systemPrompt: "P",
    model: new ScriptedModel(part.script ?? (() => text("done"))),
    clock,
    logger,
    runtimePolicy: { abortGraceMs: graceMs },
    ...options,
    ...rest,
    eventSink: new CompositeAgentEventSink([
      ...(eventSink === undefined ? [] : [eventSink]),
      sink,
    ]),
  });
  return { agent, clock, caller: watchedController(), sink, logger, stuck };
}

function assertLeft({ agent, clock, caller, sink }: StuckWorld): void {
  assertEquals([clock.pending, caller.listenerCount], [0, 0]);
  assertEquals(agent.abort(), false);
  assertWholeRuns(sink.events);
  assertClosedTranscript(agent.messages);
}

test("work that is given up is reported once", async () => {
  const { agent, clock, logger, stuck } = stuckWorld({
    script: [calls(["stuck"])],
    parts: (stick) => ({
      tools: [defineTool({ name: "stuck", execute: stick })],
    }),
  });
  const run = agent.run("go");
  await stuck.entered.promise;
  agent.abort("stop");
  await clock.advanceAsync(graceMs);
  await run;
  assertEquals(logger.warnings, [{
    message: "Work that ignored its abort signal was abandoned",
    details: { reason: "stop", count: 1 },
  }]);
});

test("an abort leaves a dispatched tool behind", async () => {
  const world = stuckWorld({
    parts: (stick) => ({
      tools: [defineTool({ name: "stuck", execute: stick })],
    }),
  });
  const { agent, clock, stuck } = world;
  const dispatched = agent.dispatch("stuck", {});
  await stuck.entered.promise;
  agent.abort("stop");
  await Promise.all([
    assertRejects(() => dispatched, AgentCancelledError, "stop"),
    clock.advanceAsync(graceMs),
  ]);
  stuck.promise.reject(new Error("late"));
  assertLeft(world);
});

test("an abort leaves an explicit compaction behind wherever it is stuck", async () => {
  const stuckIn: readonly StuckPart["parts"][] = [
    (stick) => ({ compactor: { compact: stick } }),
    (stick) => ({
      history: {
        sourceId: "stuck",
        load: ({ kind }) =>
          kind === "compaction" ? stick() : Promise.resolve(null),
      },
      compactor: { compact: () => ({ content: "short", source: "test" }) },
    }),
  ];
  for (const parts of stuckIn) {
    const world = stuckWorld({
      parts: (stick) => ({ compactionPolicy: tight, ...parts(stick) }),
    });
    const { agent, clock, sink, stuck } = world;
    agent.reset([
      { role: "user", content: "old ".repeat(100) },
      { role: "assistant", content: "old answer" },
      { role: "user", content: "new" },
    ]);
    const before = agent.messages;
    const compaction = agent.compact();
    await stuck.entered.promise;
    assertEquals(agent.abort("stop"), true);
    await clock.advanceAsync(graceMs);
    const { status, error } = await compaction;
    assertEquals([status, error], ["cancelled", "stop"]);
    assertEquals([sink.trace(), agent.messages], ["cS cF(cancelled)", before]);
    stuck.promise.reject(new Error("late"));
    assertLeft(world);
  }
});

test("what follows a run has its own bound and cannot be aborted", async () => {
  const stuckIn: readonly StuckPart["parts"][] = [
    (stick) => ({
      contextProviders: [{ sourceId: "stuck", afterRun: stick }],
    }),
    (stick) => ({
      history: {
        sourceId: "stuck",
        load: () => Promise.resolve(null),
        save: stick,
      },
    }),
  ];
  for (const [index, parts] of stuckIn.entries()) {
    const world = stuckWorld({ parts }, { providerTimeoutMs: 100 });
    const { agent, clock, stuck } = world;
    const run = agent.run("go");
    await stuck.entered.promise;
    assertEquals(agent.abort("too late"), false);
    await clock.advanceAsync(99);
    assertEquals(agent.lifecycle, "running");
    await clock.advanceAsync(1);
    // A conversation that could not be kept is no success; an observer that hangs is none of its business.
    const expected = ["text_response", "runtime_error"][index];
    assertEquals((await run).stopReason, expected);
    stuck.promise.reject(new Error("late"));
    assertLeft(world);
  }
});

test("a stream whose return() never settles does not hold its answer back", async () => {
  const passing = {
    async *aroundModel(_request: unknown, next: ModelNext) {
      return yield* next();
    },
  };
  for (const middleware of [[], [passing]]) {
    let closed = 0;
    const value = text("answer").response;
    const agent = new Agent({
      agentId: "a",
      middleware,
      model: modelOf({
        next: () => Promise.resolve({ done: false, value }),
        return() {
          closed += 1;
          return new Promise(() => {});
        },
      }),
    });
    assertEquals((await agent.run("go")).output, "answer");
    assertEquals(closed, 1);
  }
});

test("a stream that breaks its contract is closed through all middleware", async () => {
  const passing = {
    async *aroundModel(_request: unknown, next: ModelNext) {
      return yield* next();
    },
  };
  for (const middleware of [[], [passing], [passing, passing]]) {
    let closed = 0;
    const value = { kind: "text_delta", delta: 7 } as unknown;
    const agent = new Agent({
      agentId: "a",
      middleware,
      model: modelOf({
        next: () =>
          Promise.resolve({ done: false, value: value as ModelStreamEvent }),
        return() {
          closed += 1;
          return Promise.resolve({ done: true, value: undefined });
        },
      }),
    });
    const { failure } = await agent.run("go");
    assertEquals([failure?.code, closed], ["protocol_error", 1]);
  }
});

test("agent middleware that was given up cannot begin a run", async () => {
  const late = deferred<unknown>();
  const { agent, clock, sink, stuck } = stuckWorld({
    parts: (stick) => ({
      middleware: [{
        async *aroundRun(request, next) {
          if (request.task !== "one") return yield* next();
          await stick().catch(() => {});
          const { value } = await next().next().catch((error: unknown) => {
            late.resolve(error);
            throw error;
          });
          return value as AgentRunResult;
        },
      }],
    }),
  });
  const run = agent.run("one");
  await stuck.entered.promise;
  agent.abort("stop");
  await clock.advanceAsync(graceMs);
  assertEquals((await run).error, "stop");
  const next = agent.run("two");
  stuck.promise.reject(new Error("late"));
  assert(await late.promise instanceof AgentPipelineError);
  assertEquals((await next).status, "completed");
  assertEquals([sink.trace(), shapeOf(agent.messages)], [
    "AS TS1 MC TC1 AF(completed/text_response)",
    "u a",
  ]);
});

test("a core run that agent middleware leaves open ends with the operation", async () => {
  const clock = new ManualClock();
  const sink = new RecordingEventSink();
  const agent = new Agent({
    agentId: "a",
    clock,
    model: new ScriptedModel([calls(["echo"]), text("done")]),
    tools: [echo],
    eventSink: sink,
    middleware: [{
      async *aroundRun(request, next) {
        if (request.task !== "one") return yield* next();
        await next().next();
        return runResult({ stopReason: "text_response", output: "mine" });
      },
    }],
  });
  const first = agent.run("one");
  const second = agent.run("two");
  assertEquals((await first).output, "mine");
  await second;
  assertWholeRuns(sink.events);
  assertClosedTranscript(agent.messages);
  assertEquals(sink.ofKind("agent_finished")[0]?.result.status, "cancelled");
  assertEquals(clock.pending, 0);
});

test("leaving a core run after its end leaves no timer", async () => {
  const clock = new ManualClock();
  const agent = new Agent({
    agentId: "a",
    clock,
    model: new ScriptedModel([text("done")]),
    middleware: [{
      async *aroundRun(_request, next) {
        for await (const event of next()) {
          yield event;
          // The run is over long before its last event is read.
          for (let tick = 0; tick < 100; tick++) await null;
          if (event.kind === "agent_finished") break;
        }
        return runResult({ stopReason: "text_response" });
      },
    }],
  });
  await agent.run("go");
  assertEquals(clock.pending, 0);
});

test("closing the stream of a run that never began leaves no timer", async () => {
  const clock = new ManualClock();
  const agent = new Agent({
    agentId: "a",
    clock,
    model: new ScriptedModel([]),
  });
  const refused = agent.continueStream();
  await assertRejects(() => refused.finalResult());
  await refused.close();
  const stopping = agent.shutdown();
  const late = agent.stream("go");
  await assertRejects(() => late.finalResult());
  await late.close();
  await stopping;
  assertEquals(clock.pending, 0);
});

test("a signal that is used for thousands of runs keeps no listener", {
  timeoutMs: 120_000,
}, async () => {
  const caller = watchedController();
  const { signal } = caller;
  const { message } = text("done").response;
  const agent = new Agent({
    agentId: "a",
    model: { complete: () => Promise.resolve(message) },
  });
  let most = 0;
  for (let run = 0; run < 10_000; run++) {
    const running = agent.run("go", { signal });
    most = Math.max(most, caller.listenerCount);
    await running;
    agent.reset();
  }
  assertEquals([most, caller.listenerCount], [1, 0]);
});
