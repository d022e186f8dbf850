import {
  Agent,
  AgentCancelledError,
  type AgentEvent,
  type AgentMessage,
  type AgentOptions,
  BaseHandler,
  behaviorContinue,
  CompactionPolicy,
  ContextBudget,
  proceed,
} from "../../mod.ts";
import {
  calls,
  deltas,
  events,
  ManualClock,
  RecordingEventSink,
  ScriptedModel,
  type ScriptStep,
  silentLogger,
  text,
  thinking,
} from "../../src/testing/mod.ts";
import { defineTool } from "../../src/tools/define_tool.ts";
import { assert, assertEquals, assertRejects } from "../support/assert.ts";
import { deferred } from "../support/deferred.ts";
import { test } from "../support/suite.ts";
import { aborted, done, echo, shapeOf } from "./fixtures.ts";
import {
  assertClosedTranscript,
  assertCommitted,
  assertWholeRuns,
} from "./invariants.ts";
import { type WatchedController, watchedController } from "./watched_signal.ts";

/** Interrupts the operation at hand, the first time it is called. */
type Interrupt = () => void;

/** One moment of a run at which it is interrupted. */
interface Moment {
  readonly name: string;
  /** What the model answers, request by request; afterwards "done". */
  readonly script?: readonly ScriptStep[];
  /** Messages behind the system messages before the run. */
  readonly history?: readonly AgentMessage[];
  /** Called with every event. */
  at?(event: AgentEvent, interrupt: Interrupt, agent: Agent): void;
  /** Parts of the agent that interrupt. */
  parts?(interrupt: Interrupt): Partial<AgentOptions>;
  /** Interrupts from within the start-up of the model. */
  readonly inStartup?: boolean;
  /** Continues the run that was before instead of running a task. */
  readonly continues?: boolean;
  readonly expected: {
    /** False if the end is decided and nothing can change it any more. */
    readonly effective: boolean;
    readonly trace: string;
    readonly shape: string;
    readonly requestCount: number;
    /** How the run ends if the interruption has no effect. */
    readonly stopReason?: string;
  };
}

const CANCELLED = "AF(cancelled/external_abort)";
const readTwice = calls(["read", "read"]);

/** A moment at which the sink of an event interrupts. */
function inSinkOf(
  kind: AgentEvent["kind"],
  rest: Pick<Moment, "expected"> & Partial<Moment>,
): Moment {
  return {
    name: `in the sink of ${kind}`,
    at: (event, interrupt) => void (event.kind === kind && interrupt()),
    ...rest,
  };
}

/** A tool that interrupts and then waits for the abort. */
function interruptedTool(interrupt: Interrupt, name = "work") {
  return defineTool({
    name,
    async execute(_args: Record<string, unknown>, { signal }) {
      interrupt();
      if (signal.aborted) await aborted(signal);
      return "worked";
    },
  });
}

const roomy = new CompactionPolicy({
  budget: new ContextBudget({
    contextWindow: 100_000,
    reserveTokens: 10,
    keepRecentTokens: 10,
  }),
});

const tight = new CompactionPolicy({
  budget: new ContextBudget({
    contextWindow: 100,
    reserveTokens: 10,
    keepRecentTokens: 5,
  }),
});

const longHistory: readonly AgentMessage[] = [
  { role: "user", content: "old ".repeat(100) },
  { role: "assistant", content: "old answer" },
];

