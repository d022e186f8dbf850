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
  return write(value, { name, maxDepth, keys: [] });
}

/** Where the writing is. */
interface Place {
  readonly name: string;
  readonly maxDepth: number;
  /** The way from the value to there. */
  readonly keys: (string | number)[];
}

function write(value: unknown, place: Place): string {
  switch (typeof value) {
    case "string":
      return JSON.stringify(value);
    case "boolean":
      return String(value);
    case "number":
      if (Number.isFinite(value)) return String(value);
      throw notJson(place, "a number that is not finite");
    case "object":
      if (value === null) return "null";
      if (place.keys.length === place.maxDepth) {
        throw notJson(place, `a cycle or more than ${place.maxDepth} levels`);
      }
      if (Array.isArray(value)) return writeArray(value, place);
      if (isPlainObject(value)) return writeObject(value, place);
      throw notJson(place, "an object of a class");
    default:
      throw notJson(place, `a value of type ${typeof value}`);
  }
}

function writeArray(items: readonly unknown[], place: Place): string {
  const depth = place.keys.length;
  let text = "";
  // A loop by index visits holes, too.
  for (let index = 0; index < items.length; index++) {
    place.keys[depth] = index;
    text += `${text === "" ? "[" : ","}${write(items[index], place)}`;
  }
  place.keys.length = depth;
  return text === "" ? "[]" : `${text}]`;
}

function writeObject(object: Record<string, unknown>, place: Place): string {
  const depth = place.keys.length;
  let text = "";
  for (const key of Object.keys(object).sort(compareCodePoints)) {
    const member = object[key];
    if (member === undefined) continue;
    place.keys[depth] = key;
    text += `${text === "" ? "{" : ","}${JSON.stringify(key)}:${
      write(member, place)
    }`;
  }
  place.keys.length = depth;
  return text === "" ? "{}" : `${text}}`;
}

const maxNamedKeys = 9;

function notJson(
  { name, keys }: Place,
  found: string,
): SessionSerializationError {
  const steps = keys.slice(0, maxNamedKeys).map((key, at) =>
    typeof key === "number" ? `[${key}]` : at === 0 ? key : `.${key}`
  );
  const rest = keys.length > maxNamedKeys ? "…" : "";
  const place = keys.length === 0 ? "" : ` at ${steps.join("")}${rest}`;
  return new SessionSerializationError(
    `${name} must be JSON and holds ${found}${place}`,
  );
}

const literals = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

// Only a number begins behind one of these; ids of many digits are no reason to look closer.
const longLiteral = /(?:^|[:,[\s])-?(?:\d{16}|\d[\d.]*[eE]\+?\d{3})/;

/** Numbers of a JSON text that no number of JavaScript comes near: integers that are rounded, and what is too large. */
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
