import {
  type AgentEvent,
  type AgentMessage,
  AgentSession,
  type AutoCompactionPolicy,
  CompactionPolicy,
  type CompactionRequest,
  ContextBudget,
  ContextOverflowError,
  type MessageTokenEstimator,
  modelUsage,
  type ModelUsageInput,
  runResult,
} from "../../mod.ts";
import {
  calls,
  deltas,
  fail,
  type ScriptStep,
  text,
} from "../../src/testing/mod.ts";
import {
  assert,
  assertEquals,
  assertRejects,
  assertThrows,
} from "../support/assert.ts";
import { deferred } from "../support/deferred.ts";
import { test } from "../support/suite.ts";
import {
  agentWith,
  contentsOf,
  echo,
  type Fixture,
  type FixtureOptions,
} from "./fixtures.ts";

/** Counts what the table says about a content; everything else is free. */
function table(
  tokens: Readonly<Record<string, number>>,
): MessageTokenEstimator {
  return {
    estimateMessage: ({ content }) => tokens[String(content)] ?? 0,
    estimateTools: () => 0,
  };
}

function policyOf(
  contextWindow: number,
  reserveTokens: number,
  keepRecentTokens: number,
): CompactionPolicy {
  return new CompactionPolicy({
    budget: new ContextBudget({
      contextWindow,
      reserveTokens,
      keepRecentTokens,
    }),
  });
}

/** A history of tasks and their answers, alternating. */
function historyOf(contents: readonly string[]): AgentSession {
  const session = new AgentSession("s", "a");
  for (let index = 0; index < contents.length; index += 2) {
    const runId = `r${index}`;
    session.beginRun({ runId, sequence: 1 }, contents[index]!);
    const answer: AgentMessage = {
      role: "assistant",
      content: contents[index + 1]!,
    };
    session.appendMessage({ runId, sequence: 2 }, answer);
    session.finishRun(
      { runId, sequence: 3 },
      runResult({ stopReason: "text_response" }),
    );
  }
  return session;
}

interface Compacting extends Fixture {
  /** What the compactor was asked. */
  readonly requests: readonly CompactionRequest[];
}

interface CompactingOptions extends FixtureOptions {
  readonly tokens: Readonly<Record<string, number>>;
  readonly past: readonly string[];
  readonly auto?: Partial<AutoCompactionPolicy>;
  readonly compact?: (request: CompactionRequest) => string | Promise<string>;
  /** What the compactor reports to have spent. */
  readonly spent?: ModelUsageInput;
}

/** An agent that compacts by itself, behind a history. */
function compacting(
  script: readonly ScriptStep[],
  options: CompactingOptions,
): Compacting {
  const {
    tokens,
    past,
    auto = {},
    compact = () => "the summary",
    spent,
    ...rest
  } = options;
  const requests: CompactionRequest[] = [];
  const fixture = agentWith(script, {
    compactionPolicy: policyOf(100, 10, 20),
    autoCompactionPolicy: auto,
    contextTokenEstimator: table(tokens),
    compactor: {
      async compact(request) {
        requests.push(request);
        const usage = spent === undefined ? null : modelUsage(spent);
        return { content: await compact(request), source: "test", usage };
      },
    },
    ...rest,
  });
  fixture.agent.restoreSession(historyOf(past));
  return { ...fixture, requests };
}

const heavy = { "old task": 60, "old answer": 60, recent: 10, latest: 10 };
/** Below the threshold, and compactable. */
const light = { ...heavy, "old task": 30, "old answer": 30 };
const heavyHistory = ["old task", "old answer", "recent", "latest"];
const tooLarge = () => fail(new ContextOverflowError("too large"));

function kinds<K extends AgentEvent["kind"]>(
  { sink }: Fixture,
  kind: K,
): (AgentEvent & { kind: K })[] {
  return sink.events.filter((event): event is AgentEvent & { kind: K } =>
    event.kind === kind
  );
}

function asks({ model }: Fixture): string[][] {
  return model.contexts.map(({ llmMessages }) =>
    contentsOf(llmMessages).map(String)
  );
}