const moments: readonly Moment[] = [
  {
    name: "while the resources start",
    inStartup: true,
    expected: {
      effective: true,
      trace: `AS ${CANCELLED}`,
      shape: "u",
      requestCount: 0,
    },
  },
  {
    name: "while the history is loaded",
    parts: (interrupt) => ({
      history: {
        sourceId: "slow",
        async load({ kind, signal }) {
          if (kind !== "task") return null;
          interrupt();
          if (signal.aborted) await aborted(signal);
          return null;
        },
      },
    }),
    expected: {
      effective: true,
      trace: `AS ${CANCELLED}`,
      shape: "u",
      requestCount: 0,
    },
  },
  inSinkOf("agent_started", {
    expected: {
      effective: true,
      trace: `AS ${CANCELLED}`,
      shape: "u",
      requestCount: 0,
    },
  }),
  inSinkOf("agent_continued", {
    continues: true,
    expected: {
      effective: true,
      trace: `AC ${CANCELLED}`,
      shape: "u a",
      requestCount: 0,
    },
  }),
  {
    name: "while a handler prepares",
    parts: (interrupt) => ({
      tools: [
        new class extends BaseHandler {
          readonly tools = [{ name: "x" }];
          override async onTaskStart(): Promise<void> {
            interrupt();
            await Promise.resolve();
          }
          dispatch() {
            return proceed(null);
          }
        }(),
      ],
    }),
    expected: {
      effective: true,
      trace: `AS ${CANCELLED}`,
      shape: "u",
      requestCount: 0,
    },
  },
  {
    name: "while a context provider prepares",
    parts: (interrupt) => ({
      contextProviders: [{
        sourceId: "slow",
        async beforeRun({ signal }) {
          interrupt();
          if (signal.aborted) await aborted(signal);
        },
      }],
    }),
    expected: {
      effective: true,
      trace: `AS ${CANCELLED}`,
      shape: "u",
      requestCount: 0,
    },
  },
  inSinkOf("turn_started", {
    expected: {
      effective: true,
      trace: `AS TS1 TC1 ${CANCELLED}`,
      shape: "u",
      requestCount: 0,
    },
  }),
  inSinkOf("steering_applied", {
    at(event, interrupt, agent) {
      if (event.kind === "turn_started") agent.steer("and");
      if (event.kind === "steering_applied") interrupt();
    },
    expected: {
      effective: true,
      trace: `AS TS1 SA TC1 ${CANCELLED}`,
      shape: "u u",
      requestCount: 0,
    },
  }),
  inSinkOf("context_pressure_evaluated", {
    parts: () => ({ compactionPolicy: roomy }),
    expected: {
      effective: true,
      trace: `AS TS1 CP TC1 ${CANCELLED}`,
      shape: "u",
      requestCount: 0,
    },
  }),
  {
    name: "while a compaction of the run writes its summary",
    history: longHistory,
    parts: (interrupt) => ({
      compactionPolicy: tight,
      autoCompactionPolicy: {},
      compactor: {
        async compact(_request, { signal }) {
          interrupt();
          if (signal.aborted) await aborted(signal);
          return { content: "short", source: "test" };
        },
      },
    }),
    expected: {
      effective: true,
      trace: `AS TS1 CP cS cF(cancelled) TC1 ${CANCELLED}`,
      shape: "u a u",
      requestCount: 0,
    },
  },
  {
    name: "while middleware holds the request back",
    parts: (interrupt) => ({
      middleware: [{
        async *aroundModel(request, next) {
          interrupt();
          if (request.signal.aborted) await aborted(request.signal);
          return yield* next();
        },
      }],
    }),
    expected: {
      effective: true,
      trace: `AS TS1 TC1 ${CANCELLED}`,
      shape: "u",
      requestCount: 0,
    },
  },
  {
    name: "before the first delta",
    expected: {
      effective: true,
      trace: `AS TS1 TC1 ${CANCELLED}`,
      shape: "u",
      requestCount: 1,
    },
  },
  {
    name: "between two deltas",
    expected: {
      effective: true,
      trace: `AS TS1 xD TC1 ${CANCELLED}`,
      shape: "u",
      requestCount: 1,
    },
  },
  inSinkOf("assistant_text_delta", {
    script: [deltas(["a", "b"])],
    expected: {
      effective: true,
      trace: `AS TS1 xD TC1 ${CANCELLED}`,
      shape: "u",
      requestCount: 1,
    },
  }),
  inSinkOf("assistant_thinking_delta", {
    script: [deltas([thinking("hm"), "b"])],
    expected: {
      effective: true,
      trace: `AS TS1 hD TC1 ${CANCELLED}`,
      shape: "u",
      requestCount: 1,
    },
  }),
  inSinkOf("message_completed", {
    expected: {
      effective: true,
      trace: `AS TS1 MC TC1 ${CANCELLED}`,
      shape: "u a",
      requestCount: 1,
    },
  }),
  inSinkOf("message_completed", {
    name: "in the sink of message_completed with calls",
    script: [calls(["echo", "echo"])],
    parts: () => ({ tools: [echo] }),
    expected: {
      effective: true,
      trace:
        `AS TS1 MC tS(c1) tC(c1,cancelled) tS(c2) tC(c2,cancelled) TC1 ${CANCELLED}`,
      shape: "u a+ t(c1) t(c2)",
      requestCount: 1,
    },
  }),
  inSinkOf("tool_started", {
    script: [calls(["echo", "done"])],
    parts: () => ({ tools: [echo, done] }),
    expected: {
      effective: true,
      trace:
        `AS TS1 MC tS(c1) tC(c1,cancelled) tS(c2) tC(c2,cancelled) TC1 ${CANCELLED}`,
      shape: "u a+ t(c1) t(c2)",
      requestCount: 1,
    },
  }),
  {
    name: "while the first of two tools runs",
    script: [calls(["work", "work"])],
    parts: (interrupt) => ({ tools: [interruptedTool(interrupt)] }),
    expected: {
      effective: true,
      trace:
        `AS TS1 MC tS(c1) tC(c1,cancelled) tS(c2) tC(c2,cancelled) TC1 ${CANCELLED}`,
      shape: "u a+ t(c1) t(c2)",
      requestCount: 1,
    },
  },
  {
    name: "while two reads run side by side",
    script: [readTwice],
    parts: (interrupt) => ({
      runtimePolicy: { parallelToolCalls: true },
      tools: [defineTool({
        name: "read",
        effect: "read_only",
        async execute(
          _args: Record<string, unknown>,
          { signal, toolCallId },
        ) {
          if (toolCallId === "c2") interrupt();
          if (toolCallId === "c1") await Promise.resolve();
          if (signal.aborted) await aborted(signal);
          return "read";
        },
      })],
    }),
    expected: {
      effective: true,
      trace:
        `AS TS1 MC tS(c1) tS(c2) tC(c1,cancelled) tC(c2,cancelled) TC1 ${CANCELLED}`,
      shape: "u a+ t(c1) t(c2)",
      requestCount: 1,
    },
  },
  {
    name: "while middleware holds a call back",
    script: [calls(["echo"])],
    parts: (interrupt) => ({
      tools: [echo],
      middleware: [{
        async aroundTool(context, next) {
          interrupt();
          if (context.signal.aborted) await aborted(context.signal);
          return await next();
        },
      }],
    }),
    expected: {
      effective: true,
      trace: `AS TS1 MC tS(c1) tC(c1,cancelled) TC1 ${CANCELLED}`,
      shape: "u a+ t(c1)",
      requestCount: 1,
    },
  },
  inSinkOf("tool_progressed", {
    script: [calls(["work"])],
    parts: () => ({
      tools: [defineTool({
        name: "work",
        async execute(_args: Record<string, unknown>, { progress, signal }) {
          await progress.report("half");
          if (signal.aborted) await aborted(signal);
          return "worked";
        },
      })],
    }),
    expected: {
      effective: true,
      trace: `AS TS1 MC tS(c1) tP(c1) tC(c1,cancelled) TC1 ${CANCELLED}`,
      shape: "u a+ t(c1)",
      requestCount: 1,
    },
  }),
  inSinkOf("tool_completed", {
    script: [calls(["echo", "done"])],
    parts: () => ({ tools: [echo, done] }),
    expected: {
      effective: true,
      trace: `AS TS1 MC tS(c1) tC(c1) tS(c2) tC(c2,cancelled) TC1 ${CANCELLED}`,
      shape: "u a+ t(c1) t(c2)",
      requestCount: 1,
    },
  }),
  inSinkOf("tool_completed", {
    name: "in the sink of the last tool_completed, which no hook follows",
    script: [calls(["echo"])],
    parts: () => ({ tools: [echo], behaviorHooks: [failingHook] }),
    expected: {
      effective: true,
      trace: `AS TS1 MC tS(c1) tC(c1) TC1 ${CANCELLED}`,
      shape: "u a+ t(c1)",
      requestCount: 1,
    },
  }),
  inSinkOf("tool_completed", {
    name: "in the sink of tool_completed of the call that ends the run",
    script: [calls(["done"])],
    parts: () => ({ tools: [done] }),
    expected: {
      effective: false,
      trace: "AS TS1 MC tS(c1) tC(c1) TC1 AF(completed/tool_completion)",
      shape: "u a+ t(c1)",
      requestCount: 1,
      stopReason: "tool_completion",
    },
  }),
  inSinkOf("turn_completed", {
    script: [calls(["echo"])],
    parts: () => ({ tools: [echo], behaviorHooks: [failingHook] }),
    expected: {
      effective: true,
      trace: `AS TS1 MC tS(c1) tC(c1) TC1 ${CANCELLED}`,
      shape: "u a+ t(c1)",
      requestCount: 1,
    },
  }),
  inSinkOf("turn_completed", {
    name: "in the sink of turn_completed of the last permitted turn",
    script: [calls(["echo"])],
    parts: () => ({ tools: [echo], runtimePolicy: { maxSteps: 1 } }),
    expected: {
      effective: true,
      trace: `AS TS1 MC tS(c1) tC(c1) TC1 ${CANCELLED}`,
      shape: "u a+ t(c1)",
      requestCount: 1,
    },
  }),
  {
    name: "while the first of two hooks decides",
    script: [calls(["echo"])],
    parts: (interrupt) => ({
      tools: [echo],
      behaviorHooks: [
        {
          async afterTurn(_turn, { signal }) {
            interrupt();
            if (signal.aborted) await aborted(signal);
            return behaviorContinue();
          },
        },
        failingHook,
      ],
    }),
    expected: {
      effective: true,
      trace: `AS TS1 MC tS(c1) tC(c1) TC1 ${CANCELLED}`,
      shape: "u a+ t(c1)",
      requestCount: 1,
    },
  },
  ...(["turn_completed", "agent_finished"] as const).map((kind) =>
    inSinkOf(kind, {
      name: `in the sink of the final ${kind}`,
      expected: {
        effective: false,
        trace: "AS TS1 MC TC1 AF(completed/text_response)",
        shape: "u a",
        requestCount: 1,
        stopReason: "text_response",
      },
    })
  ),
  inSinkOf("steering_discarded", {
    script: [calls(["done"])],
    parts: () => ({ tools: [done] }),
    at(event, interrupt, agent) {
      if (event.kind === "tool_started") agent.steer("too late");
      if (event.kind === "steering_discarded") interrupt();
    },
    expected: {
      effective: false,
      trace: "AS TS1 MC tS(c1) tC(c1) TC1 SD AF(completed/tool_completion)",
      shape: "u a+ t(c1)",
      requestCount: 1,
      stopReason: "tool_completion",
    },
  }),
  inSinkOf("turn_completed", {
    name: "in the sink of turn_completed of a turn that failed",
    script: [events([])],
    expected: {
      effective: false,
      trace: "AS TS1 TC1 AF(failed/runtime_error)",
      shape: "u",
      requestCount: 1,
      stopReason: "runtime_error",
    },
  }),
  {
    name: "while a context provider looks at the outcome",
    parts: (interrupt) => ({
      contextProviders: [{ sourceId: "late", afterRun: () => interrupt() }],
    }),
    expected: {
      effective: false,
      trace: "AS TS1 MC TC1 AF(completed/text_response)",
      shape: "u a",
      requestCount: 1,
      stopReason: "text_response",
    },
  },
  {
    name: "while the history is saved",
    parts: (interrupt) => ({
      history: {
        sourceId: "late",
        load: () => Promise.resolve(null),
        save: () => Promise.resolve(interrupt()),
      },
    }),
    expected: {
      effective: false,
      trace: "AS TS1 MC TC1 AF(completed/text_response)",
      shape: "u a",
      requestCount: 1,
      stopReason: "text_response",
    },
  },
];

