/**
 * Conversations that outlive the program: sessions as journals of records, with
 * branches, and the port behind which any medium can keep them.
 *
 * Choose this entry to read, write or serve sessions without an agent; the same
 * names are in the main entry.
 *
 * @example A session with a branch
 * ```ts
 * import { AgentSession, MemorySessionStorage } from "@ejagent/core/session";
 * import { equal } from "node:assert/strict";
 *
 * const session = new AgentSession("trip", "planner");
 * session.beginRun({ runId: "r1", sequence: 1 }, "Lisbon or Porto?");
 * session.appendMessage({ runId: "r1", sequence: 3 }, { role: "assistant", content: "Porto." });
 *
 * const storage = new MemorySessionStorage();
 * const { recordId } = await storage.save(session);
 * equal((await storage.head("trip"))?.recordId, recordId);
 * equal((await storage.load("trip"))?.messages.at(-1)?.content, "Porto.");
 * ```
 *
 * @module
 */

export { AgentSession, type SessionRunPoint } from "./session.ts";
export type {
  RunRecovery,
  SessionCompaction,
  SessionEntry,
  SessionRun,
  SessionRunIntent,
} from "./state.ts";
export { sessionFromJson, sessionToJson } from "./session_codec.ts";
export {
  SESSION_SCHEMA_VERSION,
  type WireSessionCompaction,
  type WireSessionDocument,
  type WireSessionEntry,
  type WireSessionRun,
} from "./session_document.ts";
export {
  type BranchCreatedData,
  type CheckpointData,
  type CompactionAppliedData,
  type MessageAppendedData,
  type MessagesAppendedData,
  type RunContinuedData,
  type RunFinishedData,
  type RunStartedData,
  SESSION_JOURNAL_SCHEMA_VERSION,
  type SessionBranchIntent,
  type SessionRecord,
  type SessionRecordContent,
  type SessionRecordData,
  type SessionRecordDraft,
  type SessionRecordEnvelope,
  type SessionRecordKind,
  type SteeringAppliedData,
  type WireRecovery,
} from "./record.ts";
export { sessionRecordFromJson, sessionRecordToJson } from "./record_codec.ts";
export type { SessionBranch } from "./tree.ts";
export { DEFAULT_SESSION_BRANCH } from "./ids.ts";
export {
  type AppendOptions,
  type BranchOptions,
  type CheckoutOptions,
  type ForkOptions,
  isTreeStorage,
  type JournalStorageOptions,
  type NewBranchOptions,
  type RecoverOptions,
  type RetryOptions,
  type RollbackOptions,
  type SaveOptions,
  type SessionCheckout,
  type SessionRecoveryResult,
  type SessionRetry,
  type SessionStorage,
  type SessionTreeStorage,
  type StorageCallOptions,
} from "./storage.ts";
export type {
  JournalAppendResult,
  JournalBackend,
  JournalCallOptions,
  JournalCapabilities,
  JournalEntry,
  JournalLine,
  JournalPosition,
} from "./journal.ts";
export { JournalTreeStorage } from "./tree_storage.ts";
export { MemoryJournal, MemorySessionStorage } from "./memory.ts";
export { SessionRecorder, type SessionRecorderOptions } from "./recorder.ts";
export {
  exportJournal,
  type ImportedJournal,
  importJournal,
  type ImportJournalOptions,
  type JournalOwner,
} from "./export.ts";
export type { JournalSource } from "./journal_source.ts";
export {
  type ConflictFacts,
  type DamageOptions,
  JournalReplacedError,
  type NotRetryableReason,
  type SessionArgumentCode,
  SessionArgumentError,
  SessionConflictError,
  SessionError,
  SessionLockTimeoutError,
  SessionSerializationError,
  type SessionStorageCode,
  SessionStorageError,
  SessionUnsupportedError,
  type StorageFailureOptions,
} from "./errors.ts";
export {
  SummaryEntry,
  type SummaryEntryInput,
  type WireSummaryEntry,
} from "../context/summary.ts";
export type {
  AgentMessage,
  AssistantAgentMessage,
  MessageMetadata,
  SystemMessage,
  ToolCallEntry,
  ToolMessage,
  UserMessage,
} from "../messages/message.ts";
export type {
  AudioPart,
  ContentPart,
  FilePart,
  ImagePart,
  TaskInput,
  TextPart,
} from "../messages/content.ts";
export {
  type AgentRunResult,
  runResult,
  type RunResultInput,
} from "../messages/result.ts";
