/**
 * Sessions in PostgreSQL, over any client with a `query` function: `pg`,
 * PGlite, `postgres`, Neon.
 *
 * Choose it where several hosts serve the same sessions. No driver is imported;
 * the client is yours.
 *
 * The storage neither lists nor deletes sessions; the table does. Sessions are
 * `select distinct session_key from ejagent_journal`, and
 * `delete from ejagent_journal where session_key = $1` deletes one that no agent
 * uses. A key is the id with `%25` for a percent sign and `%00` for U+0000, or a
 * digest if that has more than 2000 bytes; `line` tells the id in any case.
 *
 * @example Sessions that several hosts share
 * ```ts ignore
 * import { createPostgresTable, PostgresSessionStorage } from "@ejagent/core/postgres";
 * import pg from "pg";
 *
 * const pool = new pg.Pool();
 * pool.on("error", console.error); // a lost idle connection would end the process
 * await createPostgresTable(pool);
 * const storage = new PostgresSessionStorage(pool);
 * ```
 *
 * @module
 */

export { createPostgresTable, postgresSchema } from "./schema.ts";
export type { SqlClient, SqlResult } from "./sql_client.ts";
export { PostgresJournal, type PostgresJournalOptions } from "./sql_journal.ts";
export {
  PostgresSessionStorage,
  type PostgresSessionStorageOptions,
} from "./session_storage.ts";