const failingHook = {
  name: "never asked",
  afterTurn(): never {
    throw new Error("This hook must not be asked");
  },
};

/** A way to interrupt; returns what shows whether it changed anything. */
interface Way {
  readonly name: string;
  interrupt(agent: Agent, caller: WatchedController): {
    /** What `abort` returned, once for each call; absent if nothing tells. */
    readonly answers?: readonly boolean[];
    /** Settles when everything that was begun is over. */
    readonly settled?: Promise<void>;
  };
}

const ways: readonly Way[] = [
  {
    name: "abort",
    interrupt: (agent) => ({ answers: [agent.abort("stop")] }),
  },
  {
    name: "abort twice",
    interrupt: (agent) => ({
      answers: [agent.abort("stop"), agent.abort("again")],
    }),
  },
  {
    name: "the caller's signal",
    interrupt(_agent, caller) {
      caller.abort(new Error("stop"));
      return {};
    },
  },
  {
    name: "a shutdown that aborts",
    interrupt: (agent) => ({ settled: agent.shutdown({ abort: "stop" }) }),
  },
];

for (const moment of moments) {
  for (const way of ways) {
    test(`${way.name} ${moment.name}`, () => interruptAt(moment, way));
  }
}

async function interruptAt(moment: Moment, way: Way): Promise<void> {
  const { expected } = moment;
  const clock = new ManualClock();
  const caller = watchedController();
  let interruption: ReturnType<Way["interrupt"]> | undefined;
  let armed = false;
  const interrupt = () => {
    if (armed) interruption ??= way.interrupt(agent, caller);
  };
  const script = moment.script ?? scriptOf(moment.name, interrupt);
  const firstIndex = moment.continues ? 1 : 0;
  const model = new ScriptedModel(({ index }) =>
    script[index - firstIndex] ?? text("done")
  );
  if (moment.inStartup) model.startup = interrupt;
  const sink = new RecordingEventSink({
    onEvent(event) {
      assertCommitted(agent, event);
      moment.at?.(event, interrupt, agent);
    },
  });
  const { runtimePolicy, ...parts } = moment.parts?.(interrupt) ?? {};
  const agent = new Agent({
    agentId: "a",
    systemPrompt: "P",
    logger: silentLogger,
    clock,
    ...parts,
    model,
    eventSink: sink,
    runtimePolicy: { abortGraceMs: 20, ...runtimePolicy },
  });
  if (moment.history !== undefined) agent.reset(moment.history);
  if (moment.continues) await agent.run("before");
  sink.clear();
  const requestsBefore = model.requests.length;

  armed = true;
  const { signal } = caller;
  const result = moment.continues
    ? await agent.continueRun({ signal })
    : await agent.run("go", { signal });

  assert(interruption !== undefined, "the moment was reached");
  await interruption.settled;
  await agent.waitForIdle();
  if (expected.effective) {
    assertEquals([result.stopReason, result.error], ["external_abort", "stop"]);
  } else assertEquals(result.stopReason, expected.stopReason);
  if (interruption.answers !== undefined) {
    const [first, ...later] = interruption.answers;
    assertEquals(first, expected.effective);
    assertEquals(later.includes(true), false);
  }
  assertEquals(sink.trace(), expected.trace);
  assertEquals(sink.ofKind("agent_finished")[0]?.result, result);
  assertEquals(shapeOf(agent.messages), expected.shape);
  assertEquals(model.requests.length - requestsBefore, expected.requestCount);
  assertEquals(agent.state.lastRunResult, result);
  assertClean(agent, sink, clock, caller);

  const again = await agent.run("again");
  assert(again.stopReason !== "external_abort", "the next run is not affected");
  assertClean(agent, sink, clock, caller);
}

