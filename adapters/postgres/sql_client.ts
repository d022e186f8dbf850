import { requireType } from "../../src/base/require.ts";
import { causeText, SessionStorageError } from "../../src/session/errors.ts";

/** Rows by themselves, or in an object. */
export type SqlResult =
  | readonly object[]
  | { readonly rows: readonly object[] };

/**
 * The part of a PostgreSQL client that is used: one statement with numbered
 * parameters.
 *
 * `pg` (a client or a pool) and PGlite fit as they are. For others one line
 * does it, for example for `postgres`:
 * `{ query: (text, values) => sql.unsafe(text, values) }`.
 */
export interface SqlClient {
  /** Runs one statement in a transaction of its own and returns its rows. */
  query(text: string, values?: unknown[]): Promise<SqlResult>;
}

/** Checks a client. @throws {TypeError} It has no `query`. */
export function requireClient(client: SqlClient): SqlClient {
  requireType(
    typeof client?.query === "function",
    "client",
    "a client with a function query(); for postgres give " +
      "{ query: (text, values) => sql.unsafe(text, values) }",
  );
  return client;
}

/** A statement, and the table that it is about. */
export interface Statement {
  readonly text: string;
  readonly values?: unknown[];
  /** As it is named in statements. */
  readonly table: string;
}

/**
 * Runs a statement.
 *
 * @returns Its rows.
 * @throws {SessionStorageError} The server refused it, and would do so again.
 */
export async function rowsOf(
  client: SqlClient,
  { text, values, table }: Statement,
): Promise<readonly object[]> {
  let result: SqlResult;
  try {
    result = await client.query(text, values);
  } catch (error) {
    throw refusal(error, table) ?? error;
  }
  const rows = Array.isArray(result)
    ? result
    : (result as { readonly rows?: unknown } | null | undefined)?.rows;
  if (Array.isArray(rows)) return rows;
  throw new SessionStorageError(
    "query() of the client gave no rows; it must give a list or { rows }",
  );
}

/**
 * Classes of errors that come again until somebody changes something.
 *
 * @see PostgreSQL, appendix A, error codes.
 */
const lastingClasses: Readonly<Record<string, true>> = {
  "0A": true, // not supported
  "22": true, // wrong data
  "28": true, // wrong user or password
  "3D": true, // no such database
  "3F": true, // no such schema
  "42": true, // wrong names, missing rights
};

const noTable = "42P01";
const noColumn = "42703";

/** The code of PostgreSQL in an error of a client, or of {@linkcode rowsOf}. */
export function sqlStateOf(error: unknown): string | undefined {
  const source = error instanceof SessionStorageError ? error.cause : error;
  const { code } = (source ?? {}) as { readonly code?: unknown };
  return typeof code === "string" && code.length === 5 ? code : undefined;
}

/**
 * True if the server gave a transaction up in favour of another one, as it does
 * at the stricter levels of isolation: it changed nothing.
 */
export function isGivenUp(error: unknown): boolean {
  const code = sqlStateOf(error);
  return code === "40001" || code === "40P01";
}

/** What an error of a client means, if it is one of those that come again. */
function refusal(
  cause: unknown,
  table: string,
): SessionStorageError | undefined {
  const code = sqlStateOf(cause);
  if (code === undefined) return undefined;
  if (!Object.hasOwn(lastingClasses, code.slice(0, 2))) return undefined;
  return new SessionStorageError(messageOf(code, cause, table), { cause });
}

function messageOf(code: string, cause: unknown, table: string): string {
  switch (code) {
    case noTable:
      return `There is no table ${table}; make it with createPostgresTable()`;
    case noColumn:
      return `The table ${table} is no table of journals; name another one (${
        causeText(cause)
      })`;
    default:
      return `PostgreSQL refused a statement about ${table}: ${
        causeText(cause)
      }`;
  }
}
