import type { SummaryEntry } from "../context/summary.ts";
import type { TaskInput } from "../messages/content.ts";
import { type AgentMessage, userMessage } from "../messages/message.ts";
import type { AgentRunResult } from "../messages/result.ts";
import { SessionSerializationError } from "./errors.ts";
import {
  append,
  emptyStrand,
  findItem,
  itemsOf,
  lastItem,
  type Strand,
} from "./strand.ts";

/** One message of a session, with the run that it belongs to. */
export interface SessionEntry {
  /** The run. */
  readonly runId: string;
  /** Sequence of the event that brought it; comparable within its run only. */
  readonly sequence: number;
  /** The message, frozen. */
  readonly message: AgentMessage;
}

/** How a run began: with a task, or by going on without one. */
export type SessionRunIntent = "task" | "continue";

/** Facts about a run that was closed after its process was lost. */
export interface RunRecovery {
  /** Why it was closed; null if the journal does not say. */
  readonly reason: string | null;
  /** Calls that got an interrupted result, in call order. */
  readonly interruptedToolCallIds: readonly string[];
  /** When, in RFC 3339; null if the journal does not say. */
  readonly recoveredAt: string | null;
}

/** One run of a session. */
export interface SessionRun {
  /** Id of the run. */
  readonly runId: string;
  /** Text of the task; null for a continue run. */
  readonly task: string | null;
  /** How it began. */
  readonly intent: SessionRunIntent;
  /** Sequence of its first event. */
  readonly startSequence: number;
  /** Sequence of its last event; null while it is unfinished. */
  readonly finishSequence: number | null;
  /** What it came to; null while it is unfinished. */
  readonly result: AgentRunResult | null;
  /** Set if the run was closed by a recovery; checkpoints do not keep it. */
  readonly recovery: RunRecovery | null;
}

/** A replacement of the conversation by a summary. */
export interface SessionCompaction {
  /** Id of the compaction. */
  readonly operationId: string;
  /** Sequence of the event that brought it. */
  readonly sequence: number;
  /** The summary. */
  readonly summary: SummaryEntry;
  /** The conversation that replaces the covered entries, oldest first; at least one message. */
  readonly messages: readonly AgentMessage[];
  /** How many entries, from the first, it replaces. */
  readonly coveredEntryCount: number;
}

/** How a run begins. */
export type RunStart = Pick<
  SessionRun,
  "runId" | "task" | "intent" | "startSequence"
>;

/** How a run ends. */
export interface RunFinish {
  /** The run. */
  readonly runId: string;
  /** Sequence of its last event. */
  readonly finishSequence: number;
  /** What it came to. */
  readonly result: AgentRunResult;
  /** Set if a recovery closed it. */
  readonly recovery: RunRecovery | null;
}

/** A run that has not finished. */
export interface OpenRun {
  /** The run. */
  readonly runId: string;
  /** The highest sequence so far. */
  readonly lastSequence: number;
  /** Ids of the calls of its last answer that are known to have begun. */
  readonly startedCallIds: readonly string[];
}

/**
 * A session at one moment. Never changes; what follows from it shares its lists.
 */
export interface SessionState {
  readonly sessionId: string;
  readonly agentId: string | null;
  readonly entries: Strand<SessionEntry>;
  readonly starts: Strand<RunStart>;
  readonly finishes: Strand<RunFinish>;
  readonly compactions: Strand<SessionCompaction>;
  /** One run at most, except in documents of careless writers. */
  readonly openRuns: readonly OpenRun[];
  /** Literals that were rounded when they were read, since no number of ours holds them. */
  readonly lossyNumbers: readonly string[];
}

const none: readonly string[] = [];

/** The session before its first record. */
export function emptyState(
  sessionId: string,
  agentId: string | null = null,
): SessionState {
  return {
    sessionId,
    agentId,
    entries: emptyStrand(),
    starts: emptyStrand((start) => start.runId),
    finishes: emptyStrand((finish) => finish.runId),
    compactions: emptyStrand((compaction) => compaction.operationId),
    openRuns: [],
    lossyNumbers: [],
  };
}

/** Ties the session to its agent. */
export function bindAgent(state: SessionState, agentId: string): SessionState {
  if (state.agentId === agentId) return state;
  if (state.agentId !== null) {
    throw new SessionSerializationError(
      `Session "${state.sessionId}" belongs to agent "${state.agentId}", not to "${agentId}"; use its agentId`,
    );
  }
  return changed(state, { agentId });
}

/** Begins a run that has a task; the task becomes its first entry. */
export function beginTask(
  state: SessionState,
  run: {
    readonly runId: string;
    readonly sequence: number;
    readonly task: string;
  },
  content: TaskInput = run.task,
): SessionState {
  const { runId, sequence, task } = run;
  const started = begin(state, {
    runId,
    task,
    intent: "task",
    startSequence: sequence,
  });
  const entry = { runId, sequence, message: userMessage(content) };
  return changed(started, { entries: append(started.entries, entry) });
}

/** Begins a run that goes on without a task. */
export function beginContinue(
  state: SessionState,
  runId: string,
  sequence: number,
): SessionState {
  return begin(state, {
    runId,
    task: null,
    intent: "continue",
    startSequence: sequence,
  });
}

