import {
  Agent,
  AgentConfigurationError,
  type AgentMessage,
  CompactionPolicy,
  ContextBudget,
  ContinueRejectedError,
  FollowUpDiscardedError,
  type HistoryProvider,
  type HistoryRun,
  JournalTreeStorage,
  MemoryJournal,
  MemorySessionStorage,
  type RunOutcome,
  SessionHistoryProvider,
  SessionRecorder,
} from "../../mod.ts";
import { calls, fail, text } from "../../src/testing/mod.ts";
import {
  assertEquals,
  assertRejects,
  assertStrictEquals,
  assertStringIncludes,
  assertThrows,
} from "../support/assert.ts";
import { test } from "../support/suite.ts";
import {
  agentWith,
  contentsOf,
  echo,
  rej,
  shapeOf,
} from "../agent/fixtures.ts";
import { provider } from "./fixtures.ts";

/** A history that plays its answers to `load` and keeps what it is told to save. */
class ScriptedHistory implements HistoryProvider {
  readonly sourceId = "H";
  readonly runs: HistoryRun[] = [];
  readonly saved: RunOutcome[] = [];
  readonly #loads: (AgentMessage[] | null | Error)[];
  failSave: Error | undefined;
  resets = 0;

  constructor(loads: (AgentMessage[] | null | Error)[] = []) {
    this.#loads = loads;
  }

  async load(run: HistoryRun) {
    this.runs.push(run);
    const next = await this.#loads.shift();
    if (next instanceof Error) throw next;
    return next ?? null;
  }

  save(_run: HistoryRun, outcome: RunOutcome): Promise<void> {
    this.saved.push(outcome);
    return this.failSave === undefined
      ? Promise.resolve()
      : Promise.reject(this.failSave);
  }

  reset(): void {
    this.resets += 1;
  }
}

test("a loaded history takes the place of the conversation", {
  case: "PL-C-02",
}, async () => {
  const history = new ScriptedHistory([
    [{ role: "user", content: "old" }, { role: "assistant", content: "yes" }],
    null,
  ]);
  const { agent, model } = agentWith([text("one"), text("two")], { history });
  await agent.run("t");
  assertEquals(contentsOf(model.contexts[0]?.llmMessages ?? []), [
    "P",
    "old",
    "yes",
    "t",
  ]);
  assertEquals(agent.messages.length, 5);
  await agent.run("u");
  assertEquals(agent.messages.length, 7);
  assertEquals(history.runs.map((run) => [run.kind, run.task]), [
    ["task", "t"],
    ["task", "u"],
  ]);
});

test(
  "without a history provider the agent remembers",
  { case: "PL-C-03" },
  async () => {
    const { agent, model } = agentWith([text("one"), text("two")]);
    await agent.run("t");
    await agent.run("u");
    assertEquals(contentsOf(model.contexts[1]?.llmMessages ?? []), [
      "P",
      "t",
      "one",
      "u",
    ]);
  },
);

test(
  "a history that cannot be loaded fails the run",
  { case: "PL-C-04" },
  async () => {
    const log: string[] = [];
    const history = new ScriptedHistory([new Error("db down")]);
    const { agent, sink, model } = agentWith([], {
      history,
      contextProviders: [provider("p", log)],
    });
    const result = await agent.run("t");
    assertEquals(sink.trace(), "AS AF(failed/runtime_error)");
    assertStringIncludes(result.error ?? "", "db down");
    assertEquals([log, model.requests.length], [[], 0]);
  },
);

test("start-up and continues load as well", async () => {
  const history = new ScriptedHistory();
  const { agent } = agentWith([text("one"), text("two")], { history });
  await agent.startup();
  await agent.run("t");
  await agent.continueRun();
  assertEquals(history.runs.map((run) => run.kind), [
    "startup",
    "task",
    "continue",
  ]);
});

test("what was loaded decides whether a continue is possible", async () => {
  const history = new ScriptedHistory([null, [
    { role: "user", content: "u" },
    {
      role: "assistant",
      content: null,
      tool_calls: [{
        id: "x",
        type: "function",
        function: { name: "f", arguments: "{}" },
      }],
    },
  ]]);
  const { agent, sink } = agentWith([text("one")], { history });
  await agent.run("t");
  const events = sink.events.length;
  const error = await assertRejects(() => agent.continueRun());
  assertEquals(
    (error as Error & { reason?: string }).reason,
    "incomplete_tool_state",
  );
  assertEquals(sink.events.length, events);
});