test(
  "pressure alone is only told",
  { case: ["SE-C-03", "X-167"] },
  async () => {
    let compactionCount = 0;
    const fixture = agentWith([text("fine")], {
      systemPrompt: "long prompt",
      compactionPolicy: policyOf(100, 20, 20),
      contextTokenEstimator: table({ "long prompt": 90 }),
      compactor: {
        compact() {
          compactionCount += 1;
          return { content: "x", source: "x" };
        },
      },
    });
    const result = await fixture.agent.run("pressure");
    assertEquals(
      fixture.sink.trace(),
      "AS TS1 CP MC TC1 AF(completed/text_response)",
    );
    const [pressure] = kinds(fixture, "context_pressure_evaluated");
    assertEquals([
      pressure?.decision.shouldCompact,
      pressure?.preparation?.canCompact,
    ], [true, false]);
    assertEquals([result.output, compactionCount], ["fine", 0]);
    assertEquals(contentsOf(fixture.agent.messages), [
      "long prompt",
      "pressure",
      "fine",
    ]);
  },
);

test("without a policy nothing is measured, and a disabled one says so", {
  case: "SE-C-04",
}, async () => {
  const silent = agentWith([text("ok")]);
  await silent.agent.run("task");
  assertEquals(kinds(silent, "context_pressure_evaluated"), []);
  const { budget } = policyOf(100, 20, 20);
  const disabled = agentWith([text("ok")], {
    compactionPolicy: new CompactionPolicy({ budget, enabled: false }),
  });
  await disabled.agent.run("task");
  const [pressure] = kinds(disabled, "context_pressure_evaluated");
  assertEquals([pressure?.decision.reason, pressure?.preparation], [
    "disabled",
    null,
  ]);
});

test("steering that arrives while pressure is told is measured, too", {
  case: "SE-C-05",
}, async () => {
  const fixture = agentWith([text("ok")], {
    compactionPolicy: policyOf(100, 20, 20),
    onEvent: ({ kind, sequence }) => {
      if (kind === "context_pressure_evaluated" && sequence === 3) {
        fixture.agent.steer("x");
      }
    },
  });
  await fixture.agent.run("task");
  assertEquals(
    fixture.sink.trace(),
    "AS TS1 CP SA CP MC TC1 AF(completed/text_response)",
  );
  assertEquals(asks(fixture), [["P", "task", "x"]]);
});

test("an explicit compaction needs a compactor and a policy", {
  case: "SE-E-01",
}, async () => {
  const bare = agentWith([text("ok")]).agent;
  await assertRejects(() => bare.compact(), Error, "ompactor");
  await bare.waitForIdle();
  const compactor = { compact: () => ({ content: "x", source: "x" }) };
  const planless = agentWith([text("ok")], { compactor }).agent;
  await assertRejects(() => planless.compact(), Error, "ompactionPolicy");
  await planless.waitForIdle();
  assertEquals((await planless.run("still works")).status, "completed");
});

test("automatic compaction needs a policy and a compactor, in this order", {
  case: "SE-F-01",
}, () => {
  const compactor = { compact: () => ({ content: "x", source: "x" }) };
  const withParts = (parts: FixtureOptions) => () =>
    agentWith([], { autoCompactionPolicy: {}, ...parts });
  assertThrows(withParts({}), Error, "ompactionPolicy");
  assertThrows(withParts({ compactor }), Error, "ompactionPolicy");
  assertThrows(
    withParts({ compactionPolicy: policyOf(100, 10, 20) }),
    Error,
    "ompactor",
  );
  withParts({ compactionPolicy: policyOf(100, 10, 20), compactor })();
  withParts({ autoCompactionPolicy: { enabled: false } })();
});

