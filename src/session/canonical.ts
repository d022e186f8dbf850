import { compareCodePoints, isPlainObject } from "../base/json.ts";
import { SessionSerializationError } from "./errors.ts";

// Readers recurse: a record that is nested deeper could be written but not read everywhere.
const maxDepth = 500;

/**
 * Writes a value as journals hold it: keys sorted by code point at every level,
 * no white space, only control characters, quotes, backslashes and lone
 * surrogates escaped.
 *
 * Members that are `undefined` are left out.
 *
 * @param name What the value is, for errors.
 * @throws {SessionSerializationError} The value is no JSON: it holds a number that
 * is not finite, a function, an object of a class, a cycle, or a hole in an array;
 * or it is nested too deeply.
 */
export function canonicalText(value: unknown, name: string): string {
  return write(value, name, 0);
}

function write(value: unknown, name: string, depth: number): string {
  switch (typeof value) {
    case "string":
      return JSON.stringify(value);
    case "boolean":
      return String(value);
    case "number":
      if (Number.isFinite(value)) return String(value);
      throw notJson(name, "a number that is not finite");
    case "object":
      if (value === null) return "null";
      if (depth === maxDepth) {
        throw notJson(name, "a cycle or more than 500 levels");
      }
      if (Array.isArray(value)) return writeArray(value, name, depth + 1);
      if (isPlainObject(value)) return writeObject(value, name, depth + 1);
      throw notJson(name, "an object of a class");
    default:
      throw notJson(name, `a value of type ${typeof value}`);
  }
}

function writeArray(
  items: readonly unknown[],
  name: string,
  depth: number,
): string {
  let text = "";
  // A loop by index visits holes, too.
  for (let index = 0; index < items.length; index++) {
    text += `${text === "" ? "[" : ","}${write(items[index], name, depth)}`;
  }
  return text === "" ? "[]" : `${text}]`;
}

function writeObject(
  object: Record<string, unknown>,
  name: string,
  depth: number,
): string {
  let text = "";
  for (const key of Object.keys(object).sort(compareCodePoints)) {
    const member = object[key];
    if (member === undefined) continue;
    text += `${text === "" ? "{" : ","}${JSON.stringify(key)}:${
      write(member, name, depth)
    }`;
  }
  return text === "" ? "{}" : `${text}}`;
}

function notJson(name: string, found: string): SessionSerializationError {
  return new SessionSerializationError(
    `${name} must be JSON and holds ${found}`,
  );
}

const literals = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

/** Integers of a JSON text that no number of JavaScript holds, as they are written there. */
export function lossyNumbersOf(text: string): readonly string[] {
  // Only a number begins behind one of these; ids of many digits are no reason to look closer.
  if (!/(?:^|[:,[\s])-?\d{16}/.test(text)) return [];
  return (text.match(literals) ?? []).filter((literal) =>
    /^-?\d{16,}$/.test(literal) && BigInt(literal) !== BigInt(Number(literal))
  );
}
