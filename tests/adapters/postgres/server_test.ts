import {
  createPostgresTable,
  PostgresJournal,
  PostgresSessionStorage,
} from "../../../adapters/postgres/mod.ts";
import { journalContract } from "../../../src/testing/journal_contract.ts";
import { entryAfter, linesOf } from "../../../src/testing/journal_subject.ts";
import { silentLogger } from "../../../src/testing/ports.ts";
import { storageContract } from "../../../src/testing/storage_contract.ts";
import { assertEquals } from "../../support/assert.ts";
import { isLong } from "../../support/runtime.ts";
import { test } from "../../support/suite.ts";
import { connectTo, serverPrograms, startServer } from "./server.ts";

// Only where a server is installed; it takes seconds to start, so all of it is one test.
const runtimes = isLong ? ["deno", "node"] as const : ["deno"] as const;

test(
  "a PostgreSQL server keeps every promise, and gives one of a hundred writers the place",
  {
    case: "SE-N-01",
    runtimes: serverPrograms === null ? [] : runtimes,
    timeoutMs: 300_000,
  },
  async () => {
    const server = await startServer();
    const { client, end } = await connectTo(server.directory);
    try {
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
      await end();
      await server.stop();
    }
  },
);
