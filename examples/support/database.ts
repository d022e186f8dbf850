import process from "node:process";
import { PGlite } from "@electric-sql/pglite";
import { PGLiteSocketServer } from "@electric-sql/pglite-socket";

/** A database for an example. */
export interface ExampleDatabase {
  /** Where it is. */
  readonly url: string;
  /** Says which database it is. */
  readonly describe: string;
  /** Gives back what was started for the example. */
  close(): Promise<void>;
}

/**
 * The database that `DATABASE_URL` names; without it a PostgreSQL in this
 * process, on loopback and in memory.
 */
export async function exampleDatabase(): Promise<ExampleDatabase> {
  const url = process.env.DATABASE_URL;
  if (url) {
    const { host, pathname } = new URL(url);
    const describe = `Keeping the session at ${host}${pathname}`;
    return { url, describe, close: () => Promise.resolve() };
  }

  const db = await PGlite.create();
  const server = new PGLiteSocketServer({ db, host: "127.0.0.1", port: 0 });
  await server.start();
  return {
    url:
      `postgres://postgres@${server.getServerConn()}/postgres?sslmode=disable`,
    describe:
      "Keeping the session in an embedded PostgreSQL; set DATABASE_URL to use another one",
    async close() {
      await server.stop();
      await db.close();
    },
  };
}
