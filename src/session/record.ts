import type { WireSummaryEntry } from "../context/summary.ts";
import type { ContentPart } from "../messages/content.ts";
import type { AgentMessage } from "../messages/message.ts";
import type { WireRunResult } from "../messages/result.ts";
import { isMain } from "./ids.ts";
import type { WireSessionDocument } from "./session_document.ts";

/** Version of the record format that is read and written. */
export const SESSION_JOURNAL_SCHEMA_VERSION = 1;

/** Why a branch was made. */
export type SessionBranchIntent = "fork" | "rollback" | "retry";

/** Data of a `checkpoint`: replaces everything before it. */
export interface CheckpointData {
  /** The whole session. */
  readonly document: WireSessionDocument;
}

/** Data of a `branch_created`: the first record of every branch but `main`. */
export interface BranchCreatedData {
  /** The record that the branch goes on from; null for an empty session. */
  readonly base_record_id: string | null;
  /** The branch that it was made from. */
  readonly source_branch_id: string;
  /** Newest record of that branch at the time. */
  readonly source_head_id: string;
  /** Why it was made. */
  readonly intent: SessionBranchIntent;
  /** The run that is to be repeated; present exactly for `"retry"`. */
  readonly retried_run_id?: string;
}

/** Data of a `run_started`. */
export interface RunStartedData {
  /** Id of the run. */
  readonly run_id: string;
  /** Text of the task. */
  readonly task: string;
  /** The parts of a task that is more than text; an addition to the schema. */
  readonly content?: readonly ContentPart[];
}

/** Data of a `run_continued`. */
export interface RunContinuedData {
  /** Id of the run. */
  readonly run_id: string;
}

/** Data of a `message_appended`. */
export interface MessageAppendedData {
  /** The run. */
  readonly run_id: string;
  /** The message. */
  readonly message: AgentMessage;
}

/** Data of a `messages_appended`. */
export interface MessagesAppendedData {
  /** The run. */
  readonly run_id: string;
  /** Messages in order, possibly none. */
  readonly messages: readonly AgentMessage[];
  /** The call that is about to begin; an addition to the schema. */
  readonly tool_started?: {
    readonly tool_call_id: string;
    readonly name: string;
  };
}

/** Data of a `steering_applied`. */
export interface SteeringAppliedData {
  /** The run. */
  readonly run_id: string;
  /** Id of the input. */
  readonly input_id: string;
  /** Its text, which becomes a user message. */
  readonly content: string;
  /** The turn whose request is the first to hold it; at least 1. */
  readonly target_turn: number;
}

/** Data of a `compaction_applied`. */
export interface CompactionAppliedData {
  /** Id of the compaction. */
  readonly operation_id: string;
  /** The summary. */
  readonly summary: WireSummaryEntry;
  /** The conversation that replaces everything before; at least one message. */
  readonly messages: readonly AgentMessage[];
}

/** Data of a `run_finished`. */
export interface RunFinishedData {
  /** The run. */
  readonly run_id: string;
  /** What it came to. */
  readonly result: WireRunResult;
  /** Present if a recovery closed the run; an addition to the schema. */
  readonly recovery?: WireRecovery;
}

/** Facts about a recovery, as journals hold them. */
export interface WireRecovery {
  /** Version of these facts. */
  readonly version: number;
  /** Why the run was closed. */
  readonly reason?: string;
  /** Calls that got an interrupted result, in call order. */
  readonly interrupted_tool_call_ids?: readonly string[];
  /** When, in RFC 3339. */
  readonly recovered_at?: string;
}

/** The data of each kind of record, as it stands in the journal. */
export interface SessionRecordData {
  /** The whole session. */
  readonly checkpoint: CheckpointData;
  /** A branch begins. */
  readonly branch_created: BranchCreatedData;
  /** A run with a task begins. */
  readonly run_started: RunStartedData;
  /** A run without a task begins. */
  readonly run_continued: RunContinuedData;
  /** An answer of the model. */
  readonly message_appended: MessageAppendedData;
  /** Results of a call. */
  readonly messages_appended: MessagesAppendedData;
  /** A steering input. */
  readonly steering_applied: SteeringAppliedData;
  /** A summary replaces the conversation. */
  readonly compaction_applied: CompactionAppliedData;
  /** A run ends. */
  readonly run_finished: RunFinishedData;
}

/** What a record does to its session. */
export type SessionRecordKind = keyof SessionRecordData;

/** Members that every record has. */
export interface SessionRecordEnvelope {
  /** Unique in the journal; 32 lower-case hex digits when made here. */
  readonly recordId: string;
  /** The record that this one goes on from; null for the first. */
  readonly parentId: string | null;
  /** The branch. */
  readonly branchId: string;
  /** Place in the journal, from 1 without gaps. */
  readonly revision: number;
  /** The session. */
  readonly sessionId: string;
  /** The agent; null only for `checkpoint` and `branch_created`. */
  readonly agentId: string | null;
  /** Sequence of the event that it records; 0 for `checkpoint` and `branch_created`. */
  readonly sequence: number;
  /** When it was written, in RFC 3339; null if the journal does not say. */
  readonly createdAt: string | null;
}

/** A kind of record together with its data. */
export type SessionRecordContent<
  K extends SessionRecordKind = SessionRecordKind,
> = {
  readonly [P in K]: {
    /** What it does to the session. */
    readonly kind: P;
    /** Its data, with the member names of the journal; members that nobody here knows are kept. */
    readonly data: SessionRecordData[P];
  };
}[K];

/** One stored change of a session, frozen. */
export type SessionRecord = SessionRecordEnvelope & SessionRecordContent;

/** A change to be stored; the storage gives it its id, parent and place. */
export type SessionRecordDraft =
  & {
    /** The session; trimmed. */
    readonly sessionId: string;
    /** The branch; trimmed. @default {"main"} */
    readonly branchId?: string;
    /** The agent; null only for a checkpoint. */
    readonly agentId: string | null;
    /** Sequence of the event that it records. */
    readonly sequence: number;
  }
  & SessionRecordContent;

/** Every kind, for checks. */
export const RECORD_KINDS: Readonly<Record<SessionRecordKind, true>> = {
  checkpoint: true,
  branch_created: true,
  run_started: true,
  run_continued: true,
  message_appended: true,
  messages_appended: true,
  steering_applied: true,
  compaction_applied: true,
  run_finished: true,
};

/** True for the two kinds that are no event of a run: they may lack an agent and have sequence 0. */
export function isStructural(kind: SessionRecordKind): boolean {
  return kind === "checkpoint" || kind === "branch_created";
}

/** True for a record that alone holds the whole state of the branch `main`. */
export function isCheckpointOfMain({ kind, branchId }: SessionRecord): boolean {
  return kind === "checkpoint" && isMain(branchId);
}
