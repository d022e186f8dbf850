import { PGlite } from "@electric-sql/pglite";
import {
  createPostgresTable,
  PostgresJournal,
} from "../../../adapters/postgres/mod.ts";
import { assertOutlivesKills } from "../../faults/killed_writers.ts";
import { inDirectory, startProgram } from "../../faults/processes.ts";
import { isLong } from "../../support/runtime.ts";
import { test } from "../../support/suite.ts";
import {
  type Connections,
  connectTo,
  serverPrograms,
  startServer,
} from "./server.ts";

const program = "tests/adapters/postgres/writer_program.ts";
// More than a page of the database holds.
const longLength = 100_000;

test(
  "a database that dies with its writer, in the middle of appends, keeps what was acknowledged",
  {
    case: "B69",
    // It starts slowly; in the short suite it stands in for a server where there is none.
    runtimes: isLong || serverPrograms === null ? ["deno"] : [],
    timeoutMs: 900_000,
  },
  () =>
    inDirectory(async (directory) => {
      const place = `${directory}/database`;
      let client: PGlite | undefined;
      await assertOutlivesKills({
        lines: { longLength },
        start: () => startProgram(program, "pglite", place, String(longLength)),
        async open() {
          client = await PGlite.create(place);
          await createPostgresTable(client);
          return new PostgresJournal(client);
        },
        async close() {
          await client?.close();
        },
      });
    }),
);

test(
  "writers to a PostgreSQL server, killed in the middle of appends, lose nothing that was acknowledged",
  {
    case: "B69",
    runtimes: serverPrograms === null ? [] : ["deno"],
    timeoutMs: 600_000,
  },
  async () => {
    const { directory, stop } = await startServer();
    let connections: Connections | undefined;
    try {
      await assertOutlivesKills({
        lines: { longLength },
        start: () =>
          startProgram(program, "server", directory, String(longLength)),
        async open() {
          connections = await connectTo(directory);
          await createPostgresTable(connections.client);
          return new PostgresJournal(connections.client);
        },
        async close() {
          await connections?.end();
        },
      });
    } finally {
      await stop();
    }
  },
);
