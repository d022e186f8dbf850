import {
  createPostgresTable,
  PostgresJournal,
  PostgresSessionStorage,
  type SqlClient,
} from "../../../adapters/postgres/mod.ts";
import { journalContract } from "../../../src/testing/journal_contract.ts";
import { entryAfter, linesOf } from "../../../src/testing/journal_subject.ts";
import { silentLogger } from "../../../src/testing/ports.ts";
import { storageContract } from "../../../src/testing/storage_contract.ts";
import { assertEquals } from "../../support/assert.ts";
import { isLong } from "../../support/runtime.ts";
import { test } from "../../support/suite.ts";
import { serverPrograms, startServer } from "./server.ts";

// A server of its own takes seconds, so all of it is one test of the long suite.
test(
  "a PostgreSQL server keeps every promise, and gives one of a hundred writers the place",
  {
    case: "SE-N-01",
    runtimes: isLong && serverPrograms !== null ? ["deno", "node"] : [],
    timeoutMs: 300_000,
  },
  async () => {
    // A variable, so that no bundler takes the client into the Worker, where it cannot be loaded.
    const specifier = "postgres";
    const { default: postgres }: { default: typeof import("postgres") } =
      await import(specifier);
    const server = await startServer();
    const connect = () =>
      postgres({
        host: server.directory,
        username: "postgres",
        max: 20,
        onnotice() {},
      });
    const sql = connect();
    try {
      const client: SqlClient = {
        query: async (text, values) => ({
          rows: await sql.unsafe(text, values as never[]),
        }),
      };
      let count = 0;
      const newTable = async () => {
        const table = `journal_${++count}`;
        await createPostgresTable(client, table);
        return table;
      };
      const cases = [
        ...journalContract(async () => {
          const table = await newTable();
          const reopen = () => new PostgresJournal(client, { table });
          return { backend: reopen(), reopen };
        }),
        ...storageContract(async () => {
          const table = await newTable();
          const reopen = () =>
            new PostgresSessionStorage(client, { table, logger: silentLogger });
          return { storage: reopen(), reopen };
        }),
      ];
      for (const { run } of cases) await run();

      const table = await newTable();
      const answers = await Promise.all(
        Array.from(
          { length: 100 },
          (_, index) =>
            new PostgresJournal(client, { table })
              .append("s", entryAfter(null, `record-${index}`)),
        ),
      );
      assertEquals(
        answers.filter(({ ok }) => ok).length,
        1,
      );
      const journal = new PostgresJournal(client, { table });
      assertEquals(
        (await linesOf(journal, null, { sessionId: "s" })).length,
        1,
      );
    } finally {
      await sql.end();
      await server.stop();
    }
  },
);
