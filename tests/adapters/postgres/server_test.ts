import {
  createPostgresTable,
  PostgresJournal,
  PostgresSessionStorage,
  type SqlClient,
} from "../../../adapters/postgres/mod.ts";
import { journalContract } from "../../../src/testing/journal_contract.ts";
import { entryAfter, linesOf } from "../../../src/testing/journal_subject.ts";
import { silentLogger } from "../../../src/testing/ports.ts";
import { answered, started } from "../../../src/testing/session_drafts.ts";
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

      await Promise.all(
        Array.from({ length: 8 }, () => createPostgresTable(client, "shared")),
      );

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
      for (const level of ["repeatable read", "serializable"] as const) {
        const strict = await connectTo(server.directory, level);
        try {
          await assertEachStored(strict.client, level);
        } finally {
          await strict.end();
        }
      }
    } finally {
      await end();
      await server.stop();
    }
  },
);

/** Several writers, each of which is told that every record of its own is stored once. */
async function assertEachStored(
  client: SqlClient,
  sessionId: string,
): Promise<void> {
  const open = () =>
    new PostgresSessionStorage(client, {
      table: "shared",
      logger: silentLogger,
    });
  const drafts = [
    started("r1"),
    ...Array.from(
      { length: 24 },
      (_, index) => answered("r1", 2, `answer ${index}`),
    ),
  ].map((draft) => ({ ...draft, sessionId }));
  await open().append(drafts[0]!);
  await Promise.all([0, 1, 2, 3].map(async (writer) => {
    const storage = open();
    for (let index = writer + 1; index < drafts.length; index += 4) {
      await storage.append(drafts[index]!);
    }
  }));
  assertEquals((await open().records(sessionId)).length, drafts.length);
}
