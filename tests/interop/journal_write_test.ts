import fc from "fast-check";
import { frozenCopy } from "../../src/base/freeze.ts";
import { SummaryEntry } from "../../src/context/summary.ts";
import {
  resultToWire,
  runResult,
  STATUS_OF_STOP_REASON,
  type StopReason,
} from "../../src/messages/result.ts";
import { SessionError } from "../../src/session/errors.ts";
import { exportJournal } from "../../src/session/export.ts";
import { MemoryJournal } from "../../src/session/memory.ts";
import type {
  SessionRecordContent,
  SessionRecordDraft,
} from "../../src/session/record.ts";
import { JournalTreeStorage } from "../../src/session/tree_storage.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { test } from "../support/suite.ts";
import { readJournal } from "./journal_reader.ts";
import { type Json, textOf } from "./python_journals.ts";
import { wireBranch, wireRecord, wireSession } from "./wire_forms.ts";

const sessionId = "random";

/** One step of a random history; what does not fit the moment is refused and changes nothing. */
type Step =
  | {
    readonly do: "record";
    readonly branch: number;
    readonly change: SessionRecordContent;
    readonly gap: number;
  }
  | {
    readonly do: "branch";
    readonly branch: number;
    readonly how: "fork" | "rollback" | "retry";
    readonly at: number;
  }
  | { readonly do: "save" | "recover"; readonly branch: number };

const text = fc.string({ unit: "binary", maxLength: 20 });
const jsonValue = fc.jsonValue({ maxDepth: 3, stringUnit: "binary" }).map((
  value,
) => frozenCopy(value));
const runId = fc.integer({ min: 1, max: 12 }).map((number) => `run-${number}`);
const stopReason = fc.constantFrom(
  ...Object.keys(STATUS_OF_STOP_REASON) as StopReason[],
);

const calls = fc.array(text, { minLength: 1, maxLength: 3 }).map((ids) =>
  ids.map((id, index) => ({
    id: `${index}-${id}`,
    type: "function",
    function: { name: "act", arguments: "{}" },
  }))
);
const answer: fc.Arbitrary<Json> = fc.record({
  role: fc.constant("assistant"),
  content: fc.oneof(text, fc.constant(null), jsonValue),
  tool_calls: calls,
  _ejagent_extra: jsonValue,
}, { requiredKeys: ["role", "content"] });
const toolMessage: fc.Arbitrary<Json> = fc.record({
  role: fc.constant("tool"),
  tool_call_id: text,
  content: text,
});

const change: fc.Arbitrary<SessionRecordContent> = fc.oneof(
  fc.record({
    kind: fc.constant("run_started"),
    data: fc.record({ run_id: runId, task: text }),
  }),
  fc.record({
    kind: fc.constant("run_continued"),
    data: fc.record({ run_id: runId }),
  }),
  fc.record({
    kind: fc.constant("message_appended"),
    data: fc.record({ run_id: runId, message: answer }),
  }),
  fc.record({
    kind: fc.constant("messages_appended"),
    data: fc.record({
      run_id: runId,
      messages: fc.array(toolMessage, { maxLength: 3 }),
    }),
  }),
  fc.record({
    kind: fc.constant("steering_applied"),
    data: fc.record({
      run_id: runId,
      input_id: text,
      content: text,
      target_turn: fc.integer({ min: 1, max: 9 }),
    }),
  }),
  fc.record({
    kind: fc.constant("compaction_applied"),
    data: fc.record({
      operation_id: runId,
      summary: fc.integer({ min: 1, max: 9 }).map((count) =>
        new SummaryEntry({
          content: `summary of ${count}`,
          source: "test",
          historyStartIndex: 0,
          firstKeptIndex: count,
          summarizedMessageCount: count,
          tokensBefore: 100,
        }).toJSON()
      ),
      messages: fc.array(answer, { minLength: 1, maxLength: 3 }),
    }),
  }),
  fc.record({
    kind: fc.constant("run_finished"),
    data: fc.record({
      run_id: runId,
      result: fc.tuple(stopReason, text, fc.nat(9)).map((
        [reason, output, turns],
      ) => resultToWire(runResult({ stopReason: reason, output, turns }))),
    }),
  }),
) as fc.Arbitrary<SessionRecordContent>;

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({
      do: fc.constant("record"),
      branch: fc.nat(5),
      change,
      gap: fc.integer({ min: 0, max: 2 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("branch"),
      branch: fc.nat(5),
      how: fc.constantFrom("fork", "rollback", "retry"),
      at: fc.nat(40),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constantFrom("save", "recover"),
      branch: fc.nat(5),
    }),
  },
) as fc.Arbitrary<Step>;

test(
  "whatever is done to a session, an independent reader finds what this package holds",
  { case: ["SE-H-08", "SE-O-01"], timeoutMs: 120_000 },
  async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 10, maxLength: 60 }),
        async (steps) => {
          const storage = await play(steps);
          await compareWithReader(storage);
          await compareWithReopened(storage);
        },
      ),
      { seed: 40, numRuns: 100 },
    );
  },
);

