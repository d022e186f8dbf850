import type { SqlRows, SqlStorage, SqlValue } from "./storage_types.ts";

/**
 * Tables that are made when they are not there: at first, and again after
 * `deleteAll()` on an object that goes on.
 */
export class Tables {
  readonly #sql: SqlStorage;
  readonly #make: () => void;

  /** Makes them. @param make Makes those that are not there. */
  constructor(sql: SqlStorage, make: () => void) {
    this.#sql = sql;
    this.#make = make;
    make();
  }

  /** Runs a statement about them. */
  exec(statement: string, ...values: SqlValue[]): SqlRows {
    try {
      return this.#sql.exec(statement, ...values);
    } catch (error) {
      if (!isForLackOfTable(error)) throw error;
      this.#make();
      return this.#sql.exec(statement, ...values);
    }
  }
}

// SQLite tells this in words alone.
function isForLackOfTable(error: unknown): boolean {
  return error instanceof Error && error.message.includes("no such table");
}
