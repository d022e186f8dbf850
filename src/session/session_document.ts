import { deepFreeze } from "../base/freeze.ts";
import type { WireSummaryEntry } from "../context/summary.ts";
import type { AgentMessage } from "../messages/message.ts";
import { resultToWire, type WireRunResult } from "../messages/result.ts";
import { SessionSerializationError } from "./errors.ts";
import {
  runsOf,
  type SessionCompaction,
  type SessionEntry,
  type SessionRun,
  type SessionRunIntent,
  type SessionState,
} from "./state.ts";
import { itemsOf } from "./strand.ts";

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
 * The whole session as a JSON document.
 *
 * @throws {SessionSerializationError} It contradicts itself.
 */
export function documentOf(state: SessionState): WireSessionDocument {
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
