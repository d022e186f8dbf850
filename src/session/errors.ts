import { AgentCancelledError } from "../base/abort.ts";
import { EJAgentError, errorText } from "../base/errors.ts";

/** Base of the errors about sessions and their journals. */
export abstract class SessionError extends EJAgentError {}

/** What a {@linkcode SessionArgumentError} is about. */
export type SessionArgumentCode =
  | "unknown_branch"
  | "unknown_record"
  | "unknown_run"
  | "branch_exists"
  | "record_exists"
  | "not_an_ancestor"
  | "unfinished_run"
  | "foreign_agent"
  | "run_not_retryable"
  | "reserved_record"
  | "stale_session";

/** Why a run cannot be repeated: it had no task of its own, or only its outcome is stored. */
export type NotRetryableReason = "continue_run" | "inside_checkpoint";

/**
 * A call names a branch, record or run that the session does not have or that
 * is not fit for what was asked. Nothing was written.
 */
export class SessionArgumentError extends SessionError {
  /** What is wrong with the argument. */
  override readonly code: SessionArgumentCode;
  /** Set for `"run_not_retryable"`, else null. */
  readonly reason: NotRetryableReason | null;

  /** Makes the error. @param reason Why a run is not retryable. */
  constructor(
    code: SessionArgumentCode,
    message: string,
    reason: NotRetryableReason | null = null,
  ) {
    super(message);
    this.code = code;
    this.reason = reason;
  }
}

/** Where stored data is damaged. */
export interface DamageOptions extends ErrorOptions {
  /** Session whose journal is damaged. */
  readonly sessionId?: string | undefined;
  /** Line of the journal, from 1; the same number as the revision. */
  readonly line?: number | undefined;
  /** Byte at which that line begins, from 0. */
  readonly offset?: number | undefined;
  /** What helps; the last part of the message. */
  readonly remedy?: string | undefined;
}

/**
 * Stored data is not a valid session, or data to be stored is not JSON or breaks
 * a rule of the session. Nothing was written.
 */
export class SessionSerializationError extends SessionError {
  /** Always `"session_serialization"`. */
  override readonly code = "session_serialization";
  /** Session whose journal is damaged; null for data that is in no journal. */
  readonly sessionId: string | null;
  /** Line of the journal, from 1; null for data that is in no journal. */
  readonly line: number | null;
  /** Byte at which that line begins, from 0; null if it was not determined. */
  readonly offset: number | null;
  readonly #finding: string;
  readonly #options: DamageOptions;

  /** Makes the error. @param message What is wrong; session, place and remedy are added to it. */
  constructor(message: string, options: DamageOptions = {}) {
    const { remedy } = options;
    const place = placeText(options);
    const ending = remedy === undefined ? place : `${place}; ${remedy}`;
    super(journalText(options) + message + ending, options);
    this.sessionId = options.sessionId ?? null;
    this.line = options.line ?? null;
    this.offset = options.offset ?? null;
    this.#finding = message;
    this.#options = options;
  }

  /** The same finding with its place. @param line From 1. @param offset In bytes, from 0. */
  at(line: number, offset?: number): SessionSerializationError {
    return this.#with({ line, offset });
  }

  /** The same finding with what helps. @param remedy Begins in lower case. */
  remediedBy(remedy: string): SessionSerializationError {
    return this.#with({ remedy });
  }

  /** The same finding, as damage to the journal of a session. */
  of(sessionId: string): SessionSerializationError {
    return this.#with({ sessionId });
  }

  #with(facts: DamageOptions): SessionSerializationError {
    const options = { ...this.#options, ...facts };
    return new SessionSerializationError(this.#finding, options);
  }
}

function journalText({ sessionId }: DamageOptions): string {
  return sessionId === undefined
    ? ""
    : `The journal of session "${sessionId}" is damaged: `;
}

function placeText({ line, offset }: DamageOptions): string {
  if (line === undefined) return "";
  return offset === undefined
    ? ` (line ${line})`
    : ` (line ${line}, byte ${offset})`;
}

/** Codes of {@linkcode SessionStorageError} and its subclasses. */
export type SessionStorageCode =
  | "session_storage"
  | "session_conflict"
  | "session_lock_timeout"
  | "session_journal_replaced";

/** Facts about a storage failure. */
export interface StorageFailureOptions extends ErrorOptions {
  /**
   * Whether a failed append may have been stored after all.
   *
   * @default {"no"}
   */
  readonly committed?: "no" | "unknown" | undefined;
  /**
   * True if the same call may well succeed later.
   *
   * @default {false}
   */
  readonly retryable?: boolean | undefined;
}

/** The medium of a session failed or was used by somebody else. */
export class SessionStorageError extends SessionError {
  /** Which failure it is. */
  override readonly code: SessionStorageCode = "session_storage";
  /** `"unknown"` if a failed append may have been stored after all. */
  readonly committed: "no" | "unknown";
  /** True if the same call may well succeed later. */
  readonly retryable: boolean;

