import { throwIfAborted } from "../../src/base/abort.ts";
import { requireType } from "../../src/base/require.ts";
import { JournalReplacedError } from "../../src/session/errors.ts";
import {
  isSamePosition,
  type JournalAppendResult,
  type JournalBackend,
  type JournalCallOptions,
  type JournalCapabilities,
  type JournalEntry,
  type JournalLine,
  type JournalPosition,
} from "../../src/session/journal.ts";
import { joinLine, splitLine } from "./line_parts.ts";
import type { ObjectSqlStorage, SqlValue } from "./storage_types.ts";
import { Tables } from "./tables.ts";

interface JournalRow {
  readonly revision: number;
  readonly recordId: string;
  /** Null if the line is in parts. */
  readonly line: string | null;
}

// An object has 128 MB of memory; a page of a read takes a few of them at most.
const maxPageLength = 1 << 20;

/**
 * Journals in the database of a SQLite Durable Object, one row a line.
 *
 * An append is one synchronous transaction, and nothing that the object sends
 * leaves before it is written: what was acknowledged outside is kept. Lines
 * beyond the limit of a row are kept in parts, within the same transaction.
 *
 * @example In the constructor of an object
 * ```ts ignore
 * import { DurableObjectJournal } from "@ejagent/core/cloudflare";
 * import { JournalTreeStorage } from "@ejagent/core/session";
 *
 * const storage = new JournalTreeStorage(new DurableObjectJournal(ctx.storage));
 * ```
 */
export class DurableObjectJournal implements JournalBackend {
  /** Writers are the callers of one object. */
  readonly capabilities: JournalCapabilities = Object.freeze({
    conditionalAppend: "strict",
    durability: "replicated",
    sharedWriters: "object",
    maxRecordBytes: null,
  });
  readonly #storage: ObjectSqlStorage;
  readonly #tables: Tables;

  /**
   * Makes the tables if they do not exist.
   *
   * @param storage `ctx.storage` of the object.
   * @throws {TypeError} Anything else.
   */
  constructor(storage: ObjectSqlStorage) {
    requireType(
      typeof storage?.transactionSync === "function",
      "storage",
      "ctx.storage of a Durable Object",
    );
    this.#storage = storage;
    this.#tables = new Tables(storage.sql, () => storage.sql.exec(schema));
  }

  /** Reads the lines behind a known one, page by page. */
  async *read(
    sessionId: string,
    after: JournalPosition | null,
    options: JournalCallOptions = {},
  ): AsyncGenerator<readonly string[]> {
    if (after !== null) {
      throwIfAborted(options.signal);
      if (this.#recordIdAt(sessionId, after.revision) !== after.recordId) {
        throw new JournalReplacedError(sessionId);
      }
    }
    let revision = after?.revision ?? 0;
    for (;;) {
      throwIfAborted(options.signal);
      const lines = this.#page(sessionId, revision);
      if (lines.length === 0) return;
      yield await Promise.resolve(lines);
      revision += lines.length;
    }
  }

  /** Stores a line if the journal still ends where the writer thinks. */
  async append(
    sessionId: string,
    entry: JournalEntry,
    options: JournalCallOptions = {},
  ): Promise<JournalAppendResult> {
    throwIfAborted(options.signal);
    const parts = splitLine(entry.line);
    return await Promise.resolve(
      // No await inside: what follows one would be outside of the transaction.
      this.#storage.transactionSync(() => {
        const last = this.#last(sessionId);
        if (!isSamePosition(last, entry.after)) return { ok: false, last };
        this.#insert(sessionId, entry, parts);
        return { ok: true };
      }),
    );
  }

  /** Finds the newest checkpoint of `main`. */
  async findCheckpoint(
    sessionId: string,
    options: JournalCallOptions = {},
  ): Promise<JournalLine | null> {
    throwIfAborted(options.signal);
    const [row] = this.#rows(
      `${select} and is_checkpoint = 1 order by revision desc limit 1`,
      sessionId,
    );
    if (row === undefined) return null;
    const { revision } = row;
    const line = await Promise.resolve(this.#lineOf(sessionId, row));
    return { revision, line };
  }

  #page(sessionId: string, revision: number): string[] {
    const lines: string[] = [];
    let length = 0;
    const rows = this.#rows(
      `${select} and revision > ? order by revision`,
      sessionId,
      revision,
    );
    for (const row of rows) {
      const line = this.#lineOf(sessionId, row);
      lines.push(line);
      length += line.length;
      if (length >= maxPageLength) break;
    }
    return lines;
  }

  #last(sessionId: string): JournalPosition | null {
    const [row] = this.#rows(
      `${select} order by revision desc limit 1`,
      sessionId,
    );
    return row === undefined
      ? null
      : { revision: row.revision, recordId: row.recordId };
  }

  #recordIdAt(sessionId: string, revision: number): string | undefined {
    const [row] = this.#rows(`${select} and revision = ?`, sessionId, revision);
    return row?.recordId;
  }

  #insert(
    sessionId: string,
    { revision, recordId, line, checkpoint }: JournalEntry,
    parts: readonly ArrayBuffer[],
  ): void {
    this.#tables.exec(
      "insert into ejagent_journal values (?, ?, ?, ?, ?)",
      sessionId,
      revision,
      recordId,
      parts.length === 0 ? line : null,
      checkpoint ? 1 : 0,
    );
    for (const [index, bytes] of parts.entries()) {
      this.#tables.exec(
        "insert into ejagent_journal_part values (?, ?, ?, ?)",
        sessionId,
        revision,
        index,
        bytes,
      );
    }
  }

  #lineOf(sessionId: string, { revision, line }: JournalRow): string {
    if (line !== null) return line;
    const parts = this.#tables.exec(
      `select bytes from ejagent_journal_part
where session_id = ? and revision = ? order by part`,
      sessionId,
      revision,
    ).toArray();
    return joinLine(parts.map(({ bytes }) => bytes as ArrayBuffer));
  }

  *#rows(statement: string, ...values: SqlValue[]): Generator<JournalRow> {
    for (const row of this.#tables.exec(statement, ...values)) {
      const { revision, record_id, line } = row;
      yield {
        revision: revision as number,
        recordId: record_id as string,
        line: line as string | null,
      };
    }
  }
}

const schema = `
create table if not exists ejagent_journal (
  session_id text not null,
  revision integer not null,
  record_id text not null,
  line text,
  is_checkpoint integer not null,
  primary key (session_id, revision),
  unique (session_id, record_id)
);
create index if not exists ejagent_journal_checkpoint
  on ejagent_journal (session_id, revision) where is_checkpoint = 1;
create table if not exists ejagent_journal_part (
  session_id text not null,
  revision integer not null,
  part integer not null,
  bytes blob not null,
  primary key (session_id, revision, part)
);`;

const select =
  "select revision, record_id, line from ejagent_journal where session_id = ?";
