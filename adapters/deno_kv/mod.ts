/**
 * Sessions in Deno KV.
 *
 * Choose it for servers on Deno, with a file on one machine or a remote database
 * for many. The database is opened by you, so nothing here names the platform;
 * `Deno.openKv` needs `--unstable-kv`.
 *
 * The storage neither lists nor deletes sessions. Keep a list of your own, beside
 * what else your program knows of them. What a session takes is below
 * `["ejagent", sessionId]`, or behind the `prefix` that you chose; an id of more
 * than 1200 bytes is there as its SHA-256, a `Uint8Array`. Deleting every key that
 * `kv.list` finds there deletes a session that no agent uses.
 *
 * @example Sessions in a file
 * ```ts ignore
 * import { DenoKvSessionStorage } from "@ejagent/core/deno-kv";
 *
 * const kv = await Deno.openKv("./sessions.db");
 * const storage = new DenoKvSessionStorage(kv);
 * ```
 *
 * @module
 */

export { DenoKvJournal, type DenoKvJournalOptions } from "./kv_journal.ts";
export {
  DenoKvSessionStorage,
  type DenoKvSessionStorageOptions,
} from "./session_storage.ts";
export type {
  KvAtomicOperation,
  KvCheck,
  KvEntry,
  KvKeyPart,
  KvRange,
  KvStore,
} from "./kv_store.ts";