test("under pressure the history is compacted before the request", {
  case: ["SE-F-02", "X-163"],
}, async () => {
  const fixture = compacting([text("done")], {
    tokens: heavy,
    past: heavyHistory,
  });
  const result = await fixture.agent.run("continue");
  assertEquals(
    fixture.sink.trace(),
    "AS TS1 CP cS cC CP MC TC1 AF(completed/text_response)",
  );
  assertEquals(fixture.requests.map(({ trigger }) => trigger), ["pressure"]);
  assertEquals(asks(fixture), [[
    "P",
    "Conversation summary from earlier turns:\n\nthe summary",
    "recent",
    "latest",
    "continue",
  ]]);

  const events = fixture.sink.events;
  assertEquals(
    events.map(({ sequence }) => sequence),
    events.map((_, index) => index + 1),
  );
  assertEquals(new Set(events.map(({ runId }) => runId)).size, 1);
  const [started] = kinds(fixture, "compaction_started");
  const [completed] = kinds(fixture, "compaction_completed");
  assertEquals(started?.request.operationId, completed?.result.operationId);
  assert(
    started?.request.operationId !== started?.runId,
    "The operation has the id of the run",
  );
  const decisions = kinds(fixture, "context_pressure_evaluated").map((
    { decision, preparation },
  ) => [
    decision.estimate.totalTokens,
    decision.thresholdTokens,
    decision.reason,
    preparation !== null,
  ]);
  assertEquals(decisions, [[140, 90, "threshold_reached", true], [
    20,
    90,
    "below_threshold",
    false,
  ]]);
  assertEquals(result.usage.requestCount, 1);
});

test("a failed compaction ends the run before the model is asked", {
  case: ["SE-F-03", "X-164"],
}, async () => {
  const fixture = compacting([], {
    tokens: heavy,
    past: heavyHistory,
    compact: () => {
      throw new Error("summary provider failed");
    },
  });
  const before = fixture.agent.messages;
  const result = await fixture.agent.run("continue");
  assertEquals([result.status, result.stopReason], [
    "failed",
    "compaction_failed",
  ]);
  assert(
    result.error?.includes("summary provider failed"),
    String(result.error),
  );
  assertEquals(
    fixture.sink.trace(),
    "AS TS1 CP cS cF(failed) TC1 AF(failed/compaction_failed)",
  );
  assertEquals(fixture.model.contexts.length, 0);
  assertEquals(fixture.agent.messages.slice(0, -1), before);
});

test("an overflow is compacted away and the request is made again", {
  case: ["SE-F-04", "X-165"],
}, async () => {
  const fixture = compacting([tooLarge(), text("recovered")], {
    tokens: light,
    past: heavyHistory,
    auto: { compactOnPressure: false },
  });
  const result = await fixture.agent.run("continue");
  assertEquals([result.status, result.output, result.usage.requestCount], [
    "completed",
    "recovered",
    2,
  ]);
  assertEquals(fixture.requests.map(({ trigger }) => trigger), ["overflow"]);
  const [first, second] = asks(fixture);
  assert(
    first!.includes("old task") && !second!.includes("old task"),
    String(second),
  );
});

test(
  "a second overflow in one turn is the end",
  { case: ["SE-F-05", "X-165"] },
  async () => {
    const fixture = compacting([tooLarge(), tooLarge()], {
      tokens: light,
      past: heavyHistory,
    });
    const result = await fixture.agent.run("continue");
    assertEquals([result.status, result.stopReason], [
      "failed",
      "context_overflow",
    ]);
    assertEquals([fixture.model.contexts.length, fixture.requests.length], [
      2,
      1,
    ]);
  },
);

test(
  "an overflow that nothing can be done about is the end",
  { case: "X-165" },
  async () => {
    const short = compacting([tooLarge()], { tokens: {}, past: [] });
    assertEquals(
      (await short.agent.run("task")).stopReason,
      "context_overflow",
    );
    assertEquals(
      kinds(short, "compaction_completed").map(({ result }) => result.status),
      ["skipped"],
    );
    const plain = agentWith([tooLarge()]);
    assertEquals(
      (await plain.agent.run("task")).stopReason,
      "context_overflow",
    );
    assertEquals(plain.sink.trace(), "AS TS1 TC1 AF(failed/context_overflow)");
  },
);

test("an overflow after visible output is not repeated", {
  case: ["SE-F-06", "X-166"],
}, async () => {
  const early = new ContextOverflowError("too large", {
    responseStarted: false,
  });
  const fixture = compacting([deltas(["partial"], fail(early))], {
    tokens: light,
    past: heavyHistory,
  });
  const result = await fixture.agent.run("continue");
  assertEquals([result.status, result.stopReason], [
    "failed",
    "context_overflow",
  ]);
  assertEquals([fixture.model.contexts.length, fixture.requests.length], [
    1,
    0,
  ]);
  assertEquals(
    kinds(fixture, "assistant_text_delta").map(({ delta }) => delta),
    ["partial"],
  );
});

