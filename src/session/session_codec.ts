import { frozenCopy } from "../base/freeze.ts";
import {
  readArray,
  readCount,
  readMember,
  readMessage,
  readMessages,
  readName,
  readObject,
  readOptional,
  readPositive,
  readSummary,
  readText,
  readVersion,
} from "./decode.ts";
import { SessionSerializationError } from "./errors.ts";
import { readResult } from "./result_codec.ts";
import { type AgentSession, sessionOf, stateOf } from "./session.ts";
import {
  documentOf,
  SESSION_SCHEMA_VERSION,
  type WireSessionDocument,
} from "./session_document.ts";
import {
  emptyState,
  type OpenRun,
  type RunFinish,
  type RunStart,
  type SessionCompaction,
  type SessionEntry,
  type SessionRunIntent,
  type SessionState,
} from "./state.ts";
import { append, type Strand } from "./strand.ts";

/**
 * The whole session as a JSON document, for stores of snapshots.
 *
 * @throws {SessionSerializationError} The session was read from a document that
 * contradicts itself, for example with two unfinished runs.
 *
 * @example Keep a session in a text
 * ```ts
 * import { AgentSession, sessionFromJson, sessionToJson } from "@ejagent/core";
 * import { equal } from "node:assert/strict";
 *
 * const session = new AgentSession("s1");
 * session.beginRun({ runId: "r1", sequence: 1 }, "Hello?");
 * const text = JSON.stringify(sessionToJson(session));
 * equal(sessionFromJson(JSON.parse(text)).messages.length, 1);
 * ```
 */
export function sessionToJson(session: AgentSession): WireSessionDocument {
  return documentOf(stateOf(session));
}

/**
 * Reads a session document; the value is copied.
 *
 * Members that nobody here knows are ignored.
 *
 * @throws {SessionSerializationError} It is no document of schema version 1.
 */
export function sessionFromJson(value: unknown): AgentSession {
  return sessionOf(stateFromWire(frozenCopy(value)));
}

/** Reads a document whose messages are frozen already. */
export function stateFromWire(value: unknown): SessionState {
  const document = readObject(value, "The session document");
  readVersion(
    document.schema_version,
    "session schema_version",
    SESSION_SCHEMA_VERSION,
  );
  const session = readObject(document.session, "session");
  const entries = readArray(session.entries, "session.entries").map(
    entryFromWire,
  );
  const runs = readArray(session.runs, "session.runs").map(runFromWire);
  const compactions = readArray(session.compactions, "session.compactions").map(
    compactionFromWire,
  );
  if (
    compactions.some(({ coveredEntryCount }) =>
      coveredEntryCount > entries.length
    )
  ) {
    throw new SessionSerializationError(
      "covered_entry_count must not exceed the number of entries",
    );
  }
  const empty = emptyState(
    readName(session.session_id, "session.session_id"),
    readOptional(readName, session.agent_id, "session.agent_id"),
  );
  return {
    ...empty,
    entries: filled(empty.entries, entries),
    starts: filled(empty.starts, runs.map((run) => run.start)),
    finishes: filled(empty.finishes, runs.flatMap((run) => run.finish ?? [])),
    compactions: filled(empty.compactions, compactions),
    openRuns: runs.filter((run) => run.finish === null).map((run) =>
      openRun(run.start, entries)
    ),
  };
}

function entryFromWire(value: unknown): SessionEntry {
  const entry = readObject(value, "A session entry");
  return {
    runId: readName(entry.run_id, "entry.run_id"),
    sequence: readPositive(entry.sequence, "entry.sequence"),
    message: readMessage(entry.message, "entry.message"),
  };
}

function runFromWire(
  value: unknown,
): { start: RunStart; finish: RunFinish | null } {
  const run = readObject(value, "A session run");
  const start: RunStart = {
    runId: readName(run.run_id, "run.run_id"),
    task: readOptional(readText, run.task, "run.task"),
    // Documents of early writers know task runs only.
    intent: run.intent === undefined
      ? "task"
      : readMember(run.intent, "run.intent", intents),
    startSequence: readPositive(run.start_sequence, "run.start_sequence"),
  };
  if ((start.task === null) !== (start.intent === "continue")) {
    throw new SessionSerializationError(
      "A task run must have a task and a continue run none",
    );
  }
  const finishSequence = readOptional(
    readPositive,
    run.finish_sequence,
    "run.finish_sequence",
  );
  const result = readOptional(
    readResult(start.runId),
    run.result,
    "run.result",
  );
  if ((finishSequence === null) !== (result === null)) {
    throw new SessionSerializationError(
      "finish_sequence and result must be set together",
    );
  }
  if (finishSequence === null || result === null) {
    return { start, finish: null };
  }
  if (finishSequence <= start.startSequence) {
    throw new SessionSerializationError(
      "finish_sequence must follow start_sequence",
    );
  }
  return {
    start,
    finish: {
      runId: start.runId,
      finishSequence,
      result,
      recovery: null,
    },
  };
}

const intents: Readonly<Record<SessionRunIntent, true>> = {
  task: true,
  continue: true,
};

function compactionFromWire(value: unknown): SessionCompaction {
  const compaction = readObject(value, "A session compaction");
  return {
    operationId: readName(compaction.operation_id, "compaction.operation_id"),
    sequence: readPositive(compaction.sequence, "compaction.sequence"),
    summary: readSummary(compaction.summary, "compaction.summary"),
    messages: readMessages(compaction.messages, "compaction.messages", 1),
    coveredEntryCount: readCount(
      compaction.covered_entry_count,
      "compaction.covered_entry_count",
    ),
  };
}

function filled<T>(empty: Strand<T>, items: readonly T[]): Strand<T> {
  return items.reduce((list, item) => append(list, item), empty);
}

function openRun(
  { runId, startSequence }: RunStart,
  entries: readonly SessionEntry[],
): OpenRun {
  const sequences = entries.filter((entry) => entry.runId === runId).map((
    { sequence },
  ) => sequence);
  return {
    runId,
    lastSequence: sequences.reduce(
      (most, next) => Math.max(most, next),
      startSequence,
    ),
    startedCallIds: [],
  };
}
