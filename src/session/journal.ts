/** What a {@linkcode JournalBackend} promises. */
export interface JournalCapabilities {
  /** `"strict"` if `append` compares and stores in one step; `"none"` if it can only refuse. */
  readonly conditionalAppend: "strict" | "none";
  /** What an acknowledged line survives: power loss, loss of a machine, the end of the process, or nothing for sure. */
  readonly durability: "fsync" | "replicated" | "process" | "eventual";
  /** Who may write to one journal at the same time. */
  readonly sharedWriters: "hosts" | "processes" | "object" | "single";
  /** Longest line in bytes of UTF-8; null for no limit. */
  readonly maxRecordBytes: number | null;
}

/** A line of a journal, named so that no other line can be meant. */
export interface JournalPosition {
  /** Number of the line, from 1. */
  readonly revision: number;
  /** The `record_id` in the line. */
  readonly recordId: string;
}

/** True if both name the same line, or both are null. */
export function isSamePosition(
  left: JournalPosition | null,
  right: JournalPosition | null,
): boolean {
  return left?.revision === right?.revision &&
    left?.recordId === right?.recordId;
}

/** One line to be stored. */
export interface JournalEntry {
  /** The line that must be the last one now; null if the journal must be empty. */
  readonly after: JournalPosition | null;
  /** Number of the new line: `after.revision + 1`, or 1. */
  readonly revision: number;
  /** The `record_id` in the line. */
  readonly recordId: string;
  /** The line without its line feed; it holds none. */
  readonly line: string;
  /** True if the line alone holds the whole state of the branch `main`, so that a reader may begin with it. */
  readonly checkpoint: boolean;
}

/** Whether a line was stored; a value, since it must survive transports that lose error classes. */
export type JournalAppendResult =
  | { readonly ok: true }
  | {
    readonly ok: false;
    /** The last line of the journal, as far as known; null if it is empty. */
    readonly last: JournalPosition | null;
  };

/** A stored line together with its number. */
export interface JournalLine {
  /** Number of the line, from 1. */
  readonly revision: number;
  /** The line without its line feed. */
  readonly line: string;
}

/** How a call may be ended early. */
export interface JournalCallOptions {
  /** Ends the wait of the caller. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Keeps the lines of journals; the one thing that differs between media.
 *
 * A journal belongs to one session and is a growing list of lines, numbered from
 * 1 without gaps. A line is JSON text; the backend stores it as it is and looks
 * into it only where its medium forces it to. All meaning lives in
 * {@linkcode JournalTreeStorage}, which keeps what it read in memory, asks only
 * for what is new, and never calls `append` twice at the same time for one
 * session. Other storages, processes and hosts may do so at any moment.
 *
 * `sessionId` is trimmed and not blank. A backend derives its key, file or
 * object name from it; different ids never share a journal. Ids with a lone
 * surrogate are refused before a backend sees them.
 *
 * Rules for every backend:
 *
 * - *One step.* `append` compares and stores atomically. No lock, transaction
 *   or connection outlives a call, and none is held while `read` waits for its
 *   reader.
 * - *Durable before it resolves*, as `capabilities.durability` says. A crash
 *   before that leaves the line stored as a whole or not at all.
 * - *Prefix.* `read` never gives a line unless it gave all before it. Lines
 *   never change.
 * - *Visible.* Once `append` resolved, every later `read` through the same
 *   object sees the line; through any object if `conditionalAppend` is
 *   `"strict"`.
 * - *Constant cost.* `append`, and `read` from the last known line, cost what
 *   they move, not what the journal holds.
 * - *Exact.* Lines come back unit by unit as they were given, carriage returns
 *   and byte-order marks included.
 *
 * `journalContract` of `@ejagent/core/testing` checks all of them.
 */
export interface JournalBackend {
  /** What this backend promises. */
  readonly capabilities: JournalCapabilities;

  /**
   * Reads lines in order, in chunks of any size.
   *
   * Called when a session is opened (`after` null) and before every read and
   * after every refused append (`after` the last line known). The reader takes
   * each chunk before it asks for the next one and may stop early. Lines that
   * are appended meanwhile may be given or not. Never creates anything; a
   * session without journal has no lines.
   *
   * The iteration may reject with
   * {@linkcode JournalReplacedError} if the line `after` is not there any more
   * (the reader forgets what it knows and reads from the start),
   * {@linkcode SessionSerializationError} if a line is not text, or
   * {@linkcode SessionStorageError}; anything else is passed on as the cause of one.
   *
   * @param after Reading begins behind this line; null for all lines.
   * @param options `signal`: rejects with an {@linkcode AgentCancelledError}.
   */
  read(
    sessionId: string,
    after: JournalPosition | null,
    options?: JournalCallOptions,
  ): AsyncIterable<readonly string[]>;

  /**
   * Stores a line if the journal still ends where the writer thinks.
   *
   * `ok: false` means that it ends elsewhere and nothing was stored; the caller
   * reads on from what it knows and decides anew.
   *
   * May reject: with {@linkcode SessionStorageError} (its `committed` is
   * believed: `"no"` for a line that is certainly not stored; after `"unknown"`
   * the caller forgets what it knows of the session), with
   * {@linkcode SessionLockTimeoutError}, or with {@linkcode AgentCancelledError}.
   * Anything else counts as a lost acknowledgement: the caller reads on, takes
   * the line for stored if it finds its record, else calls `append` again with
   * the same entry.
   *
   * @param options `signal`: rejects while nothing is stored; without effect
   * once storing has begun.
   */
  append(
    sessionId: string,
    entry: JournalEntry,
    options?: JournalCallOptions,
  ): Promise<JournalAppendResult>;

  /**
   * Finds the newest line that was appended with `checkpoint: true`.
   *
   * Called instead of reading everything when only the branch `main` is of
   * interest; the caller then reads on behind that line. Optional: leave it out
   * where finding the line costs as much as reading. Null makes the caller read
   * from the start. Rejects like `read`.
   */
  findCheckpoint?(
    sessionId: string,
    options?: JournalCallOptions,
  ): Promise<JournalLine | null>;

  /**
   * Names the file that holds a journal, for whoever has to mend it by hand.
   * Optional: leave it out where there is no file.
   */
  nameOf?(sessionId: string): string | Promise<string>;

  /** Releases what the backend holds. Called once, after all other calls have settled. */
  close?(): Promise<void>;
}
