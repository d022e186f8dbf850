/**
 * Whether two values are equal in structure: the same class, the same enumerable members, the same
 * items in the same order; sets and maps in any order. A member that is `undefined` differs from
 * one that is missing, `0` from `-0`, and two objects that show no members at all, such as two
 * signals, differ from each other. Frozen objects and objects without a prototype equal plain ones.
 */
export function equal(a: unknown, b: unknown): boolean {
  return compare(a, b, new Map());
}

function compare(a: unknown, b: unknown, open: Map<object, object>): boolean {
  if (Object.is(a, b)) return true;
  if (
    typeof a !== "object" || typeof b !== "object" || a === null || b === null
  ) return false;
  if (prototypeOf(a) !== prototypeOf(b)) return false;
  // Inside a cycle the pair under comparison counts as equal until a member says otherwise.
  if (open.get(a) === b) return true;
  open.set(a, b);
  const same = compareContents(a, b, open);
  open.delete(a);
  return same;
}

function compareContents(
  a: object,
  b: object,
  open: Map<object, object>,
): boolean {
  const inner = (left: unknown, right: unknown) => compare(left, right, open);
  if (a instanceof Date) return Object.is(a.getTime(), (b as Date).getTime());
  if (a instanceof RegExp) return String(a) === String(b);
  if (a instanceof ArrayBuffer) {
    return sameBytes(new Uint8Array(a), new Uint8Array(b as ArrayBuffer));
  }
  if (ArrayBuffer.isView(a)) {
    return sameBytes(bytesOf(a), bytesOf(b as ArrayBufferView));
  }
  if (a instanceof Set) {
    return sameMembers([...a], [...b as Set<unknown>], inner);
  }
  if (a instanceof Map) {
    return sameMembers([...a], [...b as Map<unknown, unknown>], inner);
  }
  if (a instanceof Error) {
    const other = b as Error;
    if (a.name !== other.name || a.message !== other.message) return false;
    if (!inner(a.cause, other.cause)) return false;
  }
  if (Array.isArray(a) && a.length !== (b as unknown[]).length) return false;

  const keys = enumerableKeys(a);
  // An object that shows nothing keeps its state to itself: only the same one is equal.
  if (keys.length === 0 && !showsItself(a)) return false;
  return keys.length === enumerableKeys(b).length &&
    keys.every((key) =>
      Object.prototype.propertyIsEnumerable.call(b, key) &&
      inner(a[key as keyof typeof a], b[key as keyof typeof b])
    );
}

function showsItself(value: object): boolean {
  return prototypeOf(value) === Object.prototype || Array.isArray(value) ||
    value instanceof Error;
}

function prototypeOf(value: object): unknown {
  return Object.getPrototypeOf(value) ?? Object.prototype;
}

function enumerableKeys(value: object): PropertyKey[] {
  return Reflect.ownKeys(value).filter((key) =>
    Object.prototype.propertyIsEnumerable.call(value, key)
  );
}

function bytesOf(view: ArrayBufferView): Uint8Array {
  return new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
}

function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, index) => byte === b[index]);
}

function sameMembers(
  a: readonly unknown[],
  b: unknown[],
  same: (left: unknown, right: unknown) => boolean,
): boolean {
  if (a.length !== b.length) return false;
  const rest = [...b];
  return a.every((member) => {
    const index = rest.findIndex((candidate) => same(member, candidate));
    if (index < 0) return false;
    rest.splice(index, 1);
    return true;
  });
}
