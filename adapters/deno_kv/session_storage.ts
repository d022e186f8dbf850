import type { JournalStorageOptions } from "../../src/session/storage.ts";
import { JournalTreeStorage } from "../../src/session/tree_storage.ts";
import { DenoKvJournal, type DenoKvJournalOptions } from "./kv_journal.ts";
import type { KvStore } from "./kv_store.ts";

/** How a {@linkcode DenoKvSessionStorage} works. */
export interface DenoKvSessionStorageOptions
  extends JournalStorageOptions, DenoKvJournalOptions {}

/**
 * Sessions in Deno KV: a file, memory, or a remote database that many hosts share.
 *
 * @example
 * ```ts ignore
 * import { SessionHistoryProvider } from "@ejagent/core";
 * import { DenoKvSessionStorage } from "@ejagent/core/deno-kv";
 *
 * const storage = new DenoKvSessionStorage(await Deno.openKv());
 * const history = new SessionHistoryProvider({ storage, sessionId: "chat-1" });
 * ```
 */
export class DenoKvSessionStorage extends JournalTreeStorage {
  /**
   * Makes a storage over a database, which stays the caller's.
   *
   * @throws {TypeError} No open database, or a wrong option.
   */
  constructor(kv: KvStore, options: DenoKvSessionStorageOptions = {}) {
    super(new DenoKvJournal(kv, options), options);
  }
}
