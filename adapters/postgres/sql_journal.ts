import { throwIfAborted } from "../../src/base/abort.ts";
import {
  JournalReplacedError,
  SessionStorageError,
} from "../../src/session/errors.ts";
import type {
  JournalAppendResult,
  JournalBackend,
  JournalCallOptions,
  JournalCapabilities,
  JournalEntry,
  JournalLine,
  JournalPosition,
} from "../../src/session/journal.ts";
import { isDigest, recordKey, sessionKey } from "./keys.ts";
import { quotedTable } from "./schema.ts";
import {
  isGivenUp,
  requireClient,
  rowsOf,
  type SqlClient,
} from "./sql_client.ts";

/** How a {@linkcode PostgresJournal} works. */
export interface PostgresJournalOptions {
  /** Table of the journals; may name its schema, `"app.journal"`. @default {"ejagent_journal"} */
  readonly table?: string | undefined;
}

interface JournalRow {
  // Drivers give 64-bit integers as numbers, texts or bigints.
  readonly revision: number | string | bigint;
  readonly record_id: string;
  readonly line: string;
}

interface PageRow extends JournalRow {
  /** Bytes of the page up to the end of this line. */
  readonly end: number | string | bigint;
}

// Whichever comes first ends a page; a single line may be longer.
const maxPageRows = 256;
const maxPageBytes = 1 << 20;

const maxReadAttempts = 5;

/**
 * Journals in a table of PostgreSQL, one row a line.
 *
 * The primary key decides between writers, in one statement, so hosts and
 * processes may share the table and no lock or transaction outlives a call.
 * `createPostgresTable` makes the table.
 *
 * @example Journals of a pool
 * ```ts ignore
 * import { createPostgresTable, PostgresJournal } from "@ejagent/core/postgres";
 * import { JournalTreeStorage } from "@ejagent/core/session";
 * import pg from "pg";
 *
 * const pool = new pg.Pool();
 * await createPostgresTable(pool);
 * const storage = new JournalTreeStorage(new PostgresJournal(pool));
 * ```
 */
export class PostgresJournal implements JournalBackend {
  /** A line is acknowledged when its transaction is committed. */
  readonly capabilities: JournalCapabilities = Object.freeze({
    conditionalAppend: "strict",
    durability: "fsync",
    sharedWriters: "hosts",
    maxRecordBytes: null,
  });
  readonly #client: SqlClient;
  readonly #table: string;
  readonly #sql: ReturnType<typeof statements>;

  /**
   * Makes journals over a client, which stays the caller's.
   *
   * @throws {TypeError} The client has no function `query`.
   * @throws {RangeError} The table is not named by plain identifiers.
   */
  constructor(client: SqlClient, options: PostgresJournalOptions = {}) {
    this.#client = requireClient(client);
    this.#table = quotedTable(options.table);
    this.#sql = statements(this.#table);
  }

  /** Reads the lines behind a known one, page by page. */
  async *read(
    sessionId: string,
    after: JournalPosition | null,
    options: JournalCallOptions = {},
  ): AsyncGenerator<readonly string[]> {
    const key = await sessionKey(sessionId);
    let next = after === null ? 1 : after.revision;
    let known = after === null ? null : await recordKey(after.recordId);
    for (;;) {
      const rows = await this.#rows<PageRow>(
        this.#sql.read,
        [key, next],
        options,
      );
      if (known !== null && rows[0]?.record_id !== known) {
        throw new JournalReplacedError(sessionId);
      }
      const lines = (known === null ? rows : rows.slice(1))
        .map((row) => row.line);
      known = null;
      if (lines.length > 0) yield lines;
      if (!isFull(rows)) return;
      next = Number(rows.at(-1)!.revision) + 1;
    }
  }

  /** Stores a line if the journal still ends where the writer thinks. */
  async append(
    sessionId: string,
    entry: JournalEntry,
    options: JournalCallOptions = {},
  ): Promise<JournalAppendResult> {
    const key = await sessionKey(sessionId);
    const { after, revision, recordId, line, checkpoint } = entry;
    const isStored = await this.#isStored([
      key,
      revision,
      await recordKey(recordId),
      line,
      checkpoint,
      after === null ? null : await recordKey(after.recordId),
    ], options);
    if (isStored) return { ok: true };
    const [last] = await this.#rows(this.#sql.last, [key], {});
    return { ok: false, last: last === undefined ? null : positionOf(last) };
  }

  /** Finds the newest checkpoint of `main`. */
  async findCheckpoint(
    sessionId: string,
    options: JournalCallOptions = {},
  ): Promise<JournalLine | null> {
    const key = await sessionKey(sessionId);
    const [row] = await this.#rows(this.#sql.checkpoint, [key], options);
    return row === undefined
      ? null
      : { revision: Number(row.revision), line: row.line };
  }

  async #isStored(
    values: unknown[],
    { signal }: JournalCallOptions,
  ): Promise<boolean> {
    throwIfAborted(signal);
    const text = this.#sql.append;
    const table = this.#table;
    try {
      return (await rowsOf(this.#client, { text, values, table })).length > 0;
    } catch (error) {
      if (isGivenUp(error)) return false;
      throw error;
    }
  }

  async #rows<Row extends JournalRow>(
    text: string,
    values: unknown[],
    { signal }: JournalCallOptions,
  ): Promise<readonly Row[]> {
    const table = this.#table;
    for (let attempt = 1;; attempt++) {
      throwIfAborted(signal);
      try {
        const rows = await rowsOf(this.#client, { text, values, table });
        requireColumns(rows);
        return rows as Row[];
      } catch (error) {
        if (!isGivenUp(error) || attempt === maxReadAttempts) throw error;
      }
    }
  }
}

const columns = ["revision", "record_id", "line"];

function requireColumns([row]: readonly object[]): void {
  const missing = row && columns.find((column) => !(column in row));
  if (missing === undefined) return;
  throw new SessionStorageError(
    `The client gave rows without "${missing}"; give it one that leaves the names of columns alone`,
  );
}

/** Whether there may be more rows behind these. */
function isFull(rows: readonly PageRow[]): boolean {
  const bytes = Number(rows.at(-1)?.end ?? 0);
  return rows.length === maxPageRows || bytes >= maxPageBytes;
}

function positionOf(
  { revision, record_id, line }: JournalRow,
): JournalPosition {
  const recordId = isDigest(record_id) ? JSON.parse(line).record_id : record_id;
  return { revision: Number(revision), recordId };
}

function statements(table: string) {
  return {
    read: `select revision, record_id, line, "end" from (
  select *, sum(octet_length(line)) over (order by revision) as "end" from (
    select revision, record_id, line from ${table}
    where session_key = $1 and revision >= $2 order by revision limit ${maxPageRows}
  ) as rows
) as page where "end" - octet_length(line) < ${maxPageBytes} order by revision`,
    // One statement: the snapshot it sees and the keys decide, whoever else writes.
    append:
      `insert into ${table} (session_key, revision, record_id, line, is_checkpoint)
select $1, $2::bigint, $3, $4, $5::boolean
where $2::bigint = 1 + coalesce((select max(revision) from ${table} where session_key = $1), 0)
and ($6::text is null and $2::bigint = 1 or exists
  (select from ${table} where session_key = $1 and revision = $2::bigint - 1 and record_id = $6))
on conflict do nothing returning revision`,
    last: `select revision, record_id, line from ${table}
where session_key = $1 order by revision desc limit 1`,
    checkpoint: `select revision, record_id, line from ${table}
where session_key = $1 and is_checkpoint order by revision desc limit 1`,
  };
}
