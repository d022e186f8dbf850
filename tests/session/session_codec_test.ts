import { runResult } from "../../src/messages/result.ts";
import { runUsage } from "../../src/messages/usage.ts";
import { SessionSerializationError } from "../../src/session/errors.ts";
import { AgentSession } from "../../src/session/session.ts";
import {
  sessionFromJson,
  sessionToJson,
} from "../../src/session/session_codec.ts";
import { type Json, openFixture } from "../interop/python_journals.ts";
import {
  assertEquals,
  assertStrictEquals,
  assertThrows,
} from "../support/assert.ts";
import { test } from "../support/suite.ts";

function exampleSession(): AgentSession {
  const session = new AgentSession("s", "agent");
  const usage = runUsage({
    inputTokens: 12,
    outputTokens: 4,
    reasoningTokens: 3,
    requestCount: 1,
    reportedRequestCount: 1,
  });
  session.beginRun({ runId: "r1", sequence: 1 }, "go");
  session.appendMessage({ runId: "r1", sequence: 3 }, {
    role: "assistant",
    content: "ok",
  });
  session.finishRun(
    { runId: "r1", sequence: 5 },
    runResult({ stopReason: "max_steps", runId: "r1", usage }),
  );
  session.beginContinue({ runId: "r2", sequence: 1 });
  return session;
}

/** The document of the example after a change. */
function changed(change: (session: Json, document: Json) => void): Json {
  const document = structuredClone(sessionToJson(exampleSession())) as Json;
  change(document.session, document);
  return document;
}

function assertRefused(document: unknown, text: string): void {
  assertThrows(
    () => sessionFromJson(document),
    SessionSerializationError,
    text,
  );
}

test("a document that is read and written again is the same", {
  case: "SE-G-05",
}, async () => {
  const { expected, storage } = openFixture("checkpoint-only");
  const loaded = (await storage.load(expected.session_id))!;
  assertEquals<unknown>(sessionToJson(loaded), expected.read.session);
  assertEquals<unknown>(
    sessionToJson(sessionFromJson(expected.read.session)),
    expected.read.session,
  );
  assertEquals(sessionToJson(loaded).schema_version, 1);
});

test("every member of a session survives its document", () => {
  const session = exampleSession();
  const copy = sessionFromJson(
    JSON.parse(JSON.stringify(sessionToJson(session))),
  );
  assertEquals(copy.runs, session.runs);
  assertEquals(copy.entries, session.entries);
  assertEquals(copy.unfinishedRunIds, ["r2"]);
  copy.finishRun(
    { runId: "r2", sequence: 2 },
    runResult({ stopReason: "text_response" }),
  );
  assertEquals(session.unfinishedRunIds, ["r2"]);
});

test(
  "documents of other versions, without their lists or with wrong types are refused",
  {
    case: "SE-G-06",
  },
  async () => {
    assertRefused(
      changed((_session, document) => document.schema_version = 2),
      "unsupported session schema_version 2; expected 1",
    );
    assertRefused(
      changed((_session, document) => document.schema_version = true),
      "integer",
    );
    assertRefused(
      changed((session) => delete session.compactions),
      "session.compactions",
    );
    assertRefused(
      changed((session) => session.entries = {}),
      "session.entries",
    );
    assertRefused(
      changed((session) => session.session_id = " "),
      "session.session_id",
    );
    assertRefused(
      changed((session) => session.entries[0].sequence = true),
      "entry.sequence",
    );
    assertRefused(
      changed((session) => session.entries[0].message = "text"),
      "entry.message",
    );
    assertRefused(
      changed((session) => session.runs[0].intent = "other"),
      "run.intent",
    );
    assertRefused(
      changed((session) => session.runs[1].task = "x"),
      "continue run none",
    );
    assertRefused(
      changed((session) => session.runs[0].finish_sequence = null),
      "set together",
    );
    assertRefused(
      changed((session) => session.runs[0].finish_sequence = 1),
      "follow",
    );
    assertRefused(
      changed((session) => session.runs[0].result.status = "done"),
      "result.status",
    );
    assertRefused(null, "The session document must be an object");

    const { expected, storage } = openFixture(
      "legacy-checkpoint-without-intent",
    );
    const legacy = (await storage.load(expected.session_id))!;
    assertEquals(legacy.runs.map(({ intent }) => intent), ["task"]);
  },
);

