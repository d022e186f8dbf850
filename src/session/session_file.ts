import { toCancelledError } from "../base/abort.ts";
import type { Clock, IdSource } from "../base/ports.ts";
import { JournalReplacedError, SessionStorageError } from "./errors.ts";
import { type FileLock, type FileLocks, withFileLock } from "./file_lock.ts";
import {
  beginning,
  behindLine,
  behindLines,
  type FilePlace,
  findEnd,
  findPlace,
  isBehind,
  isStillThere,
  isUntouched,
  requireJournal,
  tailOf,
} from "./file_place.ts";
import type {
  JournalAppendResult,
  JournalEntry,
  JournalLine,
  JournalPosition,
} from "./journal.ts";
import type {
  JournalFile,
  JournalFileReader,
  JournalFiles,
  JournalFileStatus,
} from "./journal_files.ts";
import {
  checkpointOfMain,
  decodeLines,
  endsRun,
  lastCheckpoint,
  wholeLines,
} from "./jsonl.ts";
import { fullReads, steadyReads } from "./steady_reads.ts";

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

/** The file of one session, with the place up to which this process knows it. */
export class SessionFile {
  readonly #medium: FileMedium;
  readonly #sessionId: string;
  /** Name of the file in its directory. */
  readonly name: string;
  #place: FilePlace = beginning;
  #handles: Promise<Handles> | null = null;
  #appendCount = 0;

  constructor(medium: FileMedium, sessionId: string, name: string) {
    this.#medium = medium;
    this.#sessionId = sessionId;
    this.name = name;
  }

  /** True while no append is under way. */
  get idle(): boolean {
    return this.#appendCount === 0;
  }

