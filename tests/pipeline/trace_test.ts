// deno-lint-ignore-file require-yield -- some of these streams have a result and no events
import {
  Agent,
  type AgentEvent,
  BaseHandler,
  CompactionPolicy,
  CompositeAgentEventSink,
  ContextBudget,
  ContextOverflowError,
  type ContextProvider,
  MemorySessionStorage,
  type Middleware,
  proceed,
  RuleBasedToolPolicy,
  runResult,
  SessionRecorder,
  type StepOutcome,
  type ToolDispatchOptions,
  ToolPolicyMiddleware,
  toolPolicyRule,
} from "../../mod.ts";
import {
  block,
  calls,
  deltas,
  fail,
  ScriptedModel,
  type ScriptStep,
  text,
} from "../../src/testing/mod.ts";
import { assertEquals } from "../support/assert.ts";
import { test } from "../support/suite.ts";
import { provider, tracing } from "./fixtures.ts";

const callX = calls(["x"]);
const answer = deltas(["he", "llo"]);

test("one run with two tool turns goes through everything in order", async () => {
  const { agent, log } = traced([callX, callX, answer], { steer: true });
  const result = await agent.run("t");
  log.push(`result ${result.stopReason}`);
  assertEquals(log, [
    ...startUp,
    "M1>r",
    "M2>r",
    "H.load",
    ...recorded("run_started", "agent_started"),
    "handler!",
    ...middleware.map((name) => `${name}!`),
    "P1+",
    "P2+ after P1",
    ...configured,
    "pm+",
    "pt+",
    "pm!",
    "pt!",

    "E:turn_started 1",
    "E:context_pressure_evaluated 1",
    "MM>m",
    "pm>m",
    "adapter",
    "pm<m",
    "MM<m",
    ...recorded("message_appended", "message_completed 1"),
    ...toolCall(1, "steered"),
    "E:turn_completed 1",
    "B continue",

    "E:turn_started 2",
    ...recorded("steering_applied", "steering_applied"),
    "E:context_pressure_evaluated 2",
    "MM>m",
    "pm>m",
    "adapter",
    "pm<m",
    "MM<m",
    ...recorded("message_appended", "message_completed 2"),
    ...toolCall(2),
    "E:turn_completed 2",
    "B continue",

    "E:turn_started 3",
    "E:context_pressure_evaluated 3",
    "MM>m",
    "pm>m",
    "adapter",
    "E:assistant_text_delta 3",
    "E:assistant_text_delta 3",
    "pm<m",
    "MM<m",
    ...recorded("message_appended", "message_completed 3"),
    "E:turn_completed 3",

    "P2-:completed",
    "P1-:completed",
    "H.save completed",
    "pt-",
    "pm-",
    ...configured,
    ...recorded("run_finished", "agent_finished"),
    "M2<r",
    "M1<r",
    "result text_response",
  ]);
});

test("an answer without next makes no run", async () => {
  const { agent, log } = traced([text("earlier")], { shortCircuit: true });
  const result = await agent.run("t");
  assertEquals(result.output, "cached");
  assertEquals(log, [...startUp, "M1>r", "M1<r"]);
  assertEquals(agent.state.lastRunResult, null);
});

test("a provider that throws ends the run before its first turn", async () => {
  const { agent, log } = traced([], { failingProvider: true });
  const result = await agent.run("t");
  assertEquals([result.stopReason, result.error], [
    "runtime_error",
    "no index",
  ]);
  assertEquals(log.slice(log.indexOf("P1+")), [
    "P1+",
    "P2+ after P1",
    "P1-:failed",
    "H.save failed",
    ...recorded("run_finished", "agent_finished"),
    "M2<r",
    "M1<r",
  ]);
});

test("an error of the adapter passes all layers and reaches the providers", async () => {
  const { agent, log } = traced([callX, fail(new Error("line cut"))]);
  const result = await agent.run("t");
  assertEquals([result.stopReason, result.turns], ["runtime_error", 2]);
  assertEquals(log.slice(log.indexOf("E:turn_started 2")), [
    "E:turn_started 2",
    "E:context_pressure_evaluated 2",
    "MM>m",
    "pm>m",
    "adapter",
    "E:turn_completed 2",
    ...ending("failed"),
  ]);
});

