import {
  Agent,
  type AgentOptions,
  complete,
  type DefinedTool,
  defineTool,
  MemorySessionStorage,
  SessionArgumentError,
  SessionRecorder,
  SessionStorageError,
  type SessionTreeStorage,
} from "../../mod.ts";
import {
  answered,
  called,
  finished,
  s,
  started,
  toolAnswered,
} from "../../src/testing/session_drafts.ts";
import {
  calls,
  fail,
  ScriptedModel,
  type ScriptStep,
  silentLogger,
  text,
} from "../../src/testing/mod.ts";
import { readJournal } from "../interop/journal_reader.ts";
import {
  ByteJournal,
  type Json,
  openFixture,
} from "../interop/python_journals.ts";
import { assert, assertEquals, assertRejects } from "../support/assert.ts";
import { deferred } from "../support/deferred.ts";
import { test } from "../support/suite.ts";
import { JournalTreeStorage } from "../../src/session/tree_storage.ts";

const echo: DefinedTool = defineTool({
  name: "echo",
  execute: (args: Record<string, unknown>) => args,
});
const finish: DefinedTool = defineTool({
  name: "finish",
  execute: () => complete("all done"),
});

interface Recorded {
  readonly agent: Agent;
  readonly model: ScriptedModel;
  readonly storage: MemorySessionStorage;
}

/** An agent whose runs are recorded. */
function recorded(
  script: readonly ScriptStep[],
  options: Partial<AgentOptions> = {},
): Recorded {
  const model = new ScriptedModel(script);
  const storage = new MemorySessionStorage();
  const eventSink = new SessionRecorder({ storage, sessionId: s });
  const agent = new Agent({
    agentId: "contract-agent",
    tools: [echo, finish],
    logger: silentLogger,
    ...options,
    model,
    eventSink,
  });
  return { agent, model, storage };
}

/** The conversation without system messages. */
function talk(agent: Agent): readonly unknown[] {
  return agent.messages.filter(({ role }) => role !== "system");
}

async function stored(
  storage: SessionTreeStorage,
): Promise<readonly unknown[]> {
  return (await storage.load(s))!.messages;
}

test(
  "what is recorded is what the agent holds, and every call has one result",
  {
    case: ["SE-L-06", "SE-L-07"],
  },
  async () => {
    const same = { name: "echo", arguments: {} };
    const scripts: [string, ScriptStep[], Partial<AgentOptions>][] = [
      ["repeated calls", [calls([same, same, same])], {
        runtimePolicy: { maxRepeatedToolCalls: 3 },
      }],
      ["a call that ends the run", [calls(["finish", "echo"])], {}],
      ["an unknown tool", [calls(["ghost", "echo"]), text("ok")], {}],
      ["a failing model", [calls(["echo"]), fail(new Error("gone"))], {}],
    ];
    for (const [name, script, options] of scripts) {
      const { agent, storage } = recorded(script, options);
      await agent.run("go");
      assertEquals(talk(agent), await stored(storage), name);
      const messages = talk(agent) as Json[];
      const callIds = messages.flatMap(({ tool_calls = [] }) =>
        tool_calls.map((one: Json) => one.id)
      );
      const resultIds = messages.flatMap(({ tool_call_id }) =>
        tool_call_id ?? []
      );
      assertEquals(resultIds, callIds, name);
      assert(agent.continueRejectionReason !== "incomplete_tool_state", name);
    }
  },
);

test("a call behind the one that ends the run is recorded as not executed", {
  case: "SE-L-07",
}, async () => {
  const { agent, storage } = recorded([calls(["finish", "echo"])]);
  const result = await agent.run("go");
  assertEquals([result.status, result.output], ["completed", "all done"]);
  const records = (await storage.records(s)) as Json[];
  assertEquals(records.map(({ kind }) => kind), [
    "run_started",
    "message_appended",
    "messages_appended",
    "messages_appended",
    "run_finished",
  ]);
  const [message] = records[3].data.messages;
  assertEquals([message.tool_call_id, JSON.parse(message.content).status], [
    "c2",
    "cancelled",
  ]);
});

test("a caller's abort leaves a closed transcript in the journal", async () => {
  const entered = deferred();
  const hang = defineTool({
    name: "hang",
    execute: (_args: Record<string, unknown>, { signal }) => {
      entered.resolve();
      return new Promise<string>((_resolve, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason));
      });
    },
  });
  const { agent, storage } = recorded([calls(["hang"]), text("again")], {
    tools: [hang],
  });
  const run = agent.run("go");
  await entered.promise;
  agent.abort("enough");
  assertEquals((await run).status, "cancelled");
  assertEquals(talk(agent), await stored(storage));
  assertEquals((await storage.load(s))!.unfinishedRunIds, []);
});

test("a session is gone on with by another agent, and its journal by both", async () => {
  const { agent, storage } = recorded([calls(["echo"]), text("one")]);
  await agent.run("first");
  const model = new ScriptedModel([text("two")]);
  const next = new Agent({
    agentId: "contract-agent",
    model,
    eventSink: new SessionRecorder({ storage, sessionId: s }),
  });
  next.restoreSession((await storage.checkout(s))!);
  await next.run("second");
  const session = (await storage.load(s))!;
  assertEquals(session.runs.map(({ task }) => task), ["first", "second"]);
  assertEquals(talk(next), session.messages);
  assertEquals(model.contexts[0]!.llmMessages.at(-1)?.content, "second");
});

