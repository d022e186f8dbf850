import { deepFreeze, frozenCopy } from "../base/freeze.ts";
import type { WireSummaryEntry } from "../context/summary.ts";
import type { AgentMessage } from "../messages/message.ts";
import { resultToWire, type WireRunResult } from "../messages/result.ts";
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
  emptyState,
  type OpenRun,
  type RunFinish,
  runsOf,
  type RunStart,
  type SessionCompaction,
  type SessionEntry,
  type SessionRun,
  type SessionRunIntent,
  type SessionState,
} from "./state.ts";
import { append, itemsOf, type Strand } from "./strand.ts";

/** Version of the session document that is read and written. */
export const SESSION_SCHEMA_VERSION = 1;

/** An entry as documents hold it. */
export interface WireSessionEntry {
  /** See {@linkcode SessionEntry.runId}. */
  readonly run_id: string;
  /** See {@linkcode SessionEntry.sequence}. */
  readonly sequence: number;
  /** See {@linkcode SessionEntry.message}. */
  readonly message: AgentMessage;
}

/** A run as documents hold it. */
export interface WireSessionRun {
  /** See {@linkcode SessionRun.runId}. */
  readonly run_id: string;
  /** See {@linkcode SessionRun.task}. */
  readonly task: string | null;
  /** See {@linkcode SessionRun.intent}. */
  readonly intent: SessionRunIntent;
  /** See {@linkcode SessionRun.startSequence}. */
  readonly start_sequence: number;
  /** See {@linkcode SessionRun.finishSequence}. */
  readonly finish_sequence: number | null;
  /** See {@linkcode SessionRun.result}. */
  readonly result: WireRunResult | null;
}

/** A compaction as documents hold it. */
export interface WireSessionCompaction {
  /** See {@linkcode SessionCompaction.operationId}. */
  readonly operation_id: string;
  /** See {@linkcode SessionCompaction.sequence}. */
  readonly sequence: number;
  /** See {@linkcode SessionCompaction.summary}. */
  readonly summary: WireSummaryEntry;
  /** See {@linkcode SessionCompaction.messages}. */
  readonly messages: readonly AgentMessage[];
  /** See {@linkcode SessionCompaction.coveredEntryCount}. */
  readonly covered_entry_count: number;
}

/** A whole session as JSON. */
export interface WireSessionDocument {
  /** Always 1. */
  readonly schema_version: number;
  /** The session. */
  readonly session: {
    readonly session_id: string;
    readonly agent_id: string | null;
    readonly entries: readonly WireSessionEntry[];
    readonly runs: readonly WireSessionRun[];
    readonly compactions: readonly WireSessionCompaction[];
  };
}

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
  const state = stateOf(session);
  const [contradiction] = contradictionsOf(state);
  if (contradiction !== undefined) {
    throw new SessionSerializationError(contradiction);
  }
  return deepFreeze({
    schema_version: SESSION_SCHEMA_VERSION,
    session: {
      session_id: state.sessionId,
      agent_id: state.agentId,
      entries: itemsOf(state.entries).map(entryToWire),
      runs: runsOf(state).map(runToWire),
      compactions: itemsOf(state.compactions).map(compactionToWire),
    },
  });
}

function entryToWire(
  { runId, sequence, message }: SessionEntry,
): WireSessionEntry {
  return { run_id: runId, sequence, message };
}

function runToWire(run: SessionRun): WireSessionRun {
  return {
    run_id: run.runId,
    task: run.task,
    intent: run.intent,
    start_sequence: run.startSequence,
    finish_sequence: run.finishSequence,
    result: run.result === null ? null : resultToWire(run.result),
  };
}

function compactionToWire(
  compaction: SessionCompaction,
): WireSessionCompaction {
  return {
    operation_id: compaction.operationId,
    sequence: compaction.sequence,
    summary: compaction.summary.toJSON(),
    messages: compaction.messages,
    covered_entry_count: compaction.coveredEntryCount,
  };
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

/** What a document says against itself; empty for every session that was made by records. */
export function contradictionsOf(state: SessionState): readonly string[] {
  const lastSequences = new Map<string, number>();
  const found: string[] = [];
  for (const { runId, startSequence } of itemsOf(state.starts)) {
    if (lastSequences.has(runId)) found.push(`Run "${runId}" exists twice`);
    lastSequences.set(runId, startSequence);
  }
  for (const { runId, sequence } of itemsOf(state.entries)) {
    const last = lastSequences.get(runId);
    if (last === undefined) {
      found.push(`An entry belongs to the unknown run "${runId}"`);
    } else if (sequence < last) {
      found.push(`The entries of run "${runId}" are out of order`);
    }
    lastSequences.set(runId, sequence);
  }
  if (state.openRuns.length > 1) {
    found.push("The session has more than one unfinished run");
  }
  return found;
}