/** Nothing is left behind: no open bracket, no timer, no listener, nothing that waits. */
function assertClean(
  agent: Agent,
  sink: RecordingEventSink,
  clock: ManualClock,
  caller: WatchedController,
): void {
  assertWholeRuns(sink.events);
  assertClosedTranscript(agent.messages);
  assertEquals([clock.pending, caller.listenerCount], [0, 0]);
  assertEquals([agent.pendingSteeringCount, agent.pendingFollowUpCount], [
    0,
    0,
  ]);
}

/** Answers that interrupt by themselves. */
function scriptOf(name: string, interrupt: Interrupt): readonly ScriptStep[] {
  const pieces = name === "between two deltas" ? ["a"] : [];
  if (pieces.length === 0 && name !== "before the first delta") return [];
  return [events(async function* ({ signal }) {
    for (const delta of pieces) yield { kind: "text_delta", delta };
    interrupt();
    if (signal.aborted) await aborted(signal);
    yield text("done").response;
  })];
}

test("an idle agent has nothing to abort", async () => {
  for (const way of ways) {
    const caller = watchedController();
    const model = new ScriptedModel(() => text("done"));
    const agent = new Agent({ agentId: "a", model });
    const { answers = [], settled } = way.interrupt(agent, caller);
    await settled;
    assertEquals(answers.includes(true), false);
    if (caller.signal.aborted) {
      await assertRejects(
        () => agent.run("go", { signal: caller.signal }),
        AgentCancelledError,
        "stop",
      );
    }
    assertEquals((await agent.run("go")).output, "done");
    assertEquals(caller.listenerCount, 0);
  }
});

