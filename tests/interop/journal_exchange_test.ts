import { Agent } from "../../src/agent/agent.ts";
import { SessionHistoryProvider } from "../../src/pipeline/session_history.ts";
import { JournalTreeStorage } from "../../src/session/tree_storage.ts";
import { recordRun, s } from "../../src/testing/session_drafts.ts";
import { ScriptedModel } from "../../src/testing/scripted_model.ts";
import { text } from "../../src/testing/steps.ts";
import { finished, started } from "../../src/testing/session_drafts.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { test } from "../support/suite.ts";
import { addForeignRun } from "./foreign_writer.ts";
import { readJournal } from "./journal_reader.ts";
import {
  ByteJournal,
  journalFixtures,
  openFixture,
  textOf,
} from "./python_journals.ts";
import { wireSession } from "./wire_forms.ts";

test("an append behind a line that was never finished takes its place", {
  case: "SE-I-05",
}, async () => {
  const { expected, journal, storage } = openFixture("torn-tail-no-newline");
  const id = expected.session_id;
  const lost = textOf(journal.bytes).split("\n").at(-1)!;
  const { runId } = (await storage.load(id))!.runs.at(-1)!;
  const parent = (await storage.head(id))!;
  const record = await storage.append({
    ...finished(runId, 99),
    sessionId: id,
    agentId: expected.agent_id,
  });
  assertEquals([record.revision, record.parentId], [6, parent.recordId]);
  const written = textOf(journal.bytes);
  assertEquals([written.split("\n").length, written.endsWith("\n")], [7, true]);
  assert(!written.includes(lost), "The lost line is still there");
  assertEquals(readJournal(journal.bytes).records.length, 6);
});

test(
  "a canonical line is added to lines of any form",
  { case: "SE-I-08" },
  async () => {
    const { expected, journal, storage } = openFixture("non-canonical-lines");
    const before = textOf(journal.bytes);
    await storage.append({
      ...started("probe"),
      sessionId: expected.session_id,
      agentId: expected.agent_id,
    });
    const written = textOf(journal.bytes);
    assert(written.startsWith(before) && before.includes("\r\n"));
    assert(written.slice(before.length).startsWith('{"agent_id":"'));
    assertEquals(
      readJournal(journal.bytes).records.length,
      expected.journal.complete_lines + 1,
    );
  },
);

test("a session without agent stays so until somebody uses it", {
  case: "SE-I-10",
}, async () => {
  const { expected, storage } = openFixture("checkpoint-without-agent");
  const id = expected.session_id;
  const branches = (await storage.listBranches(id)).map(({ branchId }) =>
    branchId
  );
  assertEquals(branches, ["main", "unbound"]);
  const agents = [];
  for (const branchId of branches) {
    agents.push((await storage.checkout(id, { branchId }))!.session.agentId);
  }
  assertEquals(agents, ["fixture-agent", null]);
});

test("every readable journal can be extended by both sides in turn", {
  case: "SE-O-02",
}, async () => {
  for (const { case: name, read } of journalFixtures) {
    if (!read.ok || read.session === null) continue;
    const { expected, journal, storage } = openFixture(name);
    const { session_id: sessionId, agent_id: agentId } = expected;
    await storage.recoverInterruptedRun(sessionId);
    journal.bytes = addForeignRun(journal.bytes, {
      sessionId,
      agentId,
      runId: "foreign-1",
    });
    const { recordId: expectedHead } = (await storage.head(sessionId))!;
    const mine = { sessionId, agentId };
    const start = await storage.append({ ...started("mine"), ...mine }, {
      expectedHead,
    });
    await storage.append({ ...finished("mine", 5), ...mine }, {
      expectedHead: start.recordId,
    });
    journal.bytes = addForeignRun(journal.bytes, {
      sessionId,
      agentId,
      runId: "foreign-2",
    });
    const session = (await storage.load(sessionId))!;
    assertEquals(
      session.runs.slice(-3).map(({ runId }) => runId),
      ["foreign-1", "mine", "foreign-2"],
      name,
    );
    assertEquals<unknown>(
      readJournal(journal.bytes).sessions.main,
      wireSession(session),
      name,
    );
  }
});

test(
  "two implementations take turns on one journal",
  { case: "SE-O-03" },
  async () => {
    const journal = new ByteJournal(new Uint8Array());
    const storage = new JournalTreeStorage(journal);
    const model = new ScriptedModel(
      Array.from({ length: 10 }, (_, index) => text(`mine ${index}`)),
    );
    const agent = new Agent({
      agentId: "agent",
      model,
      history: new SessionHistoryProvider({ storage, sessionId: s }),
    });
    for (let turn = 0; turn < 10; turn++) {
      assertEquals((await agent.run(`task ${turn}`)).status, "completed");
      const run = { sessionId: s, agentId: "agent", runId: `foreign-${turn}` };
      journal.bytes = addForeignRun(journal.bytes, run);
    }
    const { sessions, records } = readJournal(journal.bytes);
    const { runs } =
      (sessions.main as { session: { runs: { result: unknown }[] } }).session;
    assertEquals([runs.length, records.length], [20, 60]);
    assert(runs.every(({ result }) => result !== null), "A run did not finish");
    const asked = model.contexts.at(-1)!.llmMessages.map(({ content }) =>
      content
    );
    assert(
      asked.includes("foreign answer foreign-8"),
      "The agent did not see the other's run",
    );
  },
);

test("what this package writes is read by the other side on every branch", async () => {
  const journal = new ByteJournal(new Uint8Array());
  const storage = new JournalTreeStorage(journal);
  await recordRun(storage, "r1");
  await storage.fork(s, { branchId: "side" });
  await recordRun(storage, "r2", "side");
  await storage.prepareRetry(s, { runId: "r1", branchId: "again" });
  await recordRun(storage, "r3", "again");
  const { branches, messages } = readJournal(journal.bytes);
  assertEquals(branches.map(({ branch_id }) => branch_id), [
    "main",
    "side",
    "again",
  ]);
  assertEquals(Object.values(messages).map(({ length }) => length), [2, 4, 2]);
});
