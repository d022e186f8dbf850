import type { JournalStorageOptions } from "../../src/session/storage.ts";
import { JournalTreeStorage } from "../../src/session/tree_storage.ts";
import { DurableObjectJournal } from "./sql_journal.ts";
import type { ObjectSqlStorage } from "./storage_types.ts";

/**
 * Sessions in the database of a SQLite Durable Object.
 *
 * Make one per object, in its constructor. One session per object scales best;
 * several may share one.
 *
 * @example An object of your own
 * ```ts ignore
 * import { DurableObjectSessionStorage } from "@ejagent/core/cloudflare";
 * import { DurableObject } from "cloudflare:workers";
 *
 * export class Chat extends DurableObject {
 *   readonly sessions = new DurableObjectSessionStorage(this.ctx.storage);
 * }
 * ```
 */
export class DurableObjectSessionStorage extends JournalTreeStorage {
  /** Makes the tables if they do not exist. @param storage `ctx.storage` of the object. */
  constructor(storage: ObjectSqlStorage, options: JournalStorageOptions = {}) {
    super(new DurableObjectJournal(storage), options);
  }
}
