import { SessionSerializationError } from "./errors.ts";

const lineFeed = 10;
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * Cuts a stream of bytes into the lines of a journal.
 *
 * Only U+000A ends a line; carriage returns and byte-order marks stay. What
 * follows the last line feed is kept until more arrives, and is no line.
 */
export class LineSplitter {
  readonly #rest: Uint8Array[] = [];
  #lineCount: number;

  /** @param lineCount Lines that precede the stream; errors count on from it. */
  constructor(lineCount = 0) {
    this.#lineCount = lineCount;
  }

  /** Bytes behind the last line feed. */
  get rest(): Uint8Array {
    return joined(this.#rest);
  }

  /**
   * Takes the next bytes; they stay the caller's.
   *
   * @returns The lines that they complete, without their line feeds.
   * @throws {SessionSerializationError} A line is not UTF-8.
   */
  push(bytes: Uint8Array): readonly string[] {
    const end = bytes.lastIndexOf(lineFeed);
    if (end === -1) {
      this.#rest.push(bytes.slice());
      return [];
    }
    const complete = joined([...this.#rest.splice(0), bytes.subarray(0, end)]);
    this.#rest.push(bytes.slice(end + 1));
    const lines = this.#decode(complete).split("\n");
    this.#lineCount += lines.length;
    return lines;
  }

  #decode(bytes: Uint8Array): string {
    try {
      return utf8.decode(bytes);
    } catch (cause) {
      const line = this.#lineCount + firstDamaged(bytes);
      throw new SessionSerializationError("The journal is not UTF-8", {
        line,
        cause,
      });
    }
  }
}

function firstDamaged(bytes: Uint8Array): number {
  for (let start = 0, line = 1;; line++) {
    const end = bytes.indexOf(lineFeed, start);
    try {
      utf8.decode(bytes.subarray(start, end === -1 ? bytes.length : end));
    } catch {
      return line;
    }
    if (end === -1) return line;
    start = end + 1;
  }
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const filled = parts.filter((part) => part.length > 0);
  if (filled.length === 1) return filled[0]!;
  const whole = new Uint8Array(
    filled.reduce((sum, part) => sum + part.length, 0),
  );
  let at = 0;
  for (const part of filled) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
