import type { SqlStorage } from "./storage_types.ts";
import { Tables } from "./tables.ts";

/** What an object keeps about itself, beside its journal: texts by name. */
export class ObjectFacts {
  /**
   * The session of the object: the one that was proposed when it was made first.
   *
   * An object that its alarm wakes does not know by which name it was asked for before.
   */
  readonly sessionId: string;
  readonly #tables: Tables;

  /** Makes the table if it does not exist. */
  constructor(sql: SqlStorage, proposedSessionId: string) {
    let sessionId = proposedSessionId;
    this.#tables = new Tables(sql, () => {
      sql.exec(schema);
      sql.exec(
        "insert or ignore into ejagent_object values ('session_id', ?)",
        sessionId,
      );
    });
    sessionId = this.sessionId = this.get("session_id")!;
  }

  /** A fact; null if it is not kept. */
  get(key: string): string | null {
    const [row] = this.#tables.exec(
      "select value from ejagent_object where key = ?",
      key,
    ).toArray();
    return row === undefined ? null : row.value as string;
  }

  /** Keeps a fact; null drops it. */
  set(key: string, value: string | null): void {
    if (value === null) {
      this.#tables.exec("delete from ejagent_object where key = ?", key);
    } else {
      this.#tables.exec(
        "insert or replace into ejagent_object values (?, ?)",
        key,
        value,
      );
    }
  }
}

const schema = `create table if not exists ejagent_object (
  key text primary key,
  value text not null
)`;