test("every outcome is saved", { case: "PL-C-19" }, async () => {
  const failure = new Error("gone");
  const history = new ScriptedHistory();
  const { agent } = agentWith([text("one"), fail(failure), calls(["rej"])], {
    history,
    tools: [rej],
  });
  for (const task of ["a", "b", "c"]) await agent.run(task);
  assertEquals(history.saved.map((outcome) => outcome.result.status), [
    "completed",
    "failed",
    "rejected",
  ]);
  assertEquals(history.saved.map((outcome) => shapeOf(outcome.messages)), [
    "u a",
    "u",
    "u a+ t(c1)",
  ]);
  assertStrictEquals(history.saved[1]?.error, failure);
  assertEquals(
    shapeOf(history.saved[2]?.conversation ?? []),
    "u a u u a+ t(c1)",
  );
  assertEquals(history.saved.some((outcome) => outcome.compacted), false);
});

test("a save that fails turns a completed run into a failed one", {
  case: "PL-C-22",
}, async () => {
  const history = new ScriptedHistory();
  history.failSave = new Error("disk full");
  const { agent, sink } = agentWith([text("one")], { history });
  const run = agent.run("t");
  const handle = agent.followUp("u");
  const result = await run;
  assertEquals([result.status, result.stopReason, result.failure?.code], [
    "failed",
    "runtime_error",
    "persistence_failed",
  ]);
  assertEquals(result.error, "history provider 'H' failed: disk full");
  assertStrictEquals(sink.ofKind("agent_finished")[0]?.result, result);
  await assertRejects(() => handle.wait(), FollowUpDiscardedError);
});

test(
  "a save that fails changes no other end",
  { case: "PL-C-23" },
  async () => {
    const history = new ScriptedHistory();
    history.failSave = new Error("disk full");
    const { agent, logger } = agentWith([calls(["rej"])], {
      history,
      tools: [rej],
    });
    const result = await agent.run("t");
    assertEquals([result.status, result.stopReason], [
      "rejected",
      "tool_rejected",
    ]);
    assertStringIncludes(logger.warnings[0]?.message ?? "", "disk full");
  },
);

test("a cancelled run is saved with a fresh signal", async () => {
  const history = new ScriptedHistory();
  const signals: AbortSignal[] = [];
  history.save = (run) => {
    signals.push(run.signal);
    return Promise.resolve();
  };
  const { agent } = agentWith([text("one")], {
    history,
    onEvent: (event) => {
      if (event.kind === "turn_started") agent.abort("no");
    },
  });
  await agent.run("t");
  assertEquals(signals.map((signal) => signal.aborted), [false]);
});

test("an explicit compaction is saved whole", { case: "PL-C-32" }, async () => {
  const history = new ScriptedHistory();
  const { agent } = agentWith([text("one"), text("two")], {
    history,
    compactionPolicy: new CompactionPolicy({
      budget: new ContextBudget({
        contextWindow: 1000,
        reserveTokens: 10,
        keepRecentTokens: 1,
      }),
    }),
    compactor: {
      compact: () => ({ content: "the story so far", source: "test" }),
    },
  });
  await agent.run("a");
  await agent.run("b");
  history.saved.length = 0;
  await agent.compact();
  assertEquals(history.saved.length, 1);
  const { compacted, messages, conversation } = history.saved[0]!;
  assertEquals([compacted, messages], [true, []]);
  assertStringIncludes(String(conversation[0]?.content), "the story so far");
});

test("a reset is told to the history", () => {
  const history = new ScriptedHistory();
  const { agent } = agentWith([], { history });
  agent.reset();
  assertEquals(history.resets, 1);
});

test(
  "a session is the memory of agents that come and go",
  { case: "PL-C-28" },
  async () => {
    const storage = new MemorySessionStorage();
    const remembering = (answer: string) =>
      agentWith([text(answer)], {
        history: new SessionHistoryProvider({ storage, sessionId: "s" }),
      });
    await remembering("one").agent.run("a");
    const second = remembering("two");
    await second.agent.run("b");
    assertEquals(contentsOf(second.model.contexts[0]?.llmMessages ?? []), [
      "P",
      "a",
      "one",
      "b",
    ]);
    const session = await storage.load("s");
    assertEquals(session?.runs.map((run) => run.result?.status), [
      "completed",
      "completed",
    ]);
    assertEquals(second.agent.canContinue, true);
  },
);

test("an agent of a session can go on at once after its start-up", async () => {
  const storage = new MemorySessionStorage();
  const history = () => new SessionHistoryProvider({ storage, sessionId: "s" });
  await agentWith([text("one")], { history: history() }).agent.run("a");
  const { agent } = agentWith([text("two")], { history: history() });
  assertEquals(agent.canContinue, false);
  await agent.startup();
  assertEquals(agent.canContinue, true);
  assertEquals((await agent.continueRun()).output, "two");
  agent.reset();
  assertEquals(agent.messages.length, 1);
  await agent.startup();
});

test("a history without options says what it lacks", () => {
  const History = SessionHistoryProvider as unknown as new () => unknown;
  assertThrows(
    () => new History(),
    TypeError,
    "The options of a SessionHistoryProvider must be an object",
  );
});