test("a branch is gone on with by its own recorder", async () => {
  const { agent, storage } = recorded([text("one"), text("two")]);
  await agent.run("first");
  await agent.run("second");
  const { checkout, task } = await storage.prepareRetry(s, {
    runId: (await storage.load(s))!.runs[1]!.runId,
    branchId: "again",
  });
  const retrying = new Agent({
    agentId: "contract-agent",
    model: new ScriptedModel([text("better")]),
    eventSink: new SessionRecorder({
      storage,
      sessionId: s,
      branchId: "again",
    }),
  });
  retrying.restoreSession(checkout);
  await retrying.run(task);
  const contents = (session: Json) =>
    session.messages.map(({ content }: Json) => content);
  const retried = (await storage.checkout(s, { branchId: "again" }))!.session;
  assertEquals(contents(retried), ["first", "one", "second", "better"]);
  assertEquals(contents(await storage.load(s)), [
    "first",
    "one",
    "second",
    "two",
  ]);
});

/** A journal whose last run died within its tools. */
async function interruptedStorage(): Promise<{
  readonly journal: ByteJournal;
  readonly storage: JournalTreeStorage;
}> {
  const journal = new ByteJournal(new Uint8Array());
  const storage = new JournalTreeStorage(journal);
  const drafts = [
    started("r0"),
    answered("r0", 3, "all good"),
    finished("r0", 5),
    started("r1", "charge the card"),
    called("r1", 3, ["k1", "k2"]),
    toolAnswered("r1", 5, "k1"),
  ];
  for (const draft of drafts) await storage.append(draft);
  return { journal, storage };
}

test("a recovered session goes on with a valid conversation", {
  case: ["SE-M-07", "SE-M-06"],
}, async () => {
  const { storage } = await interruptedStorage();
  const model = new ScriptedModel([text("resumed"), text("more")]);
  const agent = new Agent({
    agentId: "contract-agent",
    model,
    eventSink: new SessionRecorder({ storage, sessionId: s }),
  });
  const open = (await storage.load(s))!;
  const refusal = await assertRejects(
    async () => {
      await Promise.resolve();
      agent.restoreSession(open);
    },
    SessionArgumentError,
    "r1",
  );
  assertEquals(refusal.code, "unfinished_run");

  const recovery = await agent.recoverSession(storage, { sessionId: s });
  assertEquals(recovery.status, "recovered");
  assertEquals(agent.state.lastRunResult?.failure?.code, "interrupted");
  assertEquals(agent.canContinue, true);
  const last = talk(agent).at(-1) as Json;
  assertEquals([last.tool_call_id, JSON.parse(last.content).status], [
    "k2",
    "interrupted",
  ]);

  assertEquals((await agent.continueRun()).output, "resumed");
  const answers = model.contexts[0]!.llmMessages.filter(({ role }) =>
    role === "tool"
  ) as Json[];
  assertEquals(answers.map(({ tool_call_id }) => tool_call_id), ["k1", "k2"]);
  assertEquals((await agent.run("go on")).output, "more");
  assertEquals((await storage.load(s))!.runs.map(({ intent }) => intent), [
    "task",
    "task",
    "continue",
    "task",
  ]);
});

test("without the facts of the recovery the run is a failure like any other", {
  case: "SE-M-07",
}, async () => {
  const { journal, storage } = await interruptedStorage();
  await storage.recoverInterruptedRun(s);
  const lines = new TextDecoder().decode(journal.bytes).trimEnd().split("\n");
  const end = JSON.parse(lines.pop()!);
  delete end.data.recovery;
  const stripped = [...lines, JSON.stringify(end), ""].join("\n");
  const older = new JournalTreeStorage(
    new ByteJournal(new TextEncoder().encode(stripped)),
  );
  const agent = new Agent({
    agentId: "contract-agent",
    model: new ScriptedModel([]),
  });
  agent.restoreSession((await older.load(s))!);
  assertEquals(agent.continueRejectionReason, "unsupported_stop_reason");
  readJournal(journal.bytes);
});

test("a recovered journal of another implementation goes on here", async () => {
  const { expected, storage } = openFixture("unfinished-run-tool");
  const sessionId = expected.session_id;
  const agent = new Agent({
    agentId: expected.agent_id,
    model: new ScriptedModel([text("resumed")]),
    eventSink: new SessionRecorder({ storage, sessionId }),
  });
  await agent.recoverSession(storage, { sessionId });
  assertEquals((await agent.continueRun()).output, "resumed");
});

test("a run that cannot be recorded stops before it acts", async () => {
  let executionCount = 0;
  const act = defineTool({
    name: "act",
    execute: () => {
      executionCount += 1;
      return "done";
    },
  });
  const { agent, model, storage } = recorded([calls(["act"]), text("never")], {
    tools: [act],
  });
  storage.backend.append = () =>
    Promise.reject(new SessionStorageError("The disk is full"));
  const result = await agent.run("go");
  assertEquals([result.status, result.failure?.code], [
    "failed",
    "persistence_failed",
  ]);
  assert(result.error?.includes("The disk is full"), String(result.error));
  assertEquals([executionCount, model.contexts.length], [0, 0]);
});
