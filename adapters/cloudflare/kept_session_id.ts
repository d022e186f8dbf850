import type { SqlStorage } from "./storage_types.ts";

/**
 * The session of an object: the one that was proposed when the object was made.
 *
 * An object that its alarm wakes does not know by which name it was asked for before.
 */
export function keptSessionId(sql: SqlStorage, proposed: string): string {
  sql.exec(`create table if not exists ejagent_object (
  key text primary key,
  value text not null
)`);
  sql.exec(
    "insert or ignore into ejagent_object values ('session_id', ?)",
    proposed,
  );
  const [row] = sql.exec(
    "select value from ejagent_object where key = 'session_id'",
  ).toArray();
  return row!.value as string;
}
