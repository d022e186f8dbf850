import {
  Agent,
  MemorySessionStorage,
  SessionHistoryProvider,
} from "../../mod.ts";
import {
  SessionArgumentError,
  SessionSerializationError,
} from "../../src/session/errors.ts";
import { RecordingLogger, ScriptedModel } from "../../src/testing/mod.ts";
import { s, started } from "../../src/testing/session_drafts.ts";
import { openFixture } from "../interop/python_journals.ts";
import {
  assertEquals,
  assertRejects,
  assertStringIncludes,
} from "../support/assert.ts";
import { test } from "../support/suite.ts";

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
      `Session "${known}" has no branch "b"`,
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
  assertStringIncludes(String(error), "agent.recoverSession()");
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
