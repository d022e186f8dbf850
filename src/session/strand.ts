/**
 * A list that only grows and never changes: appending gives a new list, and all
 * of them share their items.
 *
 * Whoever appends to the longest list of a family adds one item in place;
 * appending to a shorter one opens a new family that goes on from there. So a
 * session, each of its past states and each of its branches cost one copy of
 * what they have in common.
 */
export interface Strand<T> {
  /** Number of items. */
  readonly length: number;
  /** Where the items are. */
  readonly family: Family<T>;
}

interface Family<T> {
  /** The list that this family goes on from. */
  readonly before: Strand<T> | null;
  /** Length of that list. */
  readonly start: number;
  /** Number of families before this one. */
  readonly depth: number;
  readonly items: T[];
  readonly names: Names<T> | null;
}

interface Names<T> {
  readonly of: (item: T) => string;
  /** Where each name first appears in the family. */
  readonly places: Map<string, number>;
}

// Branches of branches of branches would make look-ups slow.
const maxDepth = 32;

/** A list without items. @param nameOf Gives items the names that {@linkcode findItem} looks for. */
export function emptyStrand<T>(nameOf?: (item: T) => string): Strand<T> {
  return { length: 0, family: newFamily(null, nameOf) };
}

/** The list with one more item. */
export function append<T>(list: Strand<T>, item: T): Strand<T> {
  const family = growingFamily(list);
  const { names, items } = family;
  const name = names?.of(item);
  if (name !== undefined && !names?.places.has(name)) {
    names?.places.set(name, list.length);
  }
  items.push(item);
  return { length: list.length + 1, family };
}

/** The newest item. */
export function lastItem<T>(list: Strand<T>): T | undefined {
  return list.length === 0 ? undefined : itemAt(list, list.length - 1);
}

/** The first item of a name. */
export function findItem<T>(list: Strand<T>, name: string): T | undefined {
  for (
    let part: Strand<T> | null = list;
    part !== null;
    part = part.family.before
  ) {
    const place = part.family.names?.places.get(name);
    if (place !== undefined && place < part.length) return itemAt(part, place);
  }
  return undefined;
}

/** The items, oldest first, from a place on. */
export function itemsOf<T>(list: Strand<T>, from = 0): T[] {
  const parts: T[][] = [];
  for (
    let part: Strand<T> | null = list;
    part !== null;
    part = part.family.before
  ) {
    const { start, items } = part.family;
    parts.push(
      items.slice(Math.max(0, from - start), Math.max(0, part.length - start)),
    );
    if (start <= from) break;
  }
  return parts.length === 1
    ? parts[0]!
    : ([] as T[]).concat(...parts.reverse());
}

function itemAt<T>(list: Strand<T>, place: number): T | undefined {
  let part = list;
  while (place < part.family.start) part = part.family.before!;
  return part.family.items[place - part.family.start];
}

function growingFamily<T>(list: Strand<T>): Family<T> {
  const { start, items, depth, names } = list.family;
  if (start + items.length === list.length) return list.family;
  const isDeep = depth >= maxDepth;
  return newFamily(isDeep ? flat(list) : list, names?.of);
}

function flat<T>(list: Strand<T>): Strand<T> {
  const empty = emptyStrand(list.family.names?.of);
  return itemsOf(list).reduce((grown, item) => append(grown, item), empty);
}

function newFamily<T>(
  before: Strand<T> | null,
  nameOf?: (item: T) => string,
): Family<T> {
  return {
    before,
    start: before?.length ?? 0,
    depth: before === null ? 0 : before.family.depth + 1,
    items: [],
    names: nameOf === undefined ? null : { of: nameOf, places: new Map() },
  };
}
