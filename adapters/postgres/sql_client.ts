/**
 * The part of a PostgreSQL client that is used: one statement with numbered
 * parameters.
 *
 * `pg` (a client or a pool) and PGlite fit as they are. For others one line
 * does it, for example for `postgres`:
 * `{ query: async (text, values) => ({ rows: await sql.unsafe(text, values) }) }`.
 */
export interface SqlClient {
  /** Runs one statement in a transaction of its own and returns its rows. */
  query(
    text: string,
    values?: unknown[],
  ): Promise<{ readonly rows: readonly object[] }>;
}
