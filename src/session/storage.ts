import type { Clock, IdSource, Logger } from "../base/ports.ts";
import type { TaskInput } from "../messages/content.ts";
import type { SessionRecord, SessionRecordDraft } from "./record.ts";
import type { AgentSession } from "./session.ts";
import type { SessionBranch } from "./tree.ts";

/** A session as it is at one record. */
export interface SessionCheckout {
  /** The branch of the record; its head is that record. */
  readonly branch: SessionBranch;
  /** The record. */
  readonly head: SessionRecord;
  /** The session; the caller's own. */
  readonly session: AgentSession;
}

/** What is needed to repeat a run. */
export interface SessionRetry {
  /** A new branch that ends right before the run. */
  readonly checkout: SessionCheckout;
  /** The task of the run, to be run again. */
  readonly task: TaskInput;
  /** The run. */
  readonly retriedRunId: string;
}

/** How a {@linkcode JournalTreeStorage} works. */
export interface JournalStorageOptions {
  /** Stamps records and drives the pauses between attempts. @default {systemClock} */
  readonly clock?: Clock | undefined;
  /** Names records and branches; an id must never come again, not even after a restart. @default {randomIds} */
  readonly ids?: IdSource | undefined;
  /** Told of oddities in journals. @default {consoleLogger} */
  readonly logger?: Logger | undefined;
  /**
   * How many sessions stay in memory, the least recently used leave first; 0
   * reads the journal at every call.
   *
   * @default {64}
   */
  readonly cachedSessionCount?: number | undefined;
  /**
   * After how many records of `main` it is worth a checkpoint, which bounds what
   * a later program has to read; null for never. A checkpoint is as long as the
   * session, so at least as much must have been added as the last one took.
   *
   * @default {null}
   */
  readonly checkpointEvery?: number | null | undefined;
}

/** What a recovery did. */
export type SessionRecoveryResult =
  | {
    /** There was nothing to recover. */
    readonly status: "clean";
  }
  | {
    /** An unfinished run was closed. */
    readonly status: "recovered";
    /** The run. */
    readonly runId: string;
    /** Calls that got an interrupted result, in call order. */
    readonly interruptedToolCallIds: readonly string[];
    /** The branch as it is now. */
    readonly checkout: SessionCheckout;
  };

/** How a storage call may be ended early. */
export interface StorageCallOptions {
  /** Ends the wait; without effect once writing has begun. */
  readonly signal?: AbortSignal | undefined;
}

/** Which branch a call is about. */
export interface BranchOptions extends StorageCallOptions {
  /** The branch. @default {"main"} */
  readonly branchId?: string | undefined;
}

/** Which state a checkout shows. */
export interface CheckoutOptions extends BranchOptions {
  /** A record of any branch; the newest of the branch if omitted. */
  readonly recordId?: string | undefined;
}

/** Under which condition a record is appended. */
export interface AppendOptions extends StorageCallOptions {
  /** The head that the branch must have, null for none; omitted, any head will do. */
  readonly expectedHead?: string | null | undefined;
  /**
   * An id of the caller's own, not used before; trimmed. If a record of this id
   * is stored already, it is returned and nothing is written, so that an append
   * whose outcome is unknown can be repeated; but see `freshId`.
   *
   * @default {a fresh one}
   */
  readonly recordId?: string | undefined;
  /**
   * True if this is the first append with that `recordId`, as if the storage had
   * made it: a record that has it is then another one, and the append is refused
   * as `record_exists`. A random UUID of 32 lower-case hex digits is not looked
   * for where the journal was read from its last checkpoint only; for any other
   * id the whole journal is read once. False for a repetition.
   *
   * @default {false}
   */
  readonly freshId?: boolean | undefined;
}

/** How a session is saved. */
export interface SaveOptions extends BranchOptions {
  /** The head that the branch must have, null for none; omitted, see {@linkcode SessionTreeStorage.save}. */
  readonly expectedHead?: string | null | undefined;
  /**
   * True saves even if something newer is lost from the branch.
   *
   * @default {false}
   */
  readonly overwrite?: boolean | undefined;
}

/** How a branch is made. */
export interface NewBranchOptions extends StorageCallOptions {
  /** The branch to make it from. @default {"main"} */
  readonly sourceBranch?: string | undefined;
  /** The name of the new branch. @default {a fresh one} */
  readonly branchId?: string | undefined;
}

/** How a branch is forked. */
export interface ForkOptions extends NewBranchOptions {
  /** The record to go on from: the head of the source branch or one before it. @default {the head} */
  readonly fromRecordId?: string | undefined;
}

/** How a branch is rolled back. */
export interface RollbackOptions extends NewBranchOptions {
  /** The record to go back to: the head of the source branch or one before it. */
  readonly toRecordId: string;
}

/** Which run is to be repeated. */
export interface RetryOptions extends NewBranchOptions {
  /** The run. */
  readonly runId: string;
}

