import {
  Agent,
  type AgentEvent,
  type AgentEventSink,
  type AgentMessage,
  CompactionPolicy,
  CompositeAgentEventSink,
  ContextBudget,
  defineTool,
} from "../../mod.ts";
import {
  calls,
  deltas,
  RecordingEventSink,
  ScriptedModel,
  silentLogger,
  text,
  thinking,
} from "../../src/testing/mod.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { test } from "../support/suite.ts";
import { done } from "./fixtures.ts";
import { assertClosedTranscript, assertWholeRuns } from "./invariants.ts";

type Kind = AgentEvent["kind"];

/** Everything that a run does to the outside and everything that it says, in order. */
interface World {
  readonly agent: Agent;
  readonly log: string[];
  readonly seen: RecordingEventSink;
  /** Ends the recording with the next event of a kind. */
  breakAt(kind: Kind): void;
}

const oldHistory: readonly AgentMessage[] = [
  { role: "user", content: "old ".repeat(100) },
  { role: "assistant", content: "old answer" },
];

/** A run of this agent has events of nearly every kind. */
function world(): World {
  const log: string[] = [];
  let brokenAt: Kind | undefined;
  const recorder: AgentEventSink = {
    required: true,
    emit(event) {
      if (event.kind !== brokenAt) return;
      log.push("broken");
      throw new Error("disk full");
    },
  };
  const seen = new RecordingEventSink({
    onEvent(event) {
      if (event.kind === "turn_started") agent.steer("and");
      if (event.kind !== "tool_started") return;
      if (event.toolCall.name === "done") agent.steer("too late");
    },
  });
  const script = [
    deltas([thinking("hm"), "I work"], calls(["work", "work"])),
    calls(["done"]),
  ];
  const agent = new Agent({
    agentId: "a",
    logger: silentLogger,
    model: new ScriptedModel(({ index }) => {
      log.push("request");
      return script[index] ?? text("done");
    }),
    tools: [
      defineTool({
        name: "work",
        async execute(_args: Record<string, unknown>, { progress }) {
          log.push("tool");
          await progress.report("half");
          return "worked";
        },
      }),
      done,
    ],
    compactionPolicy: new CompactionPolicy({
      budget: new ContextBudget({
        contextWindow: 100,
        reserveTokens: 10,
        keepRecentTokens: 5,
      }),
    }),
    autoCompactionPolicy: {},
    compactor: {
      compact() {
        log.push("summary");
        return { content: "short", source: "test" };
      },
    },
    eventSink: new CompositeAgentEventSink([seen, recorder]),
  });
  agent.reset(oldHistory);
  return { agent, log, seen, breakAt: (kind) => brokenAt = kind };
}

const kinds: readonly Kind[] = [
  "agent_started",
  "turn_started",
  "steering_applied",
  "context_pressure_evaluated",
  "compaction_started",
  "compaction_completed",
  "assistant_thinking_delta",
  "assistant_text_delta",
  "message_completed",
  "tool_started",
  "tool_progressed",
  "tool_completed",
  "turn_completed",
  "steering_discarded",
  "agent_finished",
];

for (const kind of kinds) {
  test(`a run that cannot record ${kind} does nothing more and fails`, async () => {
    const { agent, log, seen, breakAt } = world();
    breakAt(kind);
    const result = await agent.run("go");
    const after = log.slice(log.indexOf("broken") + 1);
    assert(log.includes("broken"), `there was a ${kind}`);
    assertEquals(after, []);
    assertEquals([result.status, result.failure?.code], [
      "failed",
      "persistence_failed",
    ]);
    assertWholeRuns(seen.events);
    assertClosedTranscript(agent.messages);
    assertEquals(seen.ofKind("agent_finished")[0]?.result, result);
    assertEquals(agent.state.lastRunResult, result);
  });
}

test("a run that cannot be recorded begins no compaction", async () => {
  for (
    const kind of [
      "turn_started",
      "steering_applied",
      "context_pressure_evaluated",
    ] as const
  ) {
    const { agent, seen, breakAt } = world();
    breakAt(kind);
    await agent.run("go");
    assertEquals(seen.ofKind("compaction_started"), []);
  }
});

test("a run that records everything has all these events", async () => {
  const { agent, seen } = world();
  assertEquals((await agent.run("go")).stopReason, "tool_completion");
  const missing = kinds.filter((kind) => seen.ofKind(kind).length === 0);
  assertEquals(missing, []);
});

test("an explicit compaction that cannot be recorded does not happen", async () => {
  for (const kind of ["compaction_started", "compaction_completed"] as const) {
    const { agent, log, breakAt } = world();
    agent.reset([...oldHistory, { role: "user", content: "recent" }]);
    breakAt(kind);
    const before = agent.messages;
    const { status, error } = await agent.compact();
    assertEquals([status, error?.endsWith("disk full")], ["failed", true]);
    assertEquals(agent.messages, before);
    assertEquals(log.at(-1), "broken", "nothing is done after the failure");
    breakAt("agent_continued");
    assertEquals((await agent.compact()).status, "completed");
  }
});

test("an event that a sink causes does not overtake its own", async () => {
  let report: (() => void) | undefined;
  const causing: AgentEventSink = {
    emit(event) {
      if (event.kind === "tool_progressed") report?.();
      report = undefined;
    },
  };
  const order: number[] = [];
  const late: AgentEventSink = {
    async emit(event) {
      await null;
      order.push(event.sequence);
    },
  };
  const agent = new Agent({
    agentId: "a",
    model: new ScriptedModel([calls(["work"]), text("done")]),
    tools: [defineTool({
      name: "work",
      async execute(_args: Record<string, unknown>, { progress }) {
        report = () => void progress.report("caused by the sink");
        await progress.report("half");
        return "worked";
      },
    })],
    eventSink: new CompositeAgentEventSink([causing, late]),
  });
  await agent.run("go");
  assertEquals(order, order.toSorted((a, b) => a - b));
});
