import { SessionSerializationError } from "./errors.ts";
import type { JournalFile } from "./journal_files.ts";

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

const lineFeed = 10;
const chunkBytes = 256 * 1024;

/**
 * Reads whole lines, line feeds included, in chunks that are valid until the next one.
 *
 * What follows the last line feed was never committed and is left out. A line
 * that did not fit a chunk is read again from its start: were its halves read
 * one after the other, a writer that repairs a torn tail in between could make
 * them halves of different lines.
 *
 * @param from Byte to begin with, the start of a line.
 * @param to Byte to end before.
 */
export async function* wholeLines(
  file: JournalFile,
  from: number,
  to: number,
): AsyncGenerator<Uint8Array, void, void> {
  let buffer = new Uint8Array(Math.min(chunkBytes, to - from));
  for (let start = from; start < to;) {
    const wanted = Math.min(buffer.length, to - start);
    const length = await fill(file, buffer.subarray(0, wanted), start);
    const end = buffer.subarray(0, length).lastIndexOf(lineFeed) + 1;
    if (end > 0) {
      yield buffer.subarray(0, end);
      start += end;
    } else if (length < wanted || start + length === to) return;
    else buffer = new Uint8Array(buffer.length * 2);
  }
}

async function fill(
  file: JournalFile,
  into: Uint8Array,
  position: number,
): Promise<number> {
  let filled = 0;
  while (filled < into.length) {
    const count = await file.read(into.subarray(filled), position + filled);
    if (count === 0) break;
    filled += count;
  }
  return filled;
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

/** The last of some whole lines, without its line feed. */
export function lastLine(bytes: Uint8Array): Uint8Array {
  const line = bytes.subarray(0, -1);
  return line.subarray(line.lastIndexOf(lineFeed) + 1);
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

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * Turns whole lines into texts without their line feeds.
 *
 * @throws {SessionSerializationError} A line is not UTF-8 or cannot be an object,
 * such as a blank line or a block of zero bytes.
 */
export function decodeLines(bytes: Uint8Array, place: LinesPlace): string[] {
  try {
    const lines = utf8.decode(bytes.subarray(0, -1)).split("\n");
    if (lines.every(beginsAnObject)) return lines;
  } catch {
    // Which line it is shows below.
  }
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
    const where = { line, offset: place.offset + start };
    try {
      if (!beginsAnObject(utf8.decode(bytes.subarray(start, end)))) {
        return new SessionSerializationError(
          "The journal holds a line that is no JSON object",
          where,
        );
      }
    } catch (cause) {
      return new SessionSerializationError(
        "The journal holds a line that is not UTF-8",
        { ...where, cause },
      );
    }
    start = end;
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
export function recordIdOf(line: Uint8Array): string | null {
  try {
    const id = JSON.parse(utf8.decode(line))?.record_id;
    return typeof id === "string" ? id : null;
  } catch {
    return null;
  }
}

/** True for the record that ends a run; its type is the last member of a canonical line. */
export function endsRun(line: string): boolean {
  return line.endsWith('"type":"run_finished"}');
}
