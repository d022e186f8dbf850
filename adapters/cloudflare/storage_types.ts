/** A value of a column. */
export type SqlValue = ArrayBuffer | string | number | null;

/** Rows of a statement, read as they are iterated. */
export interface SqlRows extends Iterable<Readonly<Record<string, SqlValue>>> {
  /** All of them. */
  toArray(): Readonly<Record<string, SqlValue>>[];
}

/** The SQL part of a Durable Object's storage. */
export interface SqlStorage {
  /** Runs statements, with values for the question marks. */
  exec(statements: string, ...values: SqlValue[]): SqlRows;
}

/**
 * The part of the storage of a SQLite Durable Object that journals use;
 * `ctx.storage` fits.
 */
export interface ObjectSqlStorage {
  /** The database of the object. */
  readonly sql: SqlStorage;
  /** Runs a synchronous function whose changes are kept together or not at all. */
  transactionSync<T>(work: () => T): T;
}

/** The storage of a SQLite Durable Object with its alarm; `ctx.storage` fits. */
export interface ObjectStorage extends ObjectSqlStorage {
  /** When the alarm is due, in milliseconds since 1970; null for no alarm. */
  getAlarm(): Promise<number | null>;
  /** Sets the one alarm of the object. @param dueMs Milliseconds since 1970. */
  setAlarm(dueMs: number): Promise<void>;
  /** Drops the alarm. */
  deleteAlarm(): Promise<void>;
}

/** The state of a Durable Object; `ctx` fits. */
export interface ObjectState {
  /** Which object it is. */
  readonly id: {
    /** The name it was asked for by, if it was. */
    readonly name?: string;
    /** The id as text. */
    toString(): string;
  };
  /** What it keeps. */
  readonly storage: ObjectStorage;
}