test("a run that waits its turn is hit by its own signal alone", async () => {
  for (const way of ways) {
    const clock = new ManualClock();
    const caller = watchedController();
    const entered = deferred();
    const model = new ScriptedModel([
      events(async function* ({ signal }) {
        entered.resolve();
        const stopped = aborted(signal);
        stopped.catch(() => {});
        if (way.name !== "the caller's signal") await stopped;
        yield text("first").response;
      }),
      text("second"),
    ]);
    const agent = new Agent({
      agentId: "a",
      model,
      clock,
      logger: silentLogger,
    });
    const first = agent.run("first");
    const second = agent.run("second", { signal: caller.signal });
    await Promise.all([
      entered.promise.then(() => way.interrupt(agent, caller).settled),
      first.then(({ status }) =>
        assertEquals(
          status,
          way.name === "the caller's signal" ? "completed" : "cancelled",
        )
      ),
      way.name === "the caller's signal"
        ? assertRejects(() => second, AgentCancelledError, "stop")
        : second.then(({ output }) => assertEquals(output, "second")),
    ]);
    assertEquals([clock.pending, caller.listenerCount], [0, 0]);
  }
});

test("an explicit compaction that is interrupted says so", async () => {
  for (const way of ways) {
    const clock = new ManualClock();
    const caller = watchedController();
    const sink = new RecordingEventSink();
    let settled: Promise<void> | undefined;
    const agent = new Agent({
      agentId: "a",
      model: new ScriptedModel([]),
      clock,
      logger: silentLogger,
      eventSink: sink,
      compactionPolicy: tight,
      compactor: {
        async compact(_request, { signal }) {
          const { answers = [true], ...rest } = way.interrupt(agent, caller);
          assertEquals(answers[0], true);
          settled = rest.settled;
          return await aborted(signal);
        },
      },
    });
    agent.reset([...longHistory, ...longHistory]);
    const before = agent.messages;
    const result = await agent.compact({ signal: caller.signal });
    await settled;
    assertEquals([result.status, result.error], ["cancelled", "stop"]);
    assertEquals([sink.trace(), agent.messages], ["cS cF(cancelled)", before]);
    assertEquals([clock.pending, caller.listenerCount], [0, 0]);
  }
});