  /** Makes the error. @param message What failed and what to do about it. */
  constructor(message: string, options: StorageFailureOptions = {}) {
    super(message, { cause: options.cause });
    this.committed = options.committed ?? "no";
    this.retryable = options.retryable ?? false;
  }
}

/** What an append expected and what it found. */
export interface ConflictFacts {
  /** The branch. */
  readonly branchId: string;
  /** Record that the caller took for the newest of the branch; null for none. */
  readonly expectedHead: string | null;
  /** Newest record of the branch; null for none. */
  readonly actualHead: string | null;
}

/** Another writer was faster: the branch has moved on. Nothing was written. */
export class SessionConflictError extends SessionStorageError
  implements ConflictFacts {
  /** Always `"session_conflict"`. */
  override readonly code = "session_conflict";
  /** The branch. */
  readonly branchId: string;
  /** Record that the caller took for the newest of the branch; null for none. */
  readonly expectedHead: string | null;
  /** Newest record of the branch; null for none. */
  readonly actualHead: string | null;

  /** Makes the error. @param message Names the branch and both heads if omitted. */
  constructor(facts: ConflictFacts, message: string = movedOn(facts)) {
    const { branchId, expectedHead, actualHead } = facts;
    super(message);
    this.branchId = branchId;
    this.expectedHead = expectedHead;
    this.actualHead = actualHead;
  }
}

function movedOn(
  { branchId, expectedHead, actualHead }: ConflictFacts,
): string {
  return `Branch "${branchId}" has moved on: expected head ${expectedHead}, actual head ${actualHead}; load it, or run, again`;
}

/** Another process held the lock of a journal for too long. Nothing was written. */
export class SessionLockTimeoutError extends SessionStorageError {
  /** Always `"session_lock_timeout"`. */
  override readonly code = "session_lock_timeout";

  /** Makes the error. @param message Which lock, and what to do about it. */
  constructor(message: string, options: ErrorOptions = {}) {
    super(message, { cause: options.cause, retryable: true });
  }
}

/**
 * Thrown by a {@linkcode JournalBackend} whose journal no longer continues what
 * the reader knows: it was deleted, cut or replaced.
 *
 * {@linkcode JournalTreeStorage} answers by reading everything anew, so
 * applications meet it only when that happens again and again.
 */
export class JournalReplacedError extends SessionStorageError {
  /** Always `"session_journal_replaced"`. */
  override readonly code = "session_journal_replaced";

  /** Makes the error. @param sessionId The session. */
  constructor(sessionId: string) {
    super(
      `The journal of session "${sessionId}" was replaced while it was in use`,
      {
        retryable: true,
      },
    );
  }
}

/**
 * What a read of a journal throws, whatever its medium threw.
 *
 * A failure that the backend knows nothing about may be gone the next time.
 */
export function readFailure(
  sessionId: string,
  error: unknown,
): SessionError | AgentCancelledError {
  if (error instanceof SessionSerializationError) return error.of(sessionId);
  if (error instanceof SessionError || error instanceof AgentCancelledError) {
    return error;
  }
  return new SessionStorageError(
    `The journal of session "${sessionId}" cannot be read: ${causeText(error)}`,
    { retryable: true, cause: error },
  );
}

const maxCauseLength = 200;

/** What a medium said, short enough to end a message. */
export function causeText(cause: unknown): string {
  // Where a host has several addresses, the error for all of them has no text.
  const isList = cause instanceof AggregateError && cause.message === "";
  const text = errorText(isList ? cause.errors[0] : cause)
    .replace(/\s+/g, " ").replace(/\.? *$/, "");
  return text.length > maxCauseLength
    ? `${text.slice(0, maxCauseLength)}…`
    : text;
}

/** The storage cannot do what was asked, whatever the arguments. */
export class SessionUnsupportedError extends SessionError {
  /** Always `"session_unsupported"`. */
  override readonly code = "session_unsupported";
}
