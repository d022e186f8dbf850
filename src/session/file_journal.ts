import { detach, isPromiseLike, throwIfAborted } from "../base/abort.ts";
import { frozen } from "../base/freeze.ts";
import { andThen } from "../base/later.ts";
import {
  type Clock,
  type IdSource,
  randomIds,
  systemClock,
} from "../base/ports.ts";
import {
  requireBoolean,
  requireMember,
  requireMethods,
  requireNumber,
} from "../base/require.ts";
import { SessionUnsupportedError } from "./errors.ts";
import type { FileMedium, FsyncMode } from "./file_appender.ts";
import { type FailedStep, fileFailure } from "./file_failure.ts";
import type { FileLockKind, FileLocks } from "./file_lock.ts";
import type {
  JournalAppendResult,
  JournalBackend,
  JournalCallOptions,
  JournalCapabilities,
  JournalEntry,
  JournalLine,
  JournalPosition,
} from "./journal.ts";
import type { JournalFiles } from "./journal_files.ts";
import { journalFileName } from "./jsonl.ts";
import { SessionFile } from "./session_file.ts";

/** How journals are kept in files. */
export interface FileJournalOptions {
  /**
   * When a line is pushed to the disk: each at once, with the end of its run, or
   * when the system likes. Only the first survives a power loss.
   *
   * @default {"always"}
   */
  readonly fsync?: FsyncMode | undefined;
  /**
   * Milliseconds to wait for another writer; 0 tries once, null waits for ever.
   *
   * @default {10000}
   */
  readonly lockTimeoutMs?: number | null | undefined;
  /**
   * Refuses locks that other programs do not respect, instead of making do with them.
   *
   * @default {false}
   */
  readonly requireFlock?: boolean | undefined;
  /** Drives the wait for another writer. */
  readonly clock?: Clock | undefined;
  /** Spreads the attempts of processes that wait for each other. */
  readonly ids?: IdSource | undefined;
}

/** Sessions whose files stay open. */
const openSessionCount = 64;

const fsyncModes: Readonly<Record<FsyncMode, true>> = {
  always: true,
  "run-end": true,
  never: true,
};

const lockKinds: Readonly<Record<FileLockKind, true>> = {
  flock: true,
  lease: true,
  process: true,
};

/**
 * Journals as files of one JSON record a line, shared with other processes and
 * with EJAgent Core 0.6.0 of Python.
 *
 * The line feed is what commits a record: bytes behind the last one are ignored
 * by reading and cut off by the next append. Reading takes no lock. An append
 * holds the lock of its session for as long as it takes to compare, write and
 * sync one line; unless somebody else wrote, it reads nothing from the file.
 *
 * @see EJAgent Core 0.6.0 journal schema 1.
 */
export class FileJournal implements JournalBackend {
  /** What the fsync mode and the locks make of a file system. */
  readonly capabilities: JournalCapabilities;
  /** What keeps the writers apart. */
  readonly lock: Pick<FileLocks, "kind">;
  readonly #medium: FileMedium;
  readonly #sessions = new Map<string, SessionFile>();

