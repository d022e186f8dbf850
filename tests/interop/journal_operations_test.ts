import {
  SessionArgumentError,
  SessionConflictError,
  SessionSerializationError,
} from "../../src/session/errors.ts";
import type { JournalTreeStorage } from "../../src/session/tree_storage.ts";
import { assert, assertEquals, assertRejects } from "../support/assert.ts";
import { base64Bytes } from "../support/fixtures.ts";
import { test } from "../support/suite.ts";
import { readJournal } from "./journal_reader.ts";
import {
  type FixtureOperation,
  type JournalFixture,
  journalFixtures,
  type Json,
  openFixture,
  textOf,
} from "./python_journals.ts";
import { wireCheckout, wireRecord } from "./wire_forms.ts";

/** Calls that the reference implementation refuses and this package allows on purpose. */
const allowedHere = [
  "lone-surrogate-escape save_loaded",
  "structured-values append_message lone-surrogate",
  "torn-first-record append_run_started",
];

for (const { case: name, operations } of journalFixtures) {
  if (operations.length === 0) continue;
  test(
    `calls on ${name} come out as those of its writer`,
    { case: casesOf(name) },
    async () => {
      for (const operation of operations) await repeat(name, operation);
    },
  );
}

function casesOf(name: string): readonly string[] {
  if (name === "branches") return ["SE-J-01", "SE-J-10"];
  if (name === "empty-task") return ["SE-J-06"];
  if (name === "empty-file") return ["SE-I-07"];
  return [];
}

async function repeat(
  name: string,
  operation: FixtureOperation,
): Promise<void> {
  const { expected, journal, storage } = openFixture(name);
  const title = `${name} ${operation.op} ${operation.args.value ?? ""}`.trim();
  if (operation.error !== undefined && !allowedHere.includes(title)) {
    const error = await assertRejects(() => call(storage, expected, operation));
    assert(isSameError(error, operation.error.type), `${title}: ${error}`);
    assertEquals(
      textOf(journal.bytes),
      textOf(base64Bytes(expected.bytes)),
      title,
    );
    return;
  }
  const found = await call(storage, expected, operation);
  if (operation.outcome !== undefined) {
    assertEquals(
      withoutFreshId(found, expected),
      withoutFreshId(operation.outcome, expected),
      title,
    );
  }
  assertEquals(journal.bytes.at(-1) ?? 10, 10, title);
  // Python has no lone surrogates in its texts; every other line is compared by a reader.
  readJournal(journal.bytes);
}

async function call(
  storage: JournalTreeStorage,
  fixture: JournalFixture,
  { op, args }: FixtureOperation,
): Promise<Json> {
  const { session_id: id } = fixture;
  const names = { sourceBranch: args.source_branch, branchId: args.branch_id };
  switch (op) {
    case "fork":
      return {
        checkout: wireCheckout(
          await storage.fork(id, {
            ...names,
            fromRecordId: args.from_record_id,
          }),
        ),
      };
    case "rollback":
      return {
        checkout: wireCheckout(
          await storage.rollback(id, {
            ...names,
            toRecordId: args.to_record_id,
          }),
        ),
      };
    case "prepare_retry": {
      const retry = await storage.prepareRetry(id, {
        ...names,
        runId: args.run_id,
      });
      return {
        checkout: wireCheckout(retry.checkout),
        task: retry.task,
        retried_run_id: retry.retriedRunId,
      };
    }
    case "checkout":
      return {
        checkout: wireCheckout(
          await storage.checkout(id, {
            branchId: args.branch_id,
            recordId: args.record_id,
          }),
        ),
      };
    case "head": {
      const head = await storage.head(id, { branchId: args.branch_id });
      return { head: head && wireRecord(head) };
    }
    case "save_loaded":
      return {
        record: wireRecord(await storage.save((await storage.load(id))!)),
      };
    default:
      return {
        record: wireRecord(await append(storage, fixture, { op, args })),
      };
  }
}

async function append(
  storage: JournalTreeStorage,
  { session_id: sessionId, agent_id, read }: JournalFixture,
  { op, args }: FixtureOperation,
): ReturnType<JournalTreeStorage["append"]> {
  const common = {
    sessionId,
    branchId: args.branch_id,
    agentId: args.agent_id ?? agent_id,
  };
  // The reference ignores an expected head unless told to check it.
  const options = args.check_head
    ? { expectedHead: args.expected_head_id }
    : {};
  const openRun = read.session?.session.runs.find((run: Json) =>
    run.result === null
  )?.run_id;
  switch (op) {
    case "append_run_started": {
      const data = { run_id: "probe", task: "probe" };
      return await storage.append({
        kind: "run_started",
        sequence: 1,
        data,
        ...common,
      }, options);
    }
    case "append_branch_created": {
      const data = {
        base_record_id: "a",
        source_branch_id: "main",
        source_head_id: "a",
        intent: "fork",
      } as const;
      return await storage.append({
        kind: "branch_created",
        sequence: 0,
        data,
        ...common,
      });
    }
    case "append_run_finished_again": {
      const result = resultOf(read.session);
      const data = { run_id: openRun, result };
      return await storage.append({
        kind: "run_finished",
        sequence: 99,
        data,
        ...common,
      });
    }
    case "append_message": {
      const value = {
        NaN,
        "lone-surrogate": "cut \ud800",
        set: new Set(),
      }[args.value as string];
      const data = { run_id: "probe", task: "probe", value };
      return await storage.append({
        kind: "run_started",
        sequence: 1,
        data,
        ...common,
      });
    }
    default:
      throw new TypeError(`Unknown operation ${op}`);
  }
}

function resultOf(session: Json): Json {
  const known = session.session.runs.find((run: Json) => run.result !== null)
    ?.result;
  return known ?? {
    status: "completed",
    stop_reason: "text_response",
    turns: 1,
    output: "late",
    error: null,
    usage: {
      input_tokens: 0,
      output_tokens: 0,
      total_tokens: 0,
      request_count: 0,
      reported_request_count: 0,
      cache_read_tokens: null,
      cache_write_tokens: null,
      reasoning_tokens: null,
    },
  };
}

/** Python has one class for wrong arguments. */
function isSameError(error: Error, type: string): boolean {
  switch (type) {
    case "ValueError":
      return error instanceof SessionArgumentError ||
        error instanceof RangeError;
    case "SessionConflictError":
      return error instanceof SessionConflictError;
    case "SessionSerializationError":
      return error instanceof SessionSerializationError;
    default:
      return false;
  }
}

/** The same with a stand-in for the id of a record that the call wrote. */
function withoutFreshId(outcome: Json, { journal }: JournalFixture): Json {
  const record = outcome.record ?? outcome.checkout?.head;
  if (!record || record.revision <= journal.complete_lines) return outcome;
  return JSON.parse(
    JSON.stringify(outcome).replaceAll(record.record_id, "fresh"),
  );
}