test("a policy that rejects keeps the tool away and asks no hook", async () => {
  const { agent, log } = traced([callX], { denied: true });
  const result = await agent.run("t");
  assertEquals(result.stopReason, "tool_rejected");
  assertEquals(log.slice(log.indexOf("E:tool_started 1")), [
    "E:tool_started 1",
    "V>t",
    "V<t",
    ...recorded("messages_appended", "tool_completed 1"),
    "E:turn_completed 1",
    ...ending("rejected"),
  ]);
});

test("a reader that leaves cancels and waits for all of it", async () => {
  const waiting = block();
  const { agent, log } = traced([waiting]);
  for await (const event of agent.stream("t")) {
    if (event.kind === "context_pressure_evaluated") {
      await waiting.entered;
      break;
    }
  }
  assertEquals(log.slice(log.indexOf("E:turn_started 1")), [
    "E:turn_started 1",
    "E:context_pressure_evaluated 1",
    "MM>m",
    "pm>m",
    "adapter",
    "E:turn_completed 1",
    ...ending("cancelled"),
  ]);
});

test("an overflow is mended inside its turn, through the layers a second time", async () => {
  const { agent, log } = traced([
    text("one"),
    fail(new ContextOverflowError("Too long")),
    text("two"),
  ]);
  await agent.run("t");
  log.length = 0;
  assertEquals((await agent.run("u")).output, "two");
  const from = log.indexOf("E:turn_started 1");
  assertEquals(log.slice(from, log.indexOf("P2-:completed")), [
    "E:turn_started 1",
    "E:context_pressure_evaluated 1",
    "MM>m",
    "pm>m",
    "adapter",
    "E:compaction_started",
    "compactor",
    ...recorded("compaction_applied", "compaction_completed"),
    "E:context_pressure_evaluated 1",
    "MM>m",
    "pm>m",
    "adapter",
    "pm<m",
    "MM<m",
    ...recorded("message_appended", "message_completed 1"),
    "E:turn_completed 1",
  ]);
});

const middleware = ["M1", "M2", "MM", "V", "Q", "A"] as const;
const configured = ["V configured", "Q configured", "A configured"];
const startUp = [
  "model+",
  "handler+",
  ...configured,
  ...middleware.map((name) => `${name}+`),
];

/** What the recorder writes, then the event that everyone else sees. */
function recorded(record: string, event: string): string[] {
  return [`S:${record}`, `E:${event}`];
}

function toolCall(turn: number, ...inside: string[]): string[] {
  return [
    `E:tool_started ${turn}`,
    "V>t",
    "Q>t",
    "A>t",
    "pt>t",
    "handler",
    ...inside,
    `E:tool_progressed ${turn}`,
    "pt<t",
    "A<t",
    "Q<t",
    "V<t",
    ...recorded("messages_appended", `tool_completed ${turn}`),
  ];
}

function ending(status: string): string[] {
  return [
    `P2-:${status}`,
    `P1-:${status}`,
    `H.save ${status}`,
    "pt-",
    "pm-",
    ...configured,
    ...recorded("run_finished", "agent_finished"),
    "M2<r",
    "M1<r",
  ];
}

/** What is different from the plain trace. */
interface Variation {
  /** Steers while the first tool call is executed. */
  readonly steer?: boolean;
  /** M1 answers without `next`. */
  readonly shortCircuit?: boolean;
  /** P2 throws before the run. */
  readonly failingProvider?: boolean;
  /** Q denies every call. */
  readonly denied?: boolean;
}