  /**
   * Opens nothing yet: files and locks are opened by the calls that need them.
   *
   * @param files The directory.
   * @param options The locks, and what else may be chosen.
   * @throws {SessionUnsupportedError} `requireFlock` is set and the locks are of another kind.
   * @throws {TypeError} An option has the wrong type.
   * @throws {RangeError} `lockTimeoutMs` is negative or not finite.
   */
  constructor(
    files: JournalFiles,
    options: FileJournalOptions & { readonly locks: FileLocks },
  ) {
    const { locks, fsync = "always", lockTimeoutMs = 10_000 } = options;
    const { clock = systemClock, ids = randomIds } = options;
    requireMethods("lock", locks, ["open"]);
    requireMember("lock.kind", locks.kind, lockKinds);
    requireMethods("clock", clock, ["now", "setTimer"]);
    requireMethods("ids", ids, ["next"]);
    this.#medium = {
      files,
      locks,
      fsync: requireMember("fsync", fsync, fsyncModes),
      lockTimeoutMs: lockTimeoutMs === null
        ? null
        : requireNumber("lockTimeoutMs", lockTimeoutMs, 0),
      clock,
      ids,
    };
    if (requireBoolean("requireFlock", options.requireFlock ?? false)) {
      requireFlock(locks);
    }
    this.lock = frozen({ kind: locks.kind });
    this.capabilities = frozen({
      conditionalAppend: "strict",
      durability: fsync === "always" ? "fsync" : "process",
      sharedWriters: locks.kind === "process" ? "object" : "processes",
      maxRecordBytes: null,
    });
  }

  /** Reads the committed lines behind a position, or all of them. */
  async *read(
    sessionId: string,
    after: JournalPosition | null,
    { signal }: JournalCallOptions = {},
  ): AsyncGenerator<readonly string[], void, void> {
    throwIfAborted(signal);
    try {
      const file = this.#file(sessionId, await this.nameOf(sessionId));
      yield* file.read(after, signal);
    } catch (error) {
      throw this.#failure("read", sessionId, error);
    } finally {
      this.#closeUnused();
    }
  }

  /** Finds the newest checkpoint of `main`, reading the file from its end. */
  async findCheckpoint(
    sessionId: string,
    { signal }: JournalCallOptions = {},
  ): Promise<JournalLine | null> {
    throwIfAborted(signal);
    try {
      const file = this.#file(sessionId, await this.nameOf(sessionId));
      return await file.findCheckpoint(signal);
    } catch (error) {
      throw this.#failure("read", sessionId, error);
    }
  }

  /** Stores one line if the file ends where the writer thinks. */
  async append(
    sessionId: string,
    entry: JournalEntry,
    { signal }: JournalCallOptions = {},
  ): Promise<JournalAppendResult> {
    throwIfAborted(signal);
    try {
      const appended = andThen(
        this.nameOf(sessionId),
        (name) => this.#file(sessionId, name).append(entry, signal),
      );
      return isPromiseLike(appended) ? await appended : appended;
    } catch (error) {
      throw this.#failure("written", sessionId, error);
    } finally {
      this.#closeUnused();
    }
  }

  /** Closes all files and locks; the next call opens what it needs again. */
  async close(): Promise<void> {
    const files = [...this.#sessions.values()];
    this.#sessions.clear();
    for (const file of files) await file.close();
    await this.#medium.locks.close?.();
  }

  /** The file of a session in its directory. */
  nameOf(sessionId: string): string | Promise<string> {
    return this.#sessions.get(sessionId)?.name ?? journalFileName(sessionId);
  }

  #failure(step: FailedStep["step"], sessionId: string, error: unknown): Error {
    const fileName = this.#sessions.get(sessionId)?.name;
    return fileFailure(error, { step, sessionId, fileName });
  }

  // Uses it at once: until its append begins, the others take it for unused.
  #file(sessionId: string, name: string): SessionFile {
    let file = this.#sessions.get(sessionId);
    if (file === undefined) {
      this.#closeUnused(openSessionCount - 1);
      file = new SessionFile(this.#medium, sessionId, name);
    }
    // A map keeps the order of insertion: the longest unused files come first.
    this.#sessions.delete(sessionId);
    this.#sessions.set(sessionId, file);
    return file;
  }

  #closeUnused(rest = openSessionCount): void {
    for (const [sessionId, file] of this.#sessions) {
      if (this.#sessions.size <= rest) return;
      if (!file.idle) continue;
      this.#sessions.delete(sessionId);
      detach(file.close());
    }
  }
}

function requireFlock({ kind }: FileLocks): void {
  if (kind === "flock") return;
  throw new SessionUnsupportedError(
    `Only locks of the kind "${kind}" are available here; ` +
      "inject an implementation of flock or leave requireFlock out",
  );
}
