import {
  type AgentObjectOptions,
  type AgentPlace,
  defineAgentObject,
  type ObjectAgentOptions,
} from "../../../adapters/cloudflare/agent_object.ts";
import type { AgentObject } from "../../../adapters/cloudflare/agent_routes.ts";
import type {
  ObjectState,
  SqlRows,
  SqlValue,
} from "../../../adapters/cloudflare/storage_types.ts";
import { ScriptedModel } from "../../../src/testing/scripted_model.ts";
import { text } from "../../../src/testing/steps.ts";
import { type Deferred, deferred } from "../../support/deferred.ts";

/** Milliseconds until an alarm: so far that none goes off by itself, and that its distance can be told. */
export const alarmMs = 1_000_000_000;

/** An object as a test sees it. */
export interface OpenedObject extends AgentObject, AgentPlace {
  /** Settled when a start-up has begun. */
  readonly startupBegun: Deferred<void>;
}

/** What a test wants of the agent. */
export type Overrides = Partial<ObjectAgentOptions> & {
  readonly startupBegun?: Deferred<void>;
};

abstract class Base {
  constructor(_ctx: never, _env: never) {}
}

/** The object as the platform makes it anew. */
export function openObject(
  state: ObjectState,
  { startupBegun = deferred(), ...overrides }: Overrides = {},
): OpenedObject {
  const options: AgentObjectOptions<never> = {
    agent: () => ({
      agentId: "a",
      systemPrompt: "",
      model: new ScriptedModel(() => text("resumed")),
      ...overrides,
    }),
    resume: true,
    alarmMs,
    logger: { warn() {} },
  };
  const ObjectWithAgent = defineAgentObject(Base, options);
  const object = new ObjectWithAgent(state, undefined as never);
  return Object.assign(object, { startupBegun });
}

/** A state whose database can be emptied. */
export interface SqliteObject extends ObjectState {
  /** Removes all tables, as the storage does. */
  deleteAll(): void;
}

type SqliteValue = Uint8Array | string | number | null;

/** The state of a Durable Object over SQLite in memory, for Deno. */
export async function sqliteObject(): Promise<SqliteObject> {
  const { DatabaseSync } = await import("node:sqlite");
  const database = new DatabaseSync(":memory:");
  let dueMs: number | null = null;
  return {
    id: { name: "s" },
    deleteAll() {
      const tables = database.prepare(
        "select name from sqlite_schema where type = 'table'",
      ).all();
      for (const { name } of tables) database.exec(`drop table ${name}`);
    },
    storage: {
      sql: {
        exec(statements: string, ...values: SqlValue[]): SqlRows {
          if (statements.trimStart().startsWith("create")) {
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
