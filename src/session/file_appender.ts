import { andThen, type Later, orElse } from "../base/later.ts";
import type { Clock, IdSource } from "../base/ports.ts";
import { causeText, SessionStorageError } from "./errors.ts";
import { remedyOf } from "./file_failure.ts";
import { type FileLock, type FileLocks, withFileLock } from "./file_lock.ts";
import {
  beginning,
  type FilePlace,
  findEnd,
  isBehind,
  isUntouched,
  tailOf,
} from "./file_place.ts";
import type { JournalEntry } from "./journal.ts";
import type {
  JournalFile,
  JournalFiles,
  JournalFileStatus,
} from "./journal_files.ts";
import { endsRun } from "./jsonl.ts";
import { fullReads } from "./steady_reads.ts";

/** When a line is pushed to the disk: each at once, with the end of its run, or when the system likes. */
export type FsyncMode = "always" | "run-end" | "never";

/** What the files of one storage share. */
export interface FileMedium {
  readonly files: JournalFiles;
  readonly locks: FileLocks;
  readonly fsync: FsyncMode;
  readonly lockTimeoutMs: number | null;
  readonly clock: Clock;
  readonly ids: IdSource;
}

/** What an append came to. */
export interface Appended {
  /** Whether the line was stored. */
  readonly ok: boolean;
  /** Where the file ends now. */
  readonly end: FilePlace;
}

/** `"replaced"`: what is open is not what the name means any more. */
type Stored = Appended | "replaced";

/** What stays open between appends, which saves most of their cost. */
interface Handles {
  readonly lock: FileLock;
  readonly lockPath: string;
  opened: OpenedFile | null;
}

interface OpenedFile {
  readonly file: JournalFile;
  /** Which file it is, since its name may come to mean another one. */
  readonly identity: string;
}

const utf8 = new TextEncoder();

/** Writes lines to the file of one session, each under the lock of that file. */
export class FileAppender {
  readonly #medium: FileMedium;
  readonly #name: string;
  #opening: Promise<Handles> | null = null;
  #handles: Handles | null = null;

  constructor(medium: FileMedium, name: string) {
    this.#medium = medium;
    this.#name = name;
  }