test("the usage of a run must add up, that of a message is anybody's", {
  case: "SE-G-07",
}, () => {
  const usageOf = (session: Json) => session.runs[0].result.usage;
  assertRefused(
    changed((session) => usageOf(session).total_tokens = 17),
    "contradicts itself",
  );
  assertRefused(
    changed((session) => usageOf(session).reasoning_tokens = 5),
    "contradicts itself",
  );
  assertRefused(
    changed((session) => usageOf(session).cache_read_tokens = 13),
    "contradicts itself",
  );
  assertRefused(
    changed((session) => usageOf(session).reported_request_count = 2),
    "contradicts itself",
  );
  assertRefused(
    changed((session) => usageOf(session).input_tokens = -1),
    "input_tokens",
  );
  const usage = { input_tokens: 12, output_tokens: 3, total_tokens: 16 };
  const session = sessionFromJson(
    changed((one) => one.entries[1].message.usage = usage),
  );
  assertEquals<unknown>(session.messages[1], {
    role: "assistant",
    content: "ok",
    usage,
  });
});

test("what older writers left out is nothing, and what nobody knows is left out", () => {
  const session = sessionFromJson(changed((one) => {
    delete one.agent_id;
    delete one.runs[0].result.output;
    delete one.runs[0].result.error;
    delete one.runs[0].result.usage.cache_read_tokens;
    one.runs[0].unknown = 1;
    one.unknown = 2;
  }));
  assertEquals(session.agentId, null);
  assertEquals(session.runs[0]?.result?.output, null);
  assertEquals(session.runs[0]?.result?.usage.cacheReadTokens, null);
});

test("facts about a failure are kept, and nothing else is taken for them", () => {
  const failure = {
    phase: "model",
    code: "timeout",
    message: "late",
    retryable: true,
  } as const;
  const failed = sessionFromJson(
    changed((one) => one.runs[0].result.failure = failure),
  );
  assertEquals(failed.runs[0]?.result?.failure, failure);
  const odd = sessionFromJson(
    changed((one) => one.runs[0].result.failure = { phase: 7 }),
  );
  assertStrictEquals(odd.runs[0]?.result?.failure, null);
});

test("a document that contradicts itself can be read but not written", () => {
  const twoOpen = sessionFromJson(changed((one) => {
    Object.assign(one.runs[0], { finish_sequence: null, result: null });
  }));
  assertEquals(twoOpen.unfinishedRunIds, ["r1", "r2"]);
  assertThrows(
    () => sessionToJson(twoOpen),
    SessionSerializationError,
    "more than one unfinished",
  );
  const stray = sessionFromJson(changed((one) => one.entries[1].run_id = "r9"));
  assertThrows(
    () => sessionToJson(stray),
    SessionSerializationError,
    'unknown run "r9"',
  );
});

test("a compaction covers no more than there is, and its summary is a summary", () => {
  const summary = {
    content: "short",
    source: "test",
    history_start_index: 0,
    first_kept_index: 2,
    summarized_message_count: 2,
    tokens_before: 9,
  };
  const withCompaction = (changes: Json) =>
    changed((one) =>
      one.compactions = [{
        operation_id: "o1",
        sequence: 2,
        summary,
        messages: [{ role: "system", content: "short" }],
        covered_entry_count: 2,
        ...changes,
      }]
    );
  const session = sessionFromJson(withCompaction({}));
  assertEquals(session.messages.map(({ content }) => content), ["short"]);
  assertEquals<unknown>(sessionToJson(session), withCompaction({}));
  assertRefused(
    withCompaction({ covered_entry_count: 3 }),
    "covered_entry_count",
  );
  assertRefused(withCompaction({ messages: [] }), "must not be empty");
  assertRefused(
    withCompaction({ summary: { ...summary, first_kept_index: 0 } }),
    "valid summary",
  );
});

test("a document that was read does not change with the caller's object", () => {
  const document = changed(() => {});
  const session = sessionFromJson(document);
  document.session.entries[0].message.content = "changed";
  assertEquals(session.messages[0]?.content, "go");
});
