import { compareCodePoints, isPlainObject } from "../base/json.ts";
import { SessionSerializationError } from "./errors.ts";

/** How deep the data of a record may be nested: readers recurse, and not all of them deeper. */
export const maxDataDepth = 500;

/** What a value is called in errors, and how deep it may be nested. */
export interface CanonicalOptions {
  readonly name: string;
  /** @default {maxDataDepth} */
  readonly maxDepth?: number | undefined;
}

/**
 * Writes a value as journals hold it: keys sorted by code point at every level,
 * no white space, only control characters, quotes, backslashes and lone
 * surrogates escaped.
 *
 * Members that are `undefined` are left out.
 *
 * @throws {SessionSerializationError} The value is no JSON: it holds a number that
 * is not finite, a function, an object of a class, a cycle, or a hole in an array;
 * or it is nested too deeply. The message names the place.
 */
export function canonicalText(
  value: unknown,
  { name, maxDepth = maxDataDepth }: CanonicalOptions,
): string {
  return write(value, { name, maxDepth, root: value }, 0);
}

interface Writing {
  readonly name: string;
  readonly maxDepth: number;
  /** The value that is written as a whole. */
  readonly root: unknown;
}

function write(value: unknown, writing: Writing, depth: number): string {
  switch (typeof value) {
    case "string":
      return JSON.stringify(value);
    case "boolean":
      return String(value);
    case "number":
      if (Number.isFinite(value)) return String(value);
      throw notJson(writing, "a number that is not finite");
    case "object":
      if (value === null) return "null";
      if (depth === writing.maxDepth) {
        throw notJson(writing, `a cycle or more than ${depth} levels`);
      }
      if (Array.isArray(value)) return writeArray(value, writing, depth + 1);
      if (isPlainObject(value)) return writeObject(value, writing, depth + 1);
      throw notJson(writing, "an object of a class");
    default:
      throw notJson(writing, `a value of type ${typeof value}`);
  }
}

function writeArray(
  items: readonly unknown[],
  writing: Writing,
  depth: number,
): string {
  let text = "";
  // A loop by index visits holes, too.
  for (let index = 0; index < items.length; index++) {
    text += `${text === "" ? "[" : ","}${write(items[index], writing, depth)}`;
  }
  return text === "" ? "[]" : `${text}]`;
}

function writeObject(
  object: Record<string, unknown>,
  writing: Writing,
  depth: number,
): string {
  let text = "";
  for (const key of Object.keys(object).sort(compareCodePoints)) {
    const member = object[key];
    if (member === undefined) continue;
    text += `${text === "" ? "{" : ","}${JSON.stringify(key)}:${
      write(member, writing, depth)
    }`;
  }
  return text === "" ? "{}" : `${text}}`;
}

function notJson(
  { name, maxDepth, root }: Writing,
  found: string,
): SessionSerializationError {
  const way = wayToDefect(root, maxDepth) ?? [];
  const place = way.length === 0 ? "" : ` at ${wayText(way)}`;
  return new SessionSerializationError(
    `${name} must be JSON and holds ${found}${place}`,
  );
}

type Way = readonly (string | number)[];

/** The keys that lead to the first value that cannot be written; null if all can be. */
function wayToDefect(value: unknown, levels: number): Way | null {
  if (isScalar(value)) return null;
  const members = membersOf(value);
  if (members === null || levels === 0) return [];
  for (const [key, member] of members) {
    const way = wayToDefect(member, levels - 1);
    if (way !== null) return [key, ...way];
  }
  return null;
}

function isScalar(value: unknown): boolean {
  return value === null || Number.isFinite(value) ||
    typeof value === "string" || typeof value === "boolean";
}

function membersOf(value: unknown): [string | number, unknown][] | null {
  if (Array.isArray(value)) {
    return Array.from(value, (item, index) => [index, item]);
  }
  if (!isPlainObject(value)) return null;
  return Object.keys(value).sort(compareCodePoints)
    .filter((key) => value[key] !== undefined)
    .map((key) => [key, value[key]]);
}

const maxNamedKeys = 9;

function wayText(way: Way): string {
  const steps = way.slice(0, maxNamedKeys).map((key, at) =>
    typeof key === "number" ? `[${key}]` : at === 0 ? key : `.${key}`
  );
  return steps.join("") + (way.length > maxNamedKeys ? "…" : "");
}

const literals = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

// Only a number begins behind one of these; ids of many digits are no reason to look closer.
const longLiteral = /[:,[\s]-?(?:\d{16}|\d[\d.]*[eE]\+?\d{3})/;

/** Numbers of the JSON text of an object that no number of JavaScript comes near: integers that are rounded, and what is too large. */
export function lossyNumbersOf(text: string): readonly string[] {
  if (!longLiteral.test(text)) return [];
  return (text.match(literals) ?? []).filter(isLossy);
}

function isLossy(literal: string): boolean {
  if (literal.startsWith('"')) return false;
  const value = Number(literal);
  if (!Number.isFinite(value)) return true;
  return /^-?\d{16,}$/.test(literal) && BigInt(literal) !== BigInt(value);
}

/** True if a value is nested deeper than so many levels; walks no further than that. */
export function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 ||
    Object.values(value).some((member) => isDeeperThan(member, levels - 1));
}