/** An agent with everything in it, and the log that all of it writes. */
function traced(
  script: readonly ScriptStep[],
  variation: Variation = {},
): { readonly agent: Agent; readonly log: string[] } {
  const log: string[] = [];
  let steers = variation.steer === true;
  const steer = () => {
    if (steers) {
      agent.steer("shorter, please");
      log.push("steered");
    }
    steers = false;
  };
  const agent: Agent = new Agent({
    agentId: "a",
    systemPrompt: "S",
    model: new TracedModel(script, log),
    tools: [new TracedHandler(log, steer)],
    middleware: [
      variation.shortCircuit ? shortCircuit(log) : layer("M1", log, "r"),
      layer("M2", log, "r"),
      layer("MM", log, "m"),
      layer("V", log, "t"),
      variation.denied ? denying(log) : layer("Q", log, "t"),
      layer("A", log, "t"),
    ],
    history: {
      sourceId: "H",
      load: () => {
        log.push("H.load");
        return Promise.resolve(null);
      },
      save: (_run, outcome) => {
        log.push(`H.save ${outcome.result.status}`);
        return Promise.resolve();
      },
    },
    contextProviders: [
      provider("P1", log, {
        before: (run) => run.extendInstructions("from P1"),
      }),
      secondProvider(log, variation),
    ],
    behaviorHooks: [{ afterTurn: () => void log.push("B continue") }],
    compactionPolicy: new CompactionPolicy({
      budget: new ContextBudget({
        contextWindow: 100_000,
        reserveTokens: 1000,
        keepRecentTokens: 1,
      }),
    }),
    autoCompactionPolicy: {},
    compactor: {
      compact: () => {
        log.push("compactor");
        return { content: "earlier", source: "test" };
      },
    },
    eventSink: new CompositeAgentEventSink([
      new SessionRecorder({ storage: tracedStorage(log), sessionId: "s" }),
      { emit: (event) => void log.push(entryOf(event)) },
    ]),
  });
  return { agent, log };
}

class TracedModel extends ScriptedModel {
  readonly #log: string[];

  constructor(script: readonly ScriptStep[], log: string[]) {
    super(script.map((step) => () => {
      log.push("adapter");
      return step;
    }));
    this.#log = log;
  }

  override startup(): void {
    this.#log.push("model+");
  }
}

class TracedHandler extends BaseHandler {
  readonly tools = [{ name: "x" }];
  readonly #log: string[];
  readonly #act: () => void;

  constructor(log: string[], act: () => void) {
    super();
    this.#log = log;
    this.#act = act;
  }

  override startup(): void {
    this.#log.push("handler+");
  }

  override onTaskStart(): void {
    this.#log.push("handler!");
  }

  async dispatch(
    _name: string,
    _args: unknown,
    options: ToolDispatchOptions = {},
  ): Promise<StepOutcome> {
    this.#log.push("handler");
    this.#act();
    await options.progress?.report("half");
    return proceed("done");
  }
}

/** Middleware that logs its life and the layers that it has. */
function layer(name: string, log: string[], layers: string): Middleware {
  return {
    ...tracing(name, log, layers),
    startup: () => void log.push(`${name}+`),
    shutdown: () => void log.push(`${name}-`),
    onTaskStart: () => void log.push(`${name}!`),
    ...(layers === "t" && name.length === 1 && {
      configureTools: () => void log.push(`${name} configured`),
    }),
  };
}

function shortCircuit(log: string[]): Middleware {
  return {
    ...layer("M1", log, "r"),
    async *aroundRun() {
      log.push("M1>r", "M1<r");
      return runResult({ stopReason: "text_response", output: "cached" });
    },
  };
}

function denying(log: string[]): Middleware {
  const policy = new ToolPolicyMiddleware(
    new RuleBasedToolPolicy([
      toolPolicyRule({ ruleId: "no-x", action: "deny", toolNames: ["x"] }),
    ]),
  );
  return {
    ...layer("Q", log, "t"),
    aroundTool: (context, next) => policy.aroundTool(context, next),
  };
}

function secondProvider(log: string[], variation: Variation): ContextProvider {
  return {
    sourceId: "P2",
    beforeRun(run) {
      const earlier = run.contributions.map(({ sourceId }) => sourceId);
      log.push(`P2+ after ${earlier}`);
      if (variation.failingProvider) throw new Error("no index");
      run.extendMiddleware(layer("pm", log, "m"), layer("pt", log, "t"));
    },
    afterRun: (_run, { result }) => void log.push(`P2-:${result.status}`),
  };
}

function tracedStorage(log: string[]): MemorySessionStorage {
  const storage = new MemorySessionStorage();
  const append = storage.append.bind(storage);
  storage.append = (draft, options) => {
    log.push(`S:${draft.kind}`);
    return append(draft, options);
  };
  return storage;
}

function entryOf(event: AgentEvent): string {
  if ("turn" in event) return `E:${event.kind} ${event.turn}`;
  return `E:${event.kind}`;
}
