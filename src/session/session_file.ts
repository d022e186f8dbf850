import { throwIfAborted } from "../base/abort.ts";
import { andFinally, andThen, type Later } from "../base/later.ts";
import { JournalReplacedError } from "./errors.ts";
import { FileAppender, type FileMedium } from "./file_appender.ts";
import {
  beginning,
  behindLine,
  behindLines,
  type FilePlace,
  findPlace,
  isBehind,
  isStillThere,
  isUntouched,
  requireJournal,
} from "./file_place.ts";
import type {
  JournalAppendResult,
  JournalEntry,
  JournalLine,
  JournalPosition,
} from "./journal.ts";
import type {
  JournalFileReader,
  JournalFiles,
  JournalFileStatus,
} from "./journal_files.ts";
import {
  checkpointOfMain,
  decodeLines,
  lastCheckpoint,
  wholeLines,
} from "./jsonl.ts";
import { fullReads, steadyReads } from "./steady_reads.ts";

/** The file of one session, with the place up to which this process knows it. */
export class SessionFile {
  /** Name of the file in its directory. */
  readonly name: string;
  readonly #files: JournalFiles;
  readonly #sessionId: string;
  readonly #appender: FileAppender;
  #place: FilePlace = beginning;
  #appendCount = 0;

  constructor(medium: FileMedium, sessionId: string, name: string) {
    this.name = name;
    this.#files = medium.files;
    this.#sessionId = sessionId;
    this.#appender = new FileAppender(medium, name);
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

  #status(): Later<JournalFileStatus | null> {
    return this.#files.status(this.name);
  }

  async #openToRead(
    status: JournalFileStatus | null,
  ): Promise<JournalFileReader | null> {
    if (status === null) return null;
    const file = await this.#files.openToRead(this.name);
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
  append(
    entry: JournalEntry,
    signal: AbortSignal | undefined,
  ): Later<JournalAppendResult> {
    this.#appendCount++;
    const append = () => this.#appender.append(entry, this.#place, signal);
    return andThen(
      andFinally(append, () => void this.#appendCount--),
      ({ ok, end }) => {
        if (!ok) return { ok, last: positionOf(end) };
        this.#place = end;
        return { ok };
      },
    );
  }

  /** Closes what stays open between appends; the next one opens it again. */
  close(): Promise<void> {
    return this.#appender.close();
  }
}

function positionOf({ revision, recordId }: FilePlace): JournalPosition | null {
  return recordId === null ? null : { revision, recordId };
}
