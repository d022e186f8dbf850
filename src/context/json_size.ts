import { isJsonObject } from "../base/json.ts";

/** What a JSON text is made of. */
export interface JsonSize {
  /** Characters below U+0080, escapes and punctuation included. */
  asciiCount: number;
  /** All other code points. */
  otherCount: number;
}

/** What is counted how. */
export interface JsonSizeOptions {
  /** Leaves out members of the value itself, by key. */
  readonly skips: (key: string) => boolean;
  /** Counts long runs of base64 like non-ASCII characters: a tokenizer finds no words in them. */
  readonly encodedRuns: boolean;
}

/** Base64 characters in a row that make an encoded file rather than a word. */
const encodedRunLength = 1024;

const base64Units = /* @__PURE__ */ tableOf((unit) =>
  /[A-Za-z0-9+/=_-]/.test(unit) ? 1 : 0
);
const escapedLengths = /* @__PURE__ */ tableOf((unit) =>
  JSON.stringify(unit).length - 2
);

/**
 * Measures the compact JSON text of a value without writing it.
 *
 * Non-ASCII characters stand for themselves; a lone surrogate is one of them.
 *
 * @throws {TypeError} A value that JSON cannot express.
 */
export function jsonSize(value: object, options: JsonSizeOptions): JsonSize {
  const { encodedRuns, skips } = options;
  const size: JsonSize = { asciiCount: 0, otherCount: 0 };
  if (isJsonObject(value)) addMembers(size, value, encodedRuns, skips);
  else addValue(size, value, encodedRuns);
  return size;
}

function addValue(size: JsonSize, value: unknown, encodedRuns: boolean): void {
  if (typeof value === "string") {
    addText(size, value, encodedRuns);
  } else if (Array.isArray(value)) {
    size.asciiCount += 2 + Math.max(0, value.length - 1);
    for (const item of value) addValue(size, item, encodedRuns);
  } else if (isJsonObject(value)) {
    addMembers(size, value, encodedRuns, skipsNone);
  } else {
    size.asciiCount += literalLength(value);
  }
}

function addMembers(
  size: JsonSize,
  object: Record<string, unknown>,
  encodedRuns: boolean,
  skips: (key: string) => boolean,
): void {
  size.asciiCount += 2;
  let separatorLength = 0;
  for (const key of Object.keys(object)) {
    const value = object[key];
    if (value === undefined || skips(key)) continue;
    size.asciiCount += separatorLength + 1;
    separatorLength = 1;
    addText(size, key, false);
    addValue(size, value, encodedRuns);
  }
}

function skipsNone(): boolean {
  return false;
}

function addText(size: JsonSize, text: string, encodedRuns: boolean): void {
  let asciiCount = 2;
  let otherCount = 0;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit < 0x80) {
      asciiCount += escapedLengths[unit]!;
    } else {
      otherCount++;
      if (isHigh(unit) && isLow(text.charCodeAt(index + 1))) index++;
    }
  }
  const encoded = encodedRuns ? encodedLength(text) : 0;
  size.asciiCount += asciiCount - encoded;
  size.otherCount += otherCount + encoded;
}

function encodedLength(text: string): number {
  if (text.length < encodedRunLength) return 0;
  let total = 0;
  let start = 0;
  // One step past the end, where no unit is left, closes the last run.
  for (let index = 0; index <= text.length; index++) {
    if (base64Units[text.charCodeAt(index)] === 1) continue;
    const length = index - start;
    if (length >= encodedRunLength && isMixed(text.slice(start, index))) {
      total += length;
    }
    start = index + 1;
  }
  return total;
}

// Encoded bytes use all kinds of characters; a ruled line or a hexadecimal dump does not.
function isMixed(run: string): boolean {
  return /[A-Z]/.test(run) && /[a-z]/.test(run) && /[0-9]/.test(run);
}

function isHigh(unit: number): boolean {
  return (unit & 0xfc00) === 0xd800;
}

function isLow(unit: number): boolean {
  return (unit & 0xfc00) === 0xdc00;
}

function literalLength(value: unknown): number {
  if (
    value === null || typeof value === "boolean" || typeof value === "number"
  ) {
    return JSON.stringify(value).length;
  }
  throw new TypeError(`A JSON value expected, not a ${typeof value}`);
}

function tableOf(entry: (unit: string) => number): Uint8Array {
  return Uint8Array.from(
    { length: 0x80 },
    (_, unit) => entry(String.fromCharCode(unit)),
  );
}