/** How an unfinished run is closed. */
export interface RecoverOptions extends BranchOptions {
  /** Why, for the journal. @default {"process_lost"} */
  readonly reason?: string | undefined;
}

/**
 * Keeps whole sessions.
 *
 * The smallest storage there is: it knows the newest state alone and one writer.
 */
export interface SessionStorage {
  /** The session; null if there is none. The caller's own. */
  load(
    sessionId: string,
    options?: StorageCallOptions,
  ): Promise<AgentSession | null>;
  /** Stores the session as it is now. */
  save(session: AgentSession, options?: SaveOptions): Promise<unknown>;
}

/**
 * Keeps sessions as journals of records, with branches.
 *
 * Every change is one record; nothing is ever removed. Several programs may use
 * one session at the same time: whoever states the head that it expects is told
 * of the others by a {@linkcode SessionConflictError}. Ids are trimmed.
 *
 * Every method rejects with {@linkcode SessionSerializationError} if the journal
 * is damaged, {@linkcode SessionStorageError} if the medium fails, `TypeError`
 * or `RangeError` for ids that are no text or blank, and
 * {@linkcode AgentCancelledError} if its signal aborts before writing began.
 */
export interface SessionTreeStorage extends SessionStorage {
  /** The state of `main`; null if the session does not exist. */
  load(
    sessionId: string,
    options?: StorageCallOptions,
  ): Promise<AgentSession | null>;

  /**
   * The state at the head of a branch, or at one record; null if there is no
   * such branch. It may hold an unfinished run.
   *
   * @throws {SessionArgumentError} Unknown record.
   */
  checkout(
    sessionId: string,
    options?: CheckoutOptions,
  ): Promise<SessionCheckout | null>;

  /** The newest record of a branch; null if there is no such branch. */
  head(
    sessionId: string,
    options?: BranchOptions,
  ): Promise<SessionRecord | null>;

  /** Branches in the order of their creation. */
  listBranches(
    sessionId: string,
    options?: StorageCallOptions,
  ): Promise<readonly SessionBranch[]>;

  /** All records in the order of the journal. */
  records(
    sessionId: string,
    options?: StorageCallOptions,
  ): Promise<readonly SessionRecord[]>;

  /**
   * Stores one change at the head of its branch.
   *
   * @throws {SessionArgumentError} Unknown branch; a `branch_created`, which
   * only `fork`, `rollback` and `prepareRetry` write; or an id that is said to be
   * fresh and is not.
   * @throws {SessionConflictError} The head is not the expected one.
   * @throws {SessionSerializationError} The data is no JSON or breaks a rule of
   * the session.
   */
  append(
    draft: SessionRecordDraft,
    options?: AppendOptions,
  ): Promise<SessionRecord>;

  /**
   * Stores the whole session as a checkpoint, which replaces what the branch
   * holds. Earlier records stay in the journal.
   *
   * @throws {SessionConflictError} The head is not the expected one.
   * @throws {SessionArgumentError} No head was expected, and the branch holds
   * runs, results or messages that the session lacks; `overwrite` drops them.
   */
  save(session: AgentSession, options?: SaveOptions): Promise<SessionRecord>;

  /**
   * Makes a branch that goes on from a record; the source stays as it is.
   *
   * @throws {SessionArgumentError} Unknown branch or record, a name that is
   * taken, a record that is not in the source branch, or an unfinished run there.
   */
  fork(sessionId: string, options?: ForkOptions): Promise<SessionCheckout>;

  /** As `fork`, with the intent to drop what came after the record. */
  rollback(
    sessionId: string,
    options: RollbackOptions,
  ): Promise<SessionCheckout>;

  /**
   * Makes a branch that ends right before a run, and gives back its task.
   *
   * Nothing is executed. Works for unfinished runs too.
   *
   * @throws {SessionArgumentError} Unknown run, or one without a task of its own.
   * @throws {SessionSerializationError} Its task is empty.
   */
  prepareRetry(sessionId: string, options: RetryOptions): Promise<SessionRetry>;

  /**
   * Closes a run whose process is gone: calls without a result get one that
   * says so, and the run fails.
   *
   * Calls no model and no tool. Repeating it is harmless. If the process lives
   * after all, its next append is refused.
   *
   * @returns `"clean"` also if there is no such session or branch.
   */
  recoverInterruptedRun(
    sessionId: string,
    options?: RecoverOptions,
  ): Promise<SessionRecoveryResult>;

  /**
   * Stores the state of `main` as a checkpoint, if the storage is set up for
   * that and enough was added since the last one.
   *
   * @returns The checkpoint; null if none was due or another writer was faster.
   */
  checkpointIfDue?(
    sessionId: string,
    options?: StorageCallOptions,
  ): Promise<SessionRecord | null>;
}

/** True for storages with branches and conditional appends. */
export function isTreeStorage(
  storage: SessionStorage,
): storage is SessionTreeStorage {
  const { append, checkout, head } = storage as Partial<SessionTreeStorage>;
  return [append, checkout, head].every((method) =>
    typeof method === "function"
  );
}