test("an explicit compaction cannot be aborted once it is done", async () => {
  const answers: boolean[] = [];
  const agent: Agent = new Agent({
    agentId: "a",
    model: new ScriptedModel([]),
    compactionPolicy: tight,
    compactor: { compact: () => ({ content: "short", source: "test" }) },
    eventSink: {
      emit(event) {
        if (event.kind !== "compaction_completed") return;
        answers.push(agent.abort("too late"));
      },
    },
  });
  agent.reset([...longHistory, ...longHistory]);
  assertEquals((await agent.compact()).status, "completed");
  assertEquals(answers, [false]);
});

test("a dispatched tool that is interrupted rejects", async () => {
  for (const way of ways) {
    const clock = new ManualClock();
    const caller = watchedController();
    let settled: Promise<void> | undefined;
    const agent: Agent = new Agent({
      agentId: "a",
      model: new ScriptedModel([]),
      clock,
      logger: silentLogger,
      tools: [
        interruptedTool(() => {
          const { answers = [true], ...rest } = way.interrupt(agent, caller);
          assertEquals(answers[0], true);
          settled = rest.settled;
        }),
      ],
    });
    await assertRejects(
      () => agent.dispatch("work", {}, { signal: caller.signal }),
      AgentCancelledError,
      "stop",
    );
    await settled;
    await agent.waitForIdle();
    assertEquals([clock.pending, caller.listenerCount], [0, 0]);
  }
});

test("there is no gap between two runs of a chain", async () => {
  const answers: boolean[] = [];
  const sink = new RecordingEventSink({
    onEvent(event) {
      if (event.kind === "agent_finished") answers.push(agent.abort("no"));
    },
  });
  const agent: Agent = new Agent({
    agentId: "a",
    model: new ScriptedModel(() => text("done")),
    eventSink: sink,
  });
  const first = agent.run("one");
  const next = agent.followUp("two");
  await first.then(() => {
    assertEquals(agent.lifecycle, "running");
    answers.push(agent.abort("the second"));
  });
  assertEquals((await next.wait()).error, "the second");
  assertEquals(answers, [false, true, false]);
});
