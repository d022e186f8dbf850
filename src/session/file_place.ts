import { frozen } from "../base/freeze.ts";
import { SessionSerializationError } from "./errors.ts";
import type { JournalPosition } from "./journal.ts";
import type { JournalFileReader, JournalFileStatus } from "./journal_files.ts";
import {
  countLines,
  firstLines,
  type FoundLine,
  isTornFirstRecord,
  lastLine,
  recordIdOf,
  wholeLines,
} from "./jsonl.ts";

/** A place between two lines of a file, and how to recognise it later. */
export interface FilePlace {
  /** The file, as its status names it; empty for the beginning of any file. */
  readonly identity: string;
  /** Lines before the place. */
  readonly revision: number;
  /** The `record_id` of the last of them; null if there is none. */
  readonly recordId: string | null;
  /** Bytes before the place. */
  readonly bytes: number;
  /** The last of these bytes. */
  readonly tail: Uint8Array;
  /**
   * When the file had changed last as the place was read, or null if we wrote
   * the last byte: a line of ours that was acknowledged is never taken back.
   */
  readonly modifiedMs: number | null;
}

/** Where every file begins. */
export const beginning: FilePlace = frozen({
  identity: "",
  revision: 0,
  recordId: null,
  bytes: 0,
  tail: new Uint8Array(),
  modifiedMs: null,
});

/** The place behind whole lines that follow a place. */
export function behindLines(
  place: FilePlace,
  lines: Uint8Array,
  { identity, modifiedMs }: JournalFileStatus,
): FilePlace {
  return {
    identity,
    revision: place.revision + countLines(lines),
    recordId: recordIdOf(lastLine(lines)),
    bytes: place.bytes + lines.length,
    tail: tailOf(lines),
    modifiedMs,
  };
}

/** The place behind one line of which all is known. */
export function behindLine(
  { revision, recordId }: JournalPosition,
  { line, end }: FoundLine,
  { identity, modifiedMs }: JournalFileStatus,
): FilePlace {
  const tail = tailOf(new TextEncoder().encode(`${line}\n`));
  return { identity, revision, recordId, bytes: end, tail, modifiedMs };
}

const tailBytes = 128;

/** What is remembered of the bytes before a place. */
export function tailOf(bytes: Uint8Array): Uint8Array {
  return bytes.slice(-tailBytes);
}

/** Whether the place is the one behind a position; null is the beginning. */
export function isBehind(
  place: FilePlace,
  position: JournalPosition | null,
): boolean {
  return place.revision === (position?.revision ?? 0) &&
    place.recordId === (position?.recordId ?? null);
}

/** Whether the file still ends at the place, judged without opening it. */
export function isUntouched(
  place: FilePlace,
  { identity, sizeBytes, modifiedMs }: JournalFileStatus,
): boolean {
  return place.identity === identity && place.bytes === sizeBytes &&
    (place.modifiedMs === null || place.modifiedMs === modifiedMs);
}

/** Whether the place is still one of the file. */
export async function isStillThere(
  place: FilePlace,
  file: JournalFileReader,
  status: JournalFileStatus,
): Promise<boolean> {
  if (place.bytes === 0) return true;
  if (place.identity !== status.identity || place.bytes > status.sizeBytes) {
    return false;
  }
  const { tail } = place;
  const found = new Uint8Array(tail.length);
  await file.read(found, place.bytes - tail.length);
  return found.every((byte, at) => byte === tail[at]);
}

/**
 * Finds the committed end of a file, reading only what follows a known place.
 *
 * @throws {SessionSerializationError} The last line is no record, or the file is no journal.
 */
export async function findEnd(
  file: JournalFileReader,
  status: JournalFileStatus,
  known: FilePlace,
): Promise<FilePlace> {
  if (isUntouched(known, status)) return known;
  let end = await isStillThere(known, file, status) ? known : beginning;
  for await (const lines of wholeLines(file, end.bytes, status.sizeBytes)) {
    end = behindLines(end, lines, status);
  }
  if (end.revision === 0) await requireJournal(file);
  else if (end.recordId === null) {
    throw new SessionSerializationError("The journal ends in no record", {
      line: end.revision,
    });
  }
  return end;
}

/** Finds the place behind a record by reading from the start; null if the record is not there. */
export async function findPlace(
  file: JournalFileReader,
  status: JournalFileStatus,
  position: JournalPosition,
): Promise<FilePlace | null> {
  let place = beginning;
  for await (const lines of wholeLines(file, 0, status.sizeBytes)) {
    const missing = position.revision - place.revision;
    place = behindLines(place, firstLines(lines, missing), status);
    if (place.revision === position.revision) break;
  }
  return isBehind(place, position) ? place : null;
}

/**
 * Accepts a file without any whole line if it is empty or holds a first record
 * that was torn while it was written.
 *
 * @throws {SessionSerializationError} The file is something else and must not be touched.
 */
export async function requireJournal(file: JournalFileReader): Promise<void> {
  const head = new Uint8Array(64);
  const length = await file.read(head, 0);
  if (isTornFirstRecord(head.subarray(0, length))) return;
  throw new SessionSerializationError(
    "The file is no journal",
    { line: 1, offset: 0 },
  );
}