test("steering during an overflow recovery is in the second request alone", {
  case: ["SE-F-07", "X-107"],
}, async () => {
  const fixture: Compacting = compacting([tooLarge(), text("ok")], {
    tokens: light,
    past: heavyHistory,
    compact: () => {
      assertEquals(fixture.agent.steer("corrected").status, "accepted");
      return "the summary";
    },
  });
  const result = await fixture.agent.run("continue");
  assertEquals(result.status, "completed");
  const [first, second] = asks(fixture);
  assertEquals([first!.includes("corrected"), second!.at(-1)], [
    false,
    "corrected",
  ]);
  assertEquals(
    kinds(fixture, "steering_applied").map(({ targetTurn }) => targetTurn),
    [1],
  );
});

test(
  "steering during a compaction that has nothing to do is in the same request",
  {
    case: "X-108",
  },
  async () => {
    const fixture: Compacting = compacting([text("ok")], {
      tokens: { huge: 95 },
      past: [],
      onEvent: ({ kind }) => {
        if (kind === "compaction_completed") fixture.agent.steer("corrected");
      },
    });
    const result = await fixture.agent.run("huge");
    assertEquals([result.status, result.turns], ["completed", 1]);
    assertEquals(asks(fixture), [["P", "huge", "corrected"]]);
    assertEquals(
      kinds(fixture, "steering_applied").map(({ targetTurn }) => targetTurn),
      [1],
    );
  },
);

test("pressure and overflow are separate attempts of one turn", {
  case: "SE-F-08",
}, async () => {
  const fixture = compacting([tooLarge()], {
    tokens: heavy,
    past: heavyHistory,
  });
  const result = await fixture.agent.run("continue");
  const statuses = kinds(fixture, "compaction_completed").map(({ result }) =>
    result.status
  );
  assertEquals(statuses, ["completed", "skipped"]);
  assertEquals(result.stopReason, "context_overflow");
});

test("every turn may recover once", { case: "SE-F-10" }, async () => {
  const script = [tooLarge(), calls(["echo"]), tooLarge(), text("done")];
  const fixture = compacting(script, {
    tokens: light,
    past: ["u1", "a1", "u2", "a2"],
    auto: { compactOnPressure: false },
    compactionPolicy: policyOf(1_000_000, 10, 150),
    contextTokenEstimator: {
      estimateMessage: () => 100,
      estimateTools: () => 0,
    },
    tools: [echo],
  });
  const result = await fixture.agent.run("u3");
  assertEquals([result.status, result.output, result.usage.requestCount], [
    "completed",
    "done",
    4,
  ]);
  const summarised = fixture.requests.map(({ preparation }) =>
    contentsOf(preparation.messagesToSummarize)
  );
  assertEquals(summarised, [["u1", "a1"], ["u2", "a2"]]);
});

test("a refused request costs nothing and leaves the totals complete", {
  case: "X-160",
}, async () => {
  const usage = (cacheReadTokens: number) => ({
    inputTokens: 10,
    outputTokens: 10,
    cacheReadTokens,
  });
  const script = [
    tooLarge(),
    calls(["echo"], { usage: usage(4) }),
    text("done", { usage: usage(3) }),
  ];
  const fixture = compacting(script, {
    tokens: light,
    past: heavyHistory,
    tools: [echo],
    policy: { maxRunTokens: 1000 },
  });
  const { status, usage: total } = await fixture.agent.run("continue");
  assertEquals(status, "completed");
  assertEquals(
    [
      total.requestCount,
      total.reportedRequestCount,
      total.complete,
      total.totalTokens,
    ],
    [3, 3, true, 40],
  );
  assertEquals(total.cacheReadTokens, 7);
});

