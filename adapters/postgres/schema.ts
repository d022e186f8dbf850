import {
  requireClient,
  rowsOf,
  type SqlClient,
  sqlStateOf,
} from "./sql_client.ts";

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
 * Makes the table of the journals, if it does not exist. Hosts may do so at the
 * same time.
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
    await repeated(() => rowsOf(client, { text, table: name }));
  }
}

const maxAttempts = 5;

/** What "if not exists" meets where another program makes the same at the same time. */
const madeMeanwhile: Readonly<Record<string, true>> = {
  "23505": true, // a name in a catalog
  "42P07": true, // a table or an index
  "42710": true, // an object, such as a type
};

async function repeated(run: () => Promise<unknown>): Promise<void> {
  for (let attempt = 1;; attempt++) {
    try {
      await run();
      return;
    } catch (error) {
      const isMade = Object.hasOwn(madeMeanwhile, sqlStateOf(error) ?? "");
      if (!isMade || attempt === maxAttempts) throw error;
    }
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
