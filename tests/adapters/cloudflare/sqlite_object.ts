import type {
  ObjectState,
  SqlRows,
  SqlValue,
} from "../../../adapters/cloudflare/storage_types.ts";

type SqliteValue = Uint8Array | string | number | null;

/** The state of a Durable Object over SQLite in memory, for Deno. */
export async function sqliteObject(): Promise<ObjectState> {
  const { DatabaseSync } = await import("node:sqlite");
  const database = new DatabaseSync(":memory:");
  let dueMs: number | null = null;
  return {
    id: { name: "s" },
    storage: {
      sql: {
        exec(statements: string, ...values: SqlValue[]): SqlRows {
          if (values.length === 0 && statements.startsWith("create")) {
            database.exec(statements);
            return [] as never;
          }
          const rows = database.prepare(statements).all(...values.map(toSqlite))
            .map(fromSqlite);
          return Object.assign(rows, { toArray: () => rows });
        },
      },
      transactionSync<T>(work: () => T): T {
        database.exec("begin");
        try {
          const result = work();
          database.exec("commit");
          return result;
        } catch (error) {
          database.exec("rollback");
          throw error;
        }
      },
      getAlarm: () => Promise.resolve(dueMs),
      setAlarm(ms) {
        dueMs = ms;
        return Promise.resolve();
      },
      deleteAlarm() {
        dueMs = null;
        return Promise.resolve();
      },
    },
  };
}

function toSqlite(value: SqlValue): SqliteValue {
  return value instanceof ArrayBuffer ? new Uint8Array(value) : value;
}

function fromSqlite(row: Record<string, unknown>): Record<string, SqlValue> {
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name,
      value instanceof Uint8Array
        ? value.slice().buffer as ArrayBuffer
        : value as SqlValue,
    ]),
  );
}