test("an abort during automatic compaction leaves the history alone", {
  case: "X-086",
}, async () => {
  const entered = deferred();
  const fixture = compacting([], {
    tokens: heavy,
    past: heavyHistory,
    compact: async () => {
      entered.resolve();
      return await new Promise<never>(() => {});
    },
  });
  const before = fixture.agent.messages;
  const run = fixture.agent.run("continue");
  await entered.promise;
  fixture.agent.abort("enough");
  const result = await run;
  assertEquals([result.status, result.stopReason], [
    "cancelled",
    "external_abort",
  ]);
  assertEquals(
    fixture.sink.trace(),
    "AS TS1 CP cS cF(cancelled) TC1 AF(cancelled/external_abort)",
  );
  assertEquals(fixture.agent.messages.slice(0, -1), before);
  assertEquals(fixture.model.contexts.length, 0);
});

test("an abort during an explicit compaction fulfils it as cancelled", {
  case: "X-087",
}, async () => {
  const entered = deferred();
  const fixture = compacting([], {
    tokens: heavy,
    past: heavyHistory,
    compact: async () => {
      entered.resolve();
      return await new Promise<never>(() => {});
    },
  });
  const before = fixture.agent.messages;
  const compaction = fixture.agent.compact();
  await entered.promise;
  fixture.agent.abort("enough");
  const result = await compaction;
  assertEquals([result.status, result.error], ["cancelled", "enough"]);
  assertEquals(fixture.sink.trace(), "cS cF(cancelled)");
  assertEquals(fixture.agent.messages, before);
});

test("an overflow is the end where automatic compaction is off", {
  case: "B43",
}, async () => {
  for (
    const auto of [{ enabled: false }, { recoverOnOverflow: false }, {
      maxOverflowRetries: 0,
    }]
  ) {
    const fixture = compacting([tooLarge()], {
      tokens: light,
      past: heavyHistory,
      auto,
    });
    assertEquals(
      (await fixture.agent.run("continue")).stopReason,
      "context_overflow",
    );
    assertEquals(fixture.requests, []);
  }
});

test("what the compactor spends counts against the limit and is told apart", {
  case: "X-190",
}, async () => {
  const usage = { inputTokens: 10, outputTokens: 10 };
  const fixture = compacting([calls(["echo"], { usage })], {
    tokens: heavy,
    past: heavyHistory,
    tools: [echo],
    policy: { maxRunTokens: 60 },
    spent: { inputTokens: 30, outputTokens: 10 },
  });
  const result = await fixture.agent.run("continue");
  assertEquals([result.status, result.stopReason, result.turns], [
    "failed",
    "token_budget_exceeded",
    1,
  ]);
  assertEquals(
    [result.usage.totalTokens, result.compactionUsage?.totalTokens],
    [20, 40],
  );
});

test("no second request is made once the limit is spent on a compaction", {
  case: "X-191",
}, async () => {
  const usage = { inputTokens: 5, outputTokens: 5 };
  const fixture = compacting([calls(["echo"], { usage }), tooLarge()], {
    tokens: light,
    past: heavyHistory,
    tools: [echo],
    policy: { maxRunTokens: 15 },
    spent: usage,
  });
  const result = await fixture.agent.run("continue");
  assertEquals([result.stopReason, result.turns], ["token_budget_exceeded", 2]);
  assertEquals([fixture.model.contexts.length, fixture.requests.length], [
    2,
    1,
  ]);
  assert(fixture.sink.trace().includes("TC2"), fixture.sink.trace());
});

test(
  "that nothing can be compacted is told once",
  { case: "X-194" },
  async () => {
    const script = [calls(["echo"]), calls(["echo"]), text("done")];
    const fixture = compacting(script, {
      tokens: { huge: 95 },
      past: [],
      tools: [echo],
      compactionPolicy: new CompactionPolicy({
        budget: new ContextBudget({
          contextWindow: 100,
          reserveTokens: 10,
          keepRecentTokens: 20,
        }),
        splitTurns: false,
      }),
    });
    await fixture.agent.run("huge");
    const marks = fixture.sink.trace().split(" ");
    const count = (mark: string) => marks.filter((one) => one === mark).length;
    assertEquals([count("CP"), count("cS"), count("cC(skipped)")], [3, 1, 1]);
  },
);