  /**
   * Stores a line if the file ends where its writer thinks.
   *
   * @param known A place up to which the file need not be read again.
   */
  append(
    entry: JournalEntry,
    known: FilePlace,
    signal: AbortSignal | undefined,
  ): Later<Appended> {
    return andThen(this.#handles ?? this.#open(), (handles) => {
      const store = () => this.#store(handles, entry, known);
      return andThen(
        this.#whileLocked(handles, signal, store),
        (appended) =>
          appended === "replaced"
            ? this.#appendAnew(entry, known, signal)
            : appended,
      );
    });
  }

  /** Closes the file and its lock; the next append opens them again. */
  async close(): Promise<void> {
    const handles = await this.#opening;
    this.#opening = this.#handles = null;
    await handles?.opened?.file.close();
    await handles?.lock.close();
  }

  async #appendAnew(
    entry: JournalEntry,
    known: FilePlace,
    signal: AbortSignal | undefined,
  ): Promise<Appended> {
    await this.close();
    return await this.append(entry, known, signal);
  }

  async #open(): Promise<Handles> {
    this.#opening ??= this.#openLock();
    try {
      return this.#handles = await this.#opening;
    } catch (error) {
      this.#opening = null; // the next append tries again
      throw error;
    }
  }

  async #openLock(): Promise<Handles> {
    const { files, locks } = this.#medium;
    const directory = await files.makeDirectory();
    const lockPath = `${directory}/${this.#name}.lock`;
    return { lock: await locks.open(lockPath), lockPath, opened: null };
  }

  // The directory may be emptied or exchanged at any moment, the lock file with it.
  #whileLocked(
    { lock, lockPath: path, opened }: Handles,
    signal: AbortSignal | undefined,
    store: () => Later<Stored>,
  ): Later<Stored> {
    const { lockTimeoutMs: timeoutMs, clock, ids } = this.#medium;
    const wait = { path, timeoutMs, signal, clock, ids };
    return orElse(
      () => withFileLock(lock, wait, store),
      async (error): Promise<Stored> => {
        // Some locks open their file anew at each attempt and miss its directory.
        if (opened !== null && await this.#isGone()) return "replaced";
        throw error;
      },
    );
  }

  #store(
    handles: Handles,
    entry: JournalEntry,
    known: FilePlace,
  ): Later<Stored> {
    return andThen(this.#status(), (status) => {
      const { opened } = handles;
      if (opened !== null && opened.identity !== status?.identity) {
        return "replaced";
      }
      return opened !== null && status !== null && isUntouched(known, status)
        ? this.#write(handles, opened, entry, known)
        : this.#storeAtEnd(handles, status, entry, known);
    });
  }

  async #storeAtEnd(
    handles: Handles,
    status: JournalFileStatus | null,
    entry: JournalEntry,
    known: FilePlace,
  ): Promise<Stored> {
    if (status === null && entry.after !== null) {
      return { ok: false, end: beginning };
    }
    const opened = handles.opened ??= await this.#openFile(status);
    const end = status === null
      ? beginning
      : await findEnd(fullReads(opened.file), status, known);
    const stored = await this.#write(handles, opened, entry, end, status);
    if (status === null) await this.#syncDirectory();
    return stored;
  }

  #write(
    { lock, lockPath }: Handles,
    { file, identity }: OpenedFile,
    entry: JournalEntry,
    end: FilePlace,
    status: JournalFileStatus | null = null,
  ): Later<Appended> {
    if (!isBehind(end, entry.after)) return { ok: false, end };
    if (lock.held?.() === false) {
      throw new SessionStorageError(
        `The lock ${lockPath} was lost before the write; append again`,
        { retryable: true },
      );
    }
    const isTorn = status !== null && status.sizeBytes > end.bytes;
    const bytes = utf8.encode(`${entry.line}\n`);
    const mended = isTorn ? file.truncate(end.bytes) : undefined;
    const committed = andThen(
      mended,
      () => this.#commit(file, end, bytes, this.#syncs(entry)),
    );
    return andThen(committed, () => ({
      ok: true,
      end: {
        identity,
        revision: entry.revision,
        recordId: entry.recordId,
        bytes: end.bytes + bytes.length,
        tail: tailOf(bytes),
        modifiedMs: null,
      },
    }));
  }

  #status(): Later<JournalFileStatus | null> {
    return this.#medium.files.status(this.#name);
  }

  /** False also where it cannot be told. */
  async #isGone(): Promise<boolean> {
    try {
      return await this.#status() === null;
    } catch {
      return false;
    }
  }

  async #openFile(status: JournalFileStatus | null): Promise<OpenedFile> {
    const file = await this.#medium.files.openToAppend(this.#name);
    const { identity } = status ?? await this.#status() ?? beginning;
    return { file, identity };
  }

  #syncs({ line }: JournalEntry): boolean {
    const { fsync } = this.#medium;
    return fsync === "always" || fsync === "run-end" && endsRun(line);
  }

  /** Leaves the line there as a whole or not at all; if even that fails, says so. */
  #commit(
    file: JournalFile,
    end: FilePlace,
    bytes: Uint8Array,
    sync: boolean,
  ): Later<void> {
    const push = () =>
      andThen(file.write(bytes), (written) => {
        if (written < bytes.length) {
          throw new Error(`Only ${written} of ${bytes.length} bytes fitted`);
        }
        return sync ? file.sync() : undefined;
      });
    return orElse(push, async (cause) => {
      const undone = await succeeds(() => file.truncate(end.bytes));
      throw new SessionStorageError(
        `A line could not be written to the journal ${this.#name}: ` +
          `${causeText(cause)}; ${remedyOf(cause) ?? "check its disk"}`,
        { cause, committed: undone ? "no" : "unknown" },
      );
    });
  }

  async #syncDirectory(): Promise<void> {
    // Not every system can sync a directory; the line itself is safe by now.
    if (this.#medium.fsync !== "never") {
      await succeeds(() => this.#medium.files.syncDirectory());
    }
  }
}

async function succeeds(step: () => void | Promise<void>): Promise<boolean> {
  try {
    await step();
    return true;
  } catch {
    return false;
  }
}
