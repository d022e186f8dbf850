/**
 * Sessions in PostgreSQL, over any client with a `query` function: `pg`,
 * PGlite, `postgres`, Neon.
 *
 * Choose it where several hosts serve the same sessions. No driver is imported;
 * the client is yours.
 *
 * @example Sessions that several hosts share
 * ```ts ignore
 * import { createPostgresTable, PostgresSessionStorage } from "@ejagent/core/postgres";
 * import pg from "pg";
 *
 * const pool = new pg.Pool();
 * await createPostgresTable(pool);
 * const storage = new PostgresSessionStorage(pool);
 * ```
 *
 * @module
 */

export { createPostgresTable, postgresSchema } from "./schema.ts";
export type { SqlClient } from "./sql_client.ts";
export { PostgresJournal, type PostgresJournalOptions } from "./sql_journal.ts";
export {
  PostgresSessionStorage,
  type PostgresSessionStorageOptions,
} from "./session_storage.ts";