test("after a reset a session is loaded again", async () => {
  const storage = new MemorySessionStorage();
  const { agent, model } = agentWith([text("one"), text("two")], {
    history: new SessionHistoryProvider({ storage, sessionId: "s" }),
  });
  await agent.run("a");
  agent.reset();
  await agent.run("b");
  assertEquals(contentsOf(model.contexts[1]?.llmMessages ?? []), [
    "P",
    "a",
    "one",
    "b",
  ]);
});

test("an agent whose session was deleted begins anew", async () => {
  const journal = new MemoryJournal();
  const storage = new JournalTreeStorage(journal);
  const { agent, model } = agentWith(
    [text("one"), text("two"), text("three")],
    {
      history: new SessionHistoryProvider({ storage, sessionId: "s" }),
    },
  );
  await agent.run("a");
  journal.delete("s");
  await agent.run("b");
  const { runs, messages } = (await storage.load("s"))!;
  assertEquals([runs.length, contentsOf(messages)], [1, ["b", "two"]]);
  const [, second] = model.requests;
  assertEquals(contentsOf(second!.context.llmMessages).slice(1), ["b"]);
  assertEquals(contentsOf(agent.messages).includes("one"), false);

  journal.delete("s");
  await assertRejects(() => agent.continueRun(), ContinueRejectedError);
});

test("an agent that was overtaken is refused at its first record", async () => {
  const storage = new MemorySessionStorage();
  const history = () => new SessionHistoryProvider({ storage, sessionId: "s" });
  await agentWith([text("zero")], { history: history() }).agent.run("z");
  const own = history();
  let overtaken = false;
  const slow: HistoryProvider = {
    sourceId: "slow",
    sink: own.sink,
    async load(run) {
      const loaded = await own.load(run);
      if (!overtaken) {
        overtaken = true;
        await agentWith([text("other")], { history: history() }).agent.run(
          "intruder",
        );
      }
      return loaded;
    },
  };
  const { agent, model } = agentWith([text("mine")], { history: slow });
  const result = await agent.run("mine");
  assertEquals([result.status, result.failure?.code], [
    "failed",
    "persistence_failed",
  ]);
  assertEquals(model.requests.length, 0);
  assertEquals((await storage.load("s"))?.runs.length, 2);
});

class FailingStorage extends MemorySessionStorage {
  override append(...args: Parameters<MemorySessionStorage["append"]>) {
    if (args[0].kind === "message_appended") {
      return Promise.reject(new Error("disk full"));
    }
    return super.append(...args);
  }
}

test("recording is a boundary only where the history records", {
  case: "PL-C-30",
}, async () => {
  const storage = new FailingStorage();
  const recorder = new SessionRecorder({
    storage,
    sessionId: "a",
    required: false,
  });
  const plain = agentWith([text("one")], {});
  assertEquals((await plain.agent.run("t")).status, "completed");
  const observed = new Agent({
    agentId: "a",
    model: plain.model,
    eventSink: recorder,
    logger: plain.logger,
  });
  plain.model.push(text("two"), text("three"));
  assertEquals((await observed.run("t")).status, "completed");
  const durable = new Agent({
    agentId: "a",
    model: plain.model,
    logger: plain.logger,
    history: new SessionHistoryProvider({ storage, sessionId: "b" }),
  });
  const result = await durable.run("t");
  assertEquals([result.status, result.stopReason], ["failed", "runtime_error"]);
});

test("one branch has one recorder", { case: "PL-C-31" }, async () => {
  const storage = new MemorySessionStorage();
  const { model } = agentWith([]);
  const build = (branchId: string) =>
    new Agent({
      agentId: "a",
      model,
      history: new SessionHistoryProvider({ storage, sessionId: "s" }),
      eventSink: new SessionRecorder({ storage, sessionId: "s", branchId }),
    });
  assertThrows(() => build("main"), AgentConfigurationError, '"s"');
  build("other");
  const agent = agentWith([], {
    history: new SessionHistoryProvider({ storage, sessionId: "s" }),
  }).agent;
  await agentWith([text("x")], {
    history: new SessionHistoryProvider({ storage, sessionId: "s" }),
  }).agent.run("t");
  const session = await storage.load("s");
  assertThrows(
    () => agent.restoreSession(session!),
    AgentConfigurationError,
    "loads by itself",
  );
});

test("tools stay silent until their call is stored", async () => {
  const storage = new MemorySessionStorage();
  const seen: string[] = [];
  const { agent } = agentWith([calls(["echo"]), text("fin")], {
    tools: [echo],
    history: new SessionHistoryProvider({ storage, sessionId: "s" }),
    middleware: [{
      async aroundTool(_context, next) {
        const session = await storage.load("s");
        seen.push(shapeOf(session?.messages ?? []));
        return await next();
      },
    }],
  });
  await agent.run("t");
  assertEquals(seen, ["u a+"]);
});
