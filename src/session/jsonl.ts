import { SessionSerializationError } from "./errors.ts";
import type { JournalPosition } from "./journal.ts";
import type { JournalFileReader } from "./journal_files.ts";

/**
 * The file of a session: the SHA-256 of its id, so that no id can name a path.
 *
 * @param sessionId Trimmed and well-formed.
 */
export async function journalFileName(sessionId: string): Promise<string> {
  const id = new TextEncoder().encode(sessionId);
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", id));
  const hex = Array.from(digest, (byte) => byte.toString(16).padStart(2, "0"));
  return `${hex.join("")}.jsonl`;
}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const lineFeed = 10;
const chunkBytes = 256 * 1024;
const backwardChunkBytes = 64 * 1024;

/**
 * Reads whole lines, line feeds included, in chunks that are valid until the next one.
 *
 * What follows the last line feed was never committed and is left out. A line
 * that did not fit a chunk is read again from its start, so that it comes out of
 * one read; see {@linkcode steadyReads}.
 *
 * @param from Byte to begin with, the start of a line.
 * @param to Byte to end before.
 */
export async function* wholeLines(
  file: JournalFileReader,
  from: number,
  to: number,
): AsyncGenerator<Uint8Array, void, void> {
  let buffer = new Uint8Array(Math.min(chunkBytes, to - from));
  for (let start = from; start < to;) {
    const wanted = Math.min(buffer.length, to - start);
    const length = await file.read(buffer.subarray(0, wanted), start);
    const lines = upToLastLineFeed(buffer.subarray(0, length));
    if (lines.length > 0) {
      yield lines;
      start += lines.length;
    } else if (length < wanted || start + length === to) return;
    else buffer = new Uint8Array(buffer.length * 2);
  }
}

/** How the line of a checkpoint ends: the type is the last member of a canonical record. */
const checkpointEnd = '"type":"checkpoint"}\n';

/** A line and the byte behind its line feed. */
export interface FoundLine {
  /** The line, without its line feed. */
  readonly line: string;
  /** Where the next line begins. */
  readonly end: number;
}

/**
 * Finds the last checkpoint by reading backwards; null if there is none.
 *
 * @param to Byte to end before.
 */
export async function lastCheckpoint(
  file: JournalFileReader,
  to: number,
): Promise<FoundLine | null> {
  const end = await endOfLast(file, checkpointEnd, to);
  if (end === 0) return null;
  const start = await endOfLast(file, "\n", end - 1);
  const line = new Uint8Array(end - 1 - start);
  await file.read(line, start);
  const text = textOf(line);
  // Damaged: reading everything will tell where.
  return text === null ? null : { line: text, end };
}

// One character a byte, so that places in the text are places in the bytes.
const latin1 = new TextDecoder("latin1");

/** Where the last occurrence of an ASCII text ends; 0 if there is none. */
async function endOfLast(
  file: JournalFileReader,
  wanted: string,
  to: number,
): Promise<number> {
  const buffer = new Uint8Array(Math.min(backwardChunkBytes, to));
  for (let end = to; end >= wanted.length;) {
    const start = Math.max(0, end - buffer.length);
    const chunk = buffer.subarray(0, end - start);
    await file.read(chunk, start);
    const at = latin1.decode(chunk).lastIndexOf(wanted);
    if (at !== -1) return start + at + wanted.length;
    if (start === 0) break;
    end = start + wanted.length - 1; // what is wanted may lie across the chunks
  }
  return 0;
}

function upToLastLineFeed(bytes: Uint8Array): Uint8Array {
  return bytes.subarray(0, bytes.lastIndexOf(lineFeed) + 1);
}

/** How many lines the bytes end. */
export function countLines(bytes: Uint8Array): number {
  let count = 0;
  for (let end = nextLine(bytes, 0); end > 0; end = nextLine(bytes, end)) {
    count++;
  }
  return count;
}

/** The first of some whole lines; all of them if there are no more than `count`. */
export function firstLines(bytes: Uint8Array, count: number): Uint8Array {
  let end = 0;
  for (let line = 0; line < count && end < bytes.length; line++) {
    end = nextLine(bytes, end);
  }
  return bytes.subarray(0, end);
}

/** The last of some whole lines, without its line feed; empty if it is not UTF-8. */
export function lastLine(bytes: Uint8Array): string {
  const line = bytes.subarray(0, -1);
  return textOf(line.subarray(line.lastIndexOf(lineFeed) + 1)) ?? "";
}

/** Where the line after the one at `start` begins; 0 if that one has no end. */
function nextLine(bytes: Uint8Array, start: number): number {
  return bytes.indexOf(lineFeed, start) + 1;
}

/** Where some lines are found in their file. */
export interface LinesPlace {
  /** Number of the first of them, from 1. */
  readonly line: number;
  /** Byte at which it begins. */
  readonly offset: number;
}

/**
 * Turns whole lines into texts without their line feeds.
 *
 * @throws {SessionSerializationError} A line is not UTF-8 or cannot be an object,
 * such as a blank line or a block of zero bytes.
 */
export function decodeLines(bytes: Uint8Array, place: LinesPlace): string[] {
  const lines = textOf(bytes.subarray(0, -1))?.split("\n");
  if (lines?.every(beginsAnObject)) return lines;
  throw firstDamage(bytes, place);
}

function beginsAnObject(line: string): boolean {
  return line.charCodeAt(0) === 0x7b || /^[ \t\r]*\{/.test(line);
}

function firstDamage(
  bytes: Uint8Array,
  place: LinesPlace,
): SessionSerializationError {
  let { line } = place;
  for (let start = 0;; line++) {
    const end = nextLine(bytes, start);
    const text = textOf(bytes.subarray(start, end));
    if (text === null || !beginsAnObject(text)) {
      const defect = text === null ? "not UTF-8" : "no JSON object";
      return new SessionSerializationError(
        `The journal holds a line that is ${defect}`,
        { line, offset: place.offset + start },
      );
    }
    start = end;
  }
}

/** The text of some bytes; null if they are not UTF-8. */
function textOf(bytes: Uint8Array): string | null {
  try {
    return utf8.decode(bytes);
  } catch {
    return null;
  }
}

/** How every record that we write begins. */
const recordStart = new TextEncoder().encode('{"agent_id":');

/**
 * Tells the first record of a journal, torn while it was written, from a file
 * that is no journal and must not be touched.
 *
 * @param head The first bytes of a file without any line feed.
 */
export function isTornFirstRecord(head: Uint8Array): boolean {
  const length = Math.min(head.length, recordStart.length);
  return head.subarray(0, length).every((byte, at) => byte === recordStart[at]);
}

/** The `record_id` of a line; null if it has none. */
export function recordIdOf(line: string): string | null {
  const { record_id: recordId } = membersOf(line);
  return typeof recordId === "string" ? recordId : null;
}

/** The position of a checkpoint of the branch `main`; null for any other line. */
export function checkpointOfMain(line: string): JournalPosition | null {
  const { type, branch_id, record_id: recordId, revision } = membersOf(line);
  return type === "checkpoint" && branch_id === "main" &&
      typeof recordId === "string" && Number.isSafeInteger(revision)
    ? { revision: revision as number, recordId }
    : null;
}

function membersOf(line: string): Record<string, unknown> {
  try {
    return JSON.parse(line) ?? {};
  } catch {
    return {};
  }
}

/** True for the record that ends a run; its type is the last member of a canonical line. */
export function endsRun(line: string): boolean {
  return line.endsWith('"type":"run_finished"}');
}
