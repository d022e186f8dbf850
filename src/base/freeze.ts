import { isPlainObject } from "./json.ts";

// Roots only: remembering every nested object would cost more than it saves.
const known = new WeakSet<object>();

/** True if the value is immutable all the way down and was frozen by this module as a whole. */
export function isFrozenTree(value: unknown): boolean {
  return typeof value !== "object" || value === null || known.has(value);
}

/**
 * Freezes a value that this package made itself, all the way down.
 *
 * Objects of classes are left alone: they guard themselves.
 *
 * @returns The same value.
 */
export function deepFreeze<T>(value: T): T {
  if (isFrozenTree(value)) return value;
  freezeTree(value);
  known.add(value as object);
  return value;
}

function freezeTree(value: unknown): void {
  if (typeof value !== "object" || value === null) return;
  if (Array.isArray(value)) {
    for (const item of value) freezeTree(item);
  } else if (isPlainObject(value)) {
    for (const key of Object.keys(value)) freezeTree(value[key]);
  } else {
    return;
  }
  Object.freeze(value);
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
  const result = copy(value, []);
  if (typeof result === "object" && result !== null) known.add(result);
  return result as T;
}

function copy(value: unknown, parents: object[]): unknown {
  if (typeof value === "function" || typeof value === "symbol") {
    throw new TypeError(`Plain data expected, not a ${typeof value}`);
  }
  if (typeof value !== "object" || value === null || known.has(value)) {
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
  return Object.freeze(result);
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
