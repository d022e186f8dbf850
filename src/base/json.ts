/** Any value that JSON can express. */
export type JsonValue =
  | string
  | number
  | boolean
  | null
  | readonly JsonValue[]
  | JsonObject;

/** A JSON object; members that are `undefined` are not written. */
export interface JsonObject {
  /** Any key. */
  readonly [key: string]: JsonValue | undefined;
}

/** True for objects made by literals, `JSON.parse` or `Object.create(null)`. */
export function isPlainObject(
  value: unknown,
): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
}

/** True for a JSON object: an object that is neither `null` nor an array. */
export function isJsonObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * Writes JSON with the keys of every object sorted by code point and no white
 * space, so that equal values give equal texts.
 *
 * @param value A JSON value without cycles.
 */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (!isJsonObject(value)) return JSON.stringify(value) ?? "null";
  const members = Object.keys(value)
    .filter((key) => value[key] !== undefined)
    .sort(compareCodePoints)
    .map((key) => `${JSON.stringify(key)}:${canonicalJson(value[key])}`);
  return `{${members.join(",")}}`;
}

/** Orders texts by code point; the default order compares UTF-16 units. */
export function compareCodePoints(left: string, right: string): number {
  const length = Math.min(left.length, right.length);
  for (let index = 0; index < length; index++) {
    const a = left.charCodeAt(index);
    const b = right.charCodeAt(index);
    if (a !== b) return unitRank(a) - unitRank(b);
  }
  return left.length - right.length;
}

// Surrogates stand for code points above U+FFFF, so they rank behind U+E000 to U+FFFF.
function unitRank(unit: number): number {
  if (unit < 0xd800) return unit;
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800;
}
