import {
  Agent,
  MemorySessionStorage,
  SessionHistoryProvider,
} from "../../mod.ts";
import {
  SessionArgumentError,
  SessionSerializationError,
  SessionStorageError,
} from "../../src/session/errors.ts";
import type { JournalBackend } from "../../src/session/journal.ts";
import { JournalTreeStorage } from "../../src/session/tree_storage.ts";
import { RecordingLogger, ScriptedModel } from "../../src/testing/mod.ts";
import {
  answered,
  finished,
  s,
  started,
} from "../../src/testing/session_drafts.ts";
import { openFixture } from "../interop/python_journals.ts";
import {
  assertEquals,
  assertRejects,
  assertStringIncludes,
} from "../support/assert.ts";
import { test } from "../support/suite.ts";
import { CountingJournal } from "./counting_journal.ts";

test("what a session does not have is named with the session", async () => {
  const { expected, storage } = openFixture("multi-turn-tools");
  const { session_id: known } = expected;
  const empty = new MemorySessionStorage();
  const ghost = 'There is no session "ghost", so it has no branch';
  const calls: [call: () => Promise<unknown>, message: string][] = [
    [() => empty.fork("ghost"), `${ghost} "main"`],
    [() => empty.rollback("ghost", { toRecordId: "r" }), `${ghost} "main"`],
    [() => empty.prepareRetry("ghost", { runId: "r" }), `${ghost} "main"`],
    [
      () => empty.append({ ...started("r"), branchId: "b" }),
      `There is no session "${s}", so it has no branch "b"`,
    ],
    [
      () => storage.fork(known, { sourceBranch: "b" }),
      `Session "${known}" has no branch "b", only "main"; make it with fork() first`,
    ],
    [
      () => storage.prepareRetry(known, { runId: "r" }),
      `Branch "main" of session "${known}" has no run "r"`,
    ],
    [
      () => storage.fork(known, { fromRecordId: "r" }),
      `Session "${known}" has no record "r"`,
    ],
    [
      () => storage.checkout(known, { recordId: "r" }),
      `Session "${known}" has no record "r"`,
    ],
  ];
  for (const [call, message] of calls) {
    await assertRejects(call, SessionArgumentError, message);
  }
});

test("a branch that is not there is told from the first of those that are", async () => {
  const storage = new MemorySessionStorage();
  await storage.append(started("r1"));
  await storage.append(finished("r1", 2));
  for (const branchId of ["a", "b", "c", "d", "e", "f"]) {
    await storage.fork(s, { branchId });
  }
  await assertRejects(
    () => storage.append(started("r2", "go", "g")),
    SessionArgumentError,
    `no branch "g", only "main", "a", "b", "c", "d" and 2 more; make it`,
  );
});

test("an unfinished run comes with the ways to go on", async () => {
  const { expected, storage } = openFixture("unfinished-run-tool");
  const { session_id: sessionId } = expected;
  const agentId = String((await storage.load(sessionId))!.agentId);
  const agent = new Agent({
    agentId,
    model: new ScriptedModel([]),
    logger: new RecordingLogger(),
    history: new SessionHistoryProvider({ storage, sessionId }),
  });
  const { error } = await agent.run("go");
  assertStringIncludes(
    String(error),
    "writer is gone, close it with recoverInterruptedRun()",
  );
  assertStringIncludes(String(error), 'onUnfinished: "recover"');
  await assertRejects(
    () => storage.fork(sessionId),
    SessionArgumentError,
    "recover the run first",
  );
});

test("damage is found in the journal of a session, or in no journal", async () => {
  const { expected, journal, storage } = openFixture("multi-turn-tools");
  const { session_id: sessionId } = expected;
  const lines = new TextDecoder().decode(journal.bytes).split("\n");
  lines[2] = "{}";
  journal.bytes = new TextEncoder().encode(lines.join("\n"));
  const damage = await assertRejects(
    () => storage.load(sessionId),
    SessionSerializationError,
    `The journal of session "${sessionId}" is damaged: `,
  );
  assertEquals([damage.sessionId, damage.line], [sessionId, 3]);

  const lone = new SessionSerializationError("The text is no session");
  assertEquals([lone.sessionId, lone.line, lone.offset], [null, null, null]);
  assertEquals(
    lone.at(3, 40).of("s").message,
    'The journal of session "s" is damaged: The text is no session (line 3, byte 40)',
  );
  assertEquals(lone.of("s").at(3, 40).message, lone.at(3, 40).of("s").message);
});

test("a medium that fails is quoted, and briefly", async () => {
  const nobody = new AggregateError([new Error("connect ECONNREFUSED ::1")]);
  const cases: [thrown: unknown, text: string][] = [
    [new Error("BadResource: closed."), "BadResource: closed"],
    [new Error("two\n  lines"), "two lines"],
    [nobody, "connect ECONNREFUSED ::1"],
    [new Error("x".repeat(500)), `${"x".repeat(200)}…`],
  ];
  for (const [thrown, text] of cases) {
    const journal = new CountingJournal();
    const storage = new JournalTreeStorage(journal);
    await storage.append(started("r1"));
    journal.append = () => Promise.reject(thrown);
    const unstored = await assertRejects(
      () => storage.append(answered("r1", 2, "a")),
      SessionStorageError,
    );
    assertEquals(
      unstored.message,
      `The record of session "${s}" was not stored: ${text}`,
    );
    journal.read = () => {
      throw thrown;
    };
    const unread = await assertRejects(
      () => storage.load(s),
      SessionStorageError,
    );
    assertEquals(
      unread.message,
      `The journal of session "${s}" cannot be read: ${text}`,
    );
    assertEquals([unread.cause, unread.retryable], [thrown, true]);
    const unknown = await assertRejects(
      () => new JournalTreeStorage(failingLate(thrown)).append(started("r1")),
      SessionStorageError,
      `unknown (${text}); append it again`,
    );
    assertEquals(unknown.committed, "unknown");
  }
});

/** A journal that is empty at first and then fails in everything. */
function failingLate(thrown: unknown): JournalBackend {
  const journal = new CountingJournal();
  const { read } = journal;
  let readCount = 0;
  return Object.assign(journal, {
    read: (...call: Parameters<typeof read>) => {
      if (readCount++ > 0) throw thrown;
      return read.apply(journal, call);
    },
    append: () => Promise.reject(thrown),
  });
}