function begin(state: SessionState, start: RunStart): SessionState {
  const { runId, startSequence } = start;
  if (runId === "") {
    throw new SessionSerializationError("The run id must not be empty");
  }
  if (startSequence < 1) {
    throw new SessionSerializationError(
      "A run must start at sequence 1 or later",
    );
  }
  if (findItem(state.starts, runId) !== undefined) {
    throw new SessionSerializationError(`Run "${runId}" exists already`);
  }
  if (state.openRuns.length > 0) {
    throw new SessionSerializationError(
      `The session already has an unfinished run, "${
        state.openRuns[0]!.runId
      }"; if its writer is gone, close it with recoverInterruptedRun() of the storage, or set onUnfinished: "recover"`,
    );
  }
  return changed(state, {
    starts: append(state.starts, start),
    openRuns: [{ runId, lastSequence: startSequence, startedCallIds: none }],
  });
}

/** Adds a message to an unfinished run. */
export function addMessage(
  state: SessionState,
  entry: SessionEntry,
): SessionState {
  const { runId, sequence, message } = entry;
  const run = requireOpenRun(state, runId);
  if (sequence < run.lastSequence) {
    throw new SessionSerializationError(
      `The event sequence of run "${runId}" moved backwards`,
    );
  }
  return changed(state, {
    entries: append(state.entries, entry),
    openRuns: replaced(state, {
      runId,
      lastSequence: sequence,
      startedCallIds: message.role === "assistant" ? none : run.startedCallIds,
    }),
  });
}

/** Notes that a call is about to begin; of no consequence for runs that are not open. */
export function noteStartedCall(
  state: SessionState,
  runId: string,
  callId: string,
): SessionState {
  const run = state.openRuns.find((open) => open.runId === runId);
  if (run === undefined) return state;
  const startedCallIds = [...run.startedCallIds, callId];
  const { lastSequence } = run;
  const openRuns = replaced(state, { runId, lastSequence, startedCallIds });
  return changed(state, { openRuns });
}

/** Ends an unfinished run. */
export function finishRun(
  state: SessionState,
  finish: RunFinish,
): SessionState {
  const { runId, finishSequence } = finish;
  if (finishSequence <= requireOpenRun(state, runId).lastSequence) {
    throw new SessionSerializationError(
      `Run "${runId}" must finish after its last event`,
    );
  }
  return changed(state, {
    finishes: append(state.finishes, finish),
    openRuns: state.openRuns.filter((run) => run.runId !== runId),
  });
}

/** Replaces the conversation; the entries stay for audit. */
export function applyCompaction(
  state: SessionState,
  compaction: Omit<SessionCompaction, "coveredEntryCount">,
): SessionState {
  const { operationId, sequence, messages } = compaction;
  if (operationId === "") {
    throw new SessionSerializationError("The operation id must not be empty");
  }
  if (sequence < 1) {
    throw new SessionSerializationError(
      "A compaction must have sequence 1 or later",
    );
  }
  if (messages.length === 0) {
    throw new SessionSerializationError(
      "A compaction must leave at least one message",
    );
  }
  if (findItem(state.compactions, operationId) !== undefined) {
    throw new SessionSerializationError(
      `Compaction "${operationId}" exists already`,
    );
  }
  const covering = {
    ...compaction,
    coveredEntryCount: state.entries.length,
  };
  return changed(state, { compactions: append(state.compactions, covering) });
}

/** The conversation of a session, oldest first. */
export function conversationOf(state: SessionState): AgentMessage[] {
  const latest = lastItem(state.compactions);
  const added = itemsOf(state.entries, latest?.coveredEntryCount).map((entry) =>
    entry.message
  );
  return latest === undefined ? added : [...latest.messages, ...added];
}

/** All runs, oldest first. */
export function runsOf(state: SessionState): SessionRun[] {
  return itemsOf(state.starts).map((start) => runOf(state, start));
}

/** The newest run. */
export function lastRunOf(state: SessionState): SessionRun | null {
  const start = lastItem(state.starts);
  return start === undefined ? null : runOf(state, start);
}

function runOf(state: SessionState, start: RunStart): SessionRun {
  const finish = findItem(state.finishes, start.runId);
  return {
    ...start,
    finishSequence: finish?.finishSequence ?? null,
    result: finish?.result ?? null,
    recovery: finish?.recovery ?? null,
  };
}

function requireOpenRun(state: SessionState, runId: string): OpenRun {
  const run = state.openRuns.find((open) => open.runId === runId);
  if (run !== undefined) return run;
  const isKnown = findItem(state.starts, runId) !== undefined;
  throw new SessionSerializationError(
    isKnown ? `Run "${runId}" is already finished` : `Unknown run "${runId}"`,
  );
}

function replaced(
  { openRuns }: SessionState,
  next: OpenRun,
): readonly OpenRun[] {
  if (openRuns.length === 1) return [next];
  return openRuns.map((run) => run.runId === next.runId ? next : run);
}

/** The state but for some members; written out, since spreading takes a microsecond on Node 20. */
function changed(state: SessionState, to: Partial<SessionState>): SessionState {
  return {
    sessionId: state.sessionId,
    agentId: to.agentId ?? state.agentId,
    entries: to.entries ?? state.entries,
    starts: to.starts ?? state.starts,
    finishes: to.finishes ?? state.finishes,
    compactions: to.compactions ?? state.compactions,
    openRuns: to.openRuns ?? state.openRuns,
    lossyNumbers: state.lossyNumbers,
  };
}
