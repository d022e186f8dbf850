/** A part of a key. */
export type KvKeyPart = Uint8Array | string | number | bigint | boolean;

/** What stands under a key. */
export interface KvEntry {
  /** The value; null if there is none. */
  readonly value: unknown;
  /** Names this state of the entry; null if there is no value. */
  readonly versionstamp: string | null;
}

/** A list of changes that happen together or not at all. */
export interface KvAtomicOperation {
  /** Demands that an entry is still as it was read. */
  check(entry: KvCheck): KvAtomicOperation;
  /** Sets a value. */
  set(key: readonly KvKeyPart[], value: unknown): KvAtomicOperation;
  /** Does it. @returns `ok: false` if a check failed. */
  commit(): Promise<{ readonly ok: boolean }>;
}

/** An entry as it was read. */
export interface KvCheck {
  /** The key. */
  readonly key: readonly KvKeyPart[];
  /** The state; null for no value. */
  readonly versionstamp: string | null;
}

/** Which entries are listed: those whose keys begin with `prefix`, from `start` on. */
export interface KvRange {
  /** Beginning of the keys. */
  readonly prefix: readonly KvKeyPart[];
  /** The first key. */
  readonly start: readonly KvKeyPart[];
}

/**
 * The part of `Deno.Kv` that is used.
 *
 * What `Deno.openKv` returns fits, for a file, memory and a remote database; so does
 * what the package `@deno/kv` returns on Node.
 */
export interface KvStore {
  /** Reads one entry, as it is now. */
  get(key: readonly KvKeyPart[]): Promise<KvEntry>;
  /** Reads entries in the order of their keys. */
  list(range: KvRange): AsyncIterable<{ readonly value: unknown }>;
  /** Begins a list of changes. */
  atomic(): KvAtomicOperation;
}
