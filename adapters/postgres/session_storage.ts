import type { JournalStorageOptions } from "../../src/session/storage.ts";
import { JournalTreeStorage } from "../../src/session/tree_storage.ts";
import type { SqlClient } from "./sql_client.ts";
import { PostgresJournal, type PostgresJournalOptions } from "./sql_journal.ts";

/** How a {@linkcode PostgresSessionStorage} works. */
export interface PostgresSessionStorageOptions
  extends JournalStorageOptions, PostgresJournalOptions {}

/**
 * Sessions in PostgreSQL.
 *
 * @example
 * ```ts ignore
 * import { createPostgresTable, PostgresSessionStorage } from "@ejagent/core/postgres";
 * import { SessionHistoryProvider } from "@ejagent/core";
 * import pg from "pg";
 *
 * const pool = new pg.Pool();
 * pool.on("error", console.error); // a lost idle connection would end the process
 * await createPostgresTable(pool);
 * const storage = new PostgresSessionStorage(pool);
 * const history = new SessionHistoryProvider({ storage, sessionId: "chat-1" });
 * ```
 */
export class PostgresSessionStorage extends JournalTreeStorage {
  /**
   * Makes a storage over a client, which stays the caller's.
   *
   * @throws {TypeError} The client has no function `query`, or an option is wrong.
   * @throws {RangeError} The table is not named by plain identifiers.
   */
  constructor(client: SqlClient, options: PostgresSessionStorageOptions = {}) {
    super(new PostgresJournal(client, options), options);
  }
}
