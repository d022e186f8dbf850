import { isPlainObject } from "./json.ts";

/** `Object.freeze`: what the value holds is left as it is. */
export const frozen: typeof Object.freeze = Object.freeze;

/** True if the value is immutable all the way down and was frozen by this module as a whole. */
export function isFrozenTree(value: unknown): boolean {
  return typeof value !== "object" || value === null || Known.has(value);
}

/**
 * Freezes a value that this package made itself, all the way down.
 *
 * Objects of classes are left alone: they guard themselves.
 *
 * @returns The same value.
 */
export function deepFreeze<T>(value: T): T {
  freezeTree(value, true);
  return value;
}

function freezeTree(value: unknown, isRoot: boolean): void {
  if (isFrozenTree(value)) return;
  if (Array.isArray(value)) {
    for (const item of value) freezeTree(item, false);
  } else if (isPlainObject(value)) {
    for (const key of Object.keys(value)) freezeTree(value[key], false);
  } else {
    return;
  }
  if (isRoot) Known.add(value);
  frozen(value);
}

/**
 * Takes over a caller's plain data: copies it once and freezes the copy.
 *
 * What is frozen by us already is shared, not copied. The caller's objects are
 * never frozen. Members that are `undefined` are dropped and `__proto__` stays
 * an ordinary key.
 *
 * @throws {TypeError} If the value holds a cycle or something that is no plain data.
 */
export function frozenCopy<T>(value: T): T {
  if (isFrozenTree(value)) return value;
  return copy(value, []) as T;
}

function copy(value: unknown, parents: object[]): unknown {
  if (typeof value === "function" || typeof value === "symbol") {
    throw new TypeError(`Plain data expected, not a ${typeof value}`);
  }
  if (typeof value !== "object" || value === null || Known.has(value)) {
    return value;
  }
  if (parents.includes(value)) {
    throw new TypeError("Plain data expected, not a cycle");
  }
  parents.push(value);
  const result = Array.isArray(value)
    ? value.map((item) => copy(item, parents))
    : copyMembers(value, parents);
  parents.pop();
  if (parents.length === 0) Known.add(result);
  return frozen(result);
}

function copyMembers(value: object, parents: object[]): object {
  if (!isPlainObject(value)) {
    const name = value.constructor?.name ?? "class";
    throw new TypeError(`Plain data expected, not a ${name} object`);
  }
  const result: Record<string, unknown> = {};
  for (const key of Object.keys(value)) {
    const member = value[key];
    if (member !== undefined) setOwn(result, key, copy(member, parents));
  }
  return result;
}

class Itself {
  constructor(value: object) {
    return value;
  }
}

/**
 * The roots of frozen trees; remembering every nested object would cost more
 * than it saves.
 *
 * A private member marks the object itself. A `WeakSet` says the same, but then
 * garbage collections take several times as long.
 */
class Known extends Itself {
  readonly #mark = true;

  static add(value: object): void {
    if (Object.isExtensible(value)) new Known(value);
  }

  static has(value: object): boolean {
    return #mark in value;
  }
}

/** A frozen copy of a list; its items are left as they are. */
export function frozenList<T>(list: readonly T[]): readonly T[] {
  return frozen([...list]);
}

/** Sets a member without ever touching the prototype, also for the key `__proto__`. */
export function setOwn(
  target: Record<string, unknown>,
  key: string,
  value: unknown,
): void {
  if (key === "__proto__") {
    Object.defineProperty(target, key, {
      value,
      enumerable: true,
      configurable: true,
      writable: true,
    });
  } else {
    target[key] = value;
  }
}
