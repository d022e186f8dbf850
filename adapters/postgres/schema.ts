import { requireClient, rowsOf, type SqlClient } from "./sql_client.ts";

const defaultTable = "ejagent_journal";

/**
 * The statements that make the table of the journals, in order; running them
 * again changes nothing.
 *
 * A line is `text` on purpose: `jsonb` refuses some characters and changes keys
 * and numbers.
 *
 * @throws {RangeError} The table is not named by plain identifiers.
 */
export function postgresSchema(table?: string): readonly string[] {
  const quoted = quotedTable(table);
  const index = `"${(table ?? defaultTable).replace(".", "_")}_checkpoints"`;
  return [
    `create table if not exists ${quoted} (
  session_key text not null,
  revision bigint not null check (revision > 0),
  record_id text not null,
  line text not null,
  is_checkpoint boolean not null default false,
  created_at timestamptz not null default now(),
  primary key (session_key, revision),
  unique (session_key, record_id)
)`,
    `create index if not exists ${index} on ${quoted} (session_key, revision) where is_checkpoint`,
  ];
}

/**
 * Makes the table of the journals, if it does not exist.
 *
 * @throws {TypeError} The client has no function `query`.
 * @throws {RangeError} The table is not named by plain identifiers.
 * @throws {SessionStorageError} There is another table of this name, or the
 * server refuses to make one.
 */
export async function createPostgresTable(
  client: SqlClient,
  table?: string,
): Promise<void> {
  requireClient(client);
  const name = quotedTable(table);
  for (const text of postgresSchema(table)) {
    await rowsOf(client, { text, table: name });
  }
}

/** A table name for a statement. @throws {RangeError} It is not made of plain identifiers. */
export function quotedTable(table: string = defaultTable): string {
  if (!/^[A-Za-z_]\w{0,50}(\.[A-Za-z_]\w{0,50})?$/.test(table)) {
    throw new RangeError(
      "The table must be named by letters, digits and underscores, optionally behind its schema",
    );
  }
  return table.split(".").map((part) => `"${part}"`).join(".");
}

/** The key of a session; PostgreSQL takes every character in a text but U+0000. */
export function sessionKey(sessionId: string): string {
  return sessionId.replaceAll("%", "%25").replaceAll("\0", "%00");
}
