import { isJsonObject } from "./json.ts";

/** Checks a text. @throws {TypeError} Anything else. */
export function requireString(name: string, value: unknown): string {
  requireType(typeof value === "string", name, "a string");
  return value;
}

/** Checks a text and trims it. @throws {TypeError} No text. @throws {RangeError} Blank. */
export function requireText(name: string, value: unknown): string {
  const trimmed = requireString(name, value).trim();
  if (trimmed === "") throw new RangeError(`${name} must not be blank`);
  return trimmed;
}

/** Checks a whole number. @throws {TypeError} No safe integer. @throws {RangeError} Below `min`. */
export function requireInteger(
  name: string,
  value: unknown,
  min: number,
): number {
  requireType(Number.isSafeInteger(value), name, "an integer");
  if ((value as number) < min) {
    throw new RangeError(`${name} must be at least ${min}`);
  }
  return value as number;
}

/** Checks a finite number. @throws {TypeError} No number. @throws {RangeError} Not finite or below `min`. */
export function requireNumber(
  name: string,
  value: unknown,
  min: number,
): number {
  requireType(typeof value === "number", name, "a number");
  if (!Number.isFinite(value) || value < min) {
    throw new RangeError(`${name} must be a finite number of at least ${min}`);
  }
  return value;
}

/** Checks a switch. @throws {TypeError} Anything but `true` or `false`. */
export function requireBoolean(name: string, value: unknown): boolean {
  requireType(typeof value === "boolean", name, "true or false");
  return value;
}

/** Checks a member of a union. @throws {TypeError} Anything outside it. */
export function requireMember<T extends string>(
  name: string,
  value: unknown,
  members: Readonly<Record<T, true>>,
): T {
  const known = typeof value === "string" && Object.hasOwn(members, value);
  requireType(known, name, `one of ${Object.keys(members).join(", ")}`);
  return value as T;
}

/** Checks a list. @throws {TypeError} Anything else. */
export function requireList<T>(name: string, value: T): T {
  requireType(Array.isArray(value), name, "a list");
  return value;
}

/** Checks an object. @throws {TypeError} Anything else, lists included. */
export function requireObject<T>(name: string, value: T): T {
  requireType(isJsonObject(value), name, "an object");
  return value;
}

/** Checks an object that must offer the named functions. @throws {TypeError} One is missing. */
export function requireMethods(
  name: string,
  value: unknown,
  methods: readonly string[],
): void {
  const target = value as Record<string, unknown> | null | undefined;
  const missing = methods.find((method) =>
    typeof target?.[method] !== "function"
  );
  if (missing !== undefined) {
    throw new TypeError(`${name} must have a function ${missing}()`);
  }
}

/**
 * Checks what a layer made of a stream.
 *
 * @throws {TypeError} No generator, for example the promise of one.
 */
export function requireGenerator<T>(layer: string, stream: T): T {
  requireMethods(`What async *${layer}() returns`, stream, ["next"]);
  return stream;
}

/** Insists on a type. @param what What the named thing must be. @throws {TypeError} It is not. */
export function requireType(
  holds: boolean,
  name: string,
  what: string,
): asserts holds {
  if (!holds) throw new TypeError(`${name} must be ${what}`);
}