  /** Gives the committed lines behind a position, without a lock. */
  async *read(
    after: JournalPosition | null,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<readonly string[], void, void> {
    const status = await this.#status();
    if (
      status !== null && isBehind(this.#place, after) &&
      isUntouched(this.#place, status)
    ) return;
    const file = await this.#openToRead(status);
    if (status === null || file === null) {
      if (after === null) return;
      throw new JournalReplacedError(this.#sessionId);
    }
    try {
      let place = await this.#locate(file, status, after);
      const { sizeBytes } = status;
      for await (const bytes of wholeLines(file, place.bytes, sizeBytes)) {
        throwIfAborted(signal);
        const lines = decodeLines(bytes, {
          line: place.revision + 1,
          offset: place.bytes,
        });
        place = behindLines(place, bytes, status);
        this.#advance(place);
        yield lines;
      }
      if (place.revision === 0) await requireJournal(file);
    } finally {
      await file.close();
    }
  }

  /** Finds the newest checkpoint of `main`, and remembers its end for the reading that follows. */
  async findCheckpoint(
    signal: AbortSignal | undefined,
  ): Promise<JournalLine | null> {
    const status = await this.#status();
    const file = await this.#openToRead(status);
    if (status === null || file === null) return null;
    try {
      let to = status.sizeBytes;
      for (;;) {
        throwIfAborted(signal);
        const found = await lastCheckpoint(file, to);
        if (found === null) return null;
        const { line, end } = found;
        const position = checkpointOfMain(line);
        if (position !== null) {
          this.#advance(behindLine(position, found, status));
          return { revision: position.revision, line };
        }
        to = end - 1;
      }
    } finally {
      await file.close();
    }
  }

  #status(): JournalFileStatus | null | Promise<JournalFileStatus | null> {
    return this.#medium.files.status(this.name);
  }

  async #openToRead(
    status: JournalFileStatus | null,
  ): Promise<JournalFileReader | null> {
    if (status === null) return null;
    const file = await this.#medium.files.openToRead(this.name);
    return file &&
      steadyReads(fullReads(file), status, () => this.#status());
  }

  async #locate(
    file: JournalFileReader,
    status: JournalFileStatus,
    after: JournalPosition | null,
  ): Promise<FilePlace> {
    if (after === null) return beginning;
    if (!isBehind(this.#place, after)) {
      const place = await findPlace(file, status, after);
      if (place !== null) return place;
    } else if (await isStillThere(this.#place, file, status)) {
      return this.#place;
    }
    this.#place = beginning;
    throw new JournalReplacedError(this.#sessionId);
  }

  /** Remembers how far the file was read; a slower reader must not undo what a faster one knows. */
  #advance(place: FilePlace): void {
    const known = this.#place;
    if (
      place.recordId !== null &&
      (place.identity !== known.identity || place.revision > known.revision)
    ) this.#place = place;
  }

  /** Compares and stores one line under the lock. */
  async append(
    entry: JournalEntry,
    signal: AbortSignal | undefined,
  ): Promise<JournalAppendResult> {
    this.#appendCount++;
    try {
      for (;;) {
        const handles = await this.#open();
        const result = await this.#storeLocked(handles, entry, signal);
        if (result !== "replaced") return result;
        await this.close();
      }
    } finally {
      this.#appendCount--;
    }
  }

  /** `"replaced"`: the directory was emptied or exchanged, the lock file perhaps with it. */
  async #storeLocked(
    handles: Handles,
    entry: JournalEntry,
    signal: AbortSignal | undefined,
  ): Promise<JournalAppendResult | "replaced"> {
    const { lockTimeoutMs: timeoutMs, clock, ids } = this.#medium;
    const { lock, lockPath: path, opened } = handles;
    try {
      return await withFileLock(
        lock,
        { path, timeoutMs, signal, clock, ids },
        () => this.#store(handles, entry),
      );
    } catch (error) {
      // Some locks open their file anew at each attempt and miss its directory.
      const wasThere = opened !== null;
      if (wasThere && await this.#status() === null) return "replaced";
      throw error;
    }
  }

  async #open(): Promise<Handles> {
    this.#handles ??= this.#openLock();
    try {
      return await this.#handles;
    } catch (error) {
      this.#handles = null; // the next append tries again
      throw error;
    }
  }

  async #openLock(): Promise<Handles> {
    const { files, locks } = this.#medium;
    const directory = await files.makeDirectory();
    const lockPath = `${directory}/${this.name}.lock`;
    return { lock: await locks.open(lockPath), lockPath, opened: null };
  }

  async #store(
    handles: Handles,
    entry: JournalEntry,
  ): Promise<JournalAppendResult | "replaced"> {
    const status = await this.#status();
    if (
      handles.opened !== null && handles.opened.identity !== status?.identity
    ) return "replaced";
    if (status === null && entry.after !== null) {
      return { ok: false, last: null };
    }

    const { file, identity } = handles.opened ??= await this.#openFile(status);
    const end = status === null
      ? beginning
      : await findEnd(fullReads(file), status, this.#place);
    if (!isBehind(end, entry.after)) {
      return { ok: false, last: positionOf(end) };
    }
    if (handles.lock.held?.() === false) {
      throw new SessionStorageError(
        `The lock ${handles.lockPath} was lost before the write; append again`,
        { retryable: true },
      );
    }

    if (status !== null && status.sizeBytes > end.bytes) {
      await file.truncate(end.bytes); // a torn tail
    }
    const bytes = utf8.encode(`${entry.line}\n`);
    await this.#commit(file, {
      bytes,
      at: end.bytes,
      sync: this.#syncs(entry),
    });
    if (status === null) await this.#syncDirectory();
    this.#place = {
      identity,
      revision: entry.revision,
      recordId: entry.recordId,
      bytes: end.bytes + bytes.length,
      tail: tailOf(bytes),
      modifiedMs: null,
    };
    return { ok: true };
  }

  async #openFile(status: JournalFileStatus | null): Promise<OpenedFile> {
    const { files } = this.#medium;
    const file = await files.openToAppend(this.name);
    const { identity } = status ?? await this.#status() ?? beginning;
    return { file, identity };
  }

  #syncs({ line }: JournalEntry): boolean {
    const { fsync } = this.#medium;
    return fsync === "always" || fsync === "run-end" && endsRun(line);
  }

  /** Leaves the line there as a whole or not at all; if even that fails, says so. */
  async #commit(
    file: JournalFile,
    { bytes, at, sync }: { bytes: Uint8Array; at: number; sync: boolean },
  ): Promise<void> {
    try {
      const written = await file.write(bytes);
      if (written < bytes.length) {
        throw new Error(`Only ${written} of ${bytes.length} bytes fitted`);
      }
      if (sync) await file.sync();
    } catch (cause) {
      const undone = await succeeds(() => file.truncate(at));
      throw new SessionStorageError(
        `A line could not be written to the journal ${this.name}; ` +
          "check the space and the health of the disk",
        { cause, committed: undone ? "no" : "unknown" },
      );
    }
  }

  async #syncDirectory(): Promise<void> {
    // Not every system can sync a directory; the line itself is safe by now.
    if (this.#medium.fsync !== "never") {
      await succeeds(() => this.#medium.files.syncDirectory());
    }
  }

  /** Closes the file and its lock; the next append opens them again. */
  async close(): Promise<void> {
    const handles = await this.#handles;
    this.#handles = null;
    await handles?.opened?.file.close();
    await handles?.lock.close();
  }
}

function positionOf({ revision, recordId }: FilePlace): JournalPosition | null {
  return recordId === null ? null : { revision, recordId };
}

async function succeeds(step: () => void | Promise<void>): Promise<boolean> {
  try {
    await step();
    return true;
  } catch {
    return false;
  }
}

function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw toCancelledError(signal.reason);
}