test("the steps above reach every kind of record, branch and status", async () => {
  const kinds = new Set<string>();
  for (
    const steps of fc.sample(fc.array(step, { minLength: 60, maxLength: 60 }), {
      seed: 1,
      numRuns: 15,
    })
  ) {
    const storage = await play(steps);
    for (const record of await storage.records(sessionId)) {
      kinds.add(record.kind);
      if (record.kind === "branch_created") kinds.add(record.data.intent);
      if (record.kind === "run_finished") kinds.add(record.data.result.status);
    }
  }
  assertEquals([...kinds].sort(), [
    "branch_created",
    "cancelled",
    "checkpoint",
    "compaction_applied",
    "completed",
    "failed",
    "fork",
    "message_appended",
    "messages_appended",
    "rejected",
    "retry",
    "rollback",
    "run_continued",
    "run_finished",
    "run_started",
    "steering_applied",
  ]);
});

async function play(steps: readonly Step[]): Promise<JournalTreeStorage> {
  const storage = new JournalTreeStorage(new MemoryJournal(), {
    logger: { warn() {} },
  });
  for (const one of steps) {
    const before = await countRecords(storage);
    try {
      await take(storage, one);
    } catch (error) {
      assert(error instanceof SessionError, `Unexpected error: ${error}`);
      assertEquals(
        await countRecords(storage),
        before,
        "A refusal left a record",
      );
    }
  }
  return storage;
}

async function countRecords({ backend }: JournalTreeStorage): Promise<number> {
  let count = 0;
  for await (const lines of backend.read(sessionId, null)) {
    count += lines.length;
  }
  return count;
}

async function take(storage: JournalTreeStorage, one: Step): Promise<void> {
  const branches = await storage.listBranches(sessionId);
  const branchId =
    branches[one.branch % Math.max(1, branches.length)]?.branchId ?? "main";
  const records = await storage.records(sessionId);
  switch (one.do) {
    case "record":
      return await record(storage, branchId, one);
    case "branch": {
      const recordId =
        records[one.at % Math.max(1, records.length)]?.recordId ?? "none";
      if (one.how === "fork") {
        await storage.fork(sessionId, {
          sourceBranch: branchId,
          fromRecordId: recordId,
        });
      } else if (one.how === "rollback") {
        await storage.rollback(sessionId, {
          sourceBranch: branchId,
          toRecordId: recordId,
        });
      } else {
        await storage.prepareRetry(sessionId, {
          sourceBranch: branchId,
          runId: `run-${one.at % 12}`,
        });
      }
      return;
    }
    case "save": {
      const checkout = await storage.checkout(sessionId, { branchId });
      if (checkout !== null) await storage.save(checkout.session, { branchId });
      return;
    }
    case "recover":
      await storage.recoverInterruptedRun(sessionId, { branchId });
  }
}

/** Appends a change to the open run of the branch, if it is about one. */
async function record(
  storage: JournalTreeStorage,
  branchId: string,
  { change, gap }: Step & { readonly do: "record" },
): Promise<void> {
  const checkout = await storage.checkout(sessionId, { branchId });
  const openRunId = checkout?.session.unfinishedRunIds[0];
  const isBeginning = change.kind === "run_started" ||
    change.kind === "run_continued";
  const runId = isBeginning || openRunId === undefined ? undefined : openRunId;
  const data = runId === undefined
    ? change.data
    : { ...change.data, run_id: runId };
  const last = checkout?.head.sequence ?? 0;
  const sequence = isBeginning ? 1 + gap : last + gap;
  await storage.append({
    kind: change.kind,
    sessionId,
    branchId,
    agentId: "agent",
    sequence,
    data,
  } as SessionRecordDraft);
}

async function compareWithReader(storage: JournalTreeStorage): Promise<void> {
  const read = readJournal(await bytesOf(storage));
  const branches = await storage.listBranches(sessionId);
  assertEquals<unknown>(read.branches, branches.map(wireBranch));
  assertEquals<unknown>(
    read.records,
    (await storage.records(sessionId)).map(wireRecord),
  );
  for (const { branchId } of branches) {
    const checkout = (await storage.checkout(sessionId, { branchId }))!;
    assertEquals<unknown>(read.heads[branchId], wireRecord(checkout.head));
    assertEquals<unknown>(
      read.sessions[branchId],
      plain(wireSession(checkout.session)),
    );
    assertEquals<unknown>(
      read.messages[branchId],
      plain(checkout.session.messages),
    );
  }
}

/** What was kept in memory while writing is what a new program reads. */
async function compareWithReopened(storage: JournalTreeStorage): Promise<void> {
  const reopened = new JournalTreeStorage(storage.backend, {
    logger: { warn() {} },
  });
  for (const { branchId } of await storage.listBranches(sessionId)) {
    const mine = (await storage.checkout(sessionId, { branchId }))!;
    const theirs = (await reopened.checkout(sessionId, { branchId }))!;
    assertEquals<unknown>(plain(theirs.head), plain(mine.head));
    assertEquals<unknown>(
      plain(wireSession(theirs.session)),
      plain(wireSession(mine.session)),
    );
  }
}

async function bytesOf(storage: JournalTreeStorage): Promise<Uint8Array> {
  const parts: number[] = [];
  for await (const bytes of exportJournal(storage, sessionId)) {
    parts.push(...bytes);
  }
  const bytes = Uint8Array.from(parts);
  assert(!textOf(bytes).includes("\ufffd\ufffd"), "The journal is not UTF-8");
  return bytes;
}

/** As JSON holds it: without a sign on zero. */
function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}
