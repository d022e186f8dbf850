import { PGlite } from "@electric-sql/pglite";
import {
  createPostgresTable,
  PostgresJournal,
  postgresSchema,
  PostgresSessionStorage,
} from "../../../adapters/postgres/mod.ts";
import {
  JournalReplacedError,
  SessionStorageError,
} from "../../../src/session/errors.ts";
import { journalContract } from "../../../src/testing/journal_contract.ts";
import {
  entryAfter,
  fill,
  linesOf,
  longId,
  positionOf,
  s,
} from "../../../src/testing/journal_subject.ts";
import { started } from "../../../src/testing/session_drafts.ts";
import { silentLogger } from "../../../src/testing/ports.ts";
import { storageContract } from "../../../src/testing/storage_contract.ts";
import {
  assertEquals,
  assertRejects,
  assertThrows,
} from "../../support/assert.ts";
import { isLong, runtime } from "../../support/runtime.ts";
import { test, type TestOptions } from "../../support/suite.ts";

// One database for the file, and one runtime in the short suite: it is slow to start.
const hosts = {
  runtimes: isLong ? ["deno", "node", "bun"] : ["deno"],
  timeoutMs: 120_000,
} satisfies TestOptions;
let database: Promise<PGlite> | undefined;
let tableCount = 0;

async function newTable(): Promise<{ client: PGlite; table: string }> {
  database ??= PGlite.create();
  const client = await database;
  const table = `journal_${++tableCount}`;
  await createPostgresTable(client, table);
  return { client, table };
}

// PGlite sets an alarm behind a statement, to write statistics in ten seconds; it outlives the tests,
// and Deno would blame them.
if (runtime === "deno") {
  const { setTimeout } = globalThis;
  globalThis.setTimeout = ((act: () => void, ms?: number) =>
    ms === 10_000 ? 0 : setTimeout(act, ms)) as typeof setTimeout;
}

const journals = journalContract(async () => {
  const { client, table } = await newTable();
  return {
    backend: new PostgresJournal(client, { table }),
    reopen: () => new PostgresJournal(client, { table }),
  };
});
for (const { name, run } of journals) {
  test(`journals in PostgreSQL: ${name}`, { ...hosts, case: "SE-N-01" }, run);
}

const storages = storageContract(async () => {
  const { client, table } = await newTable();
  const open = () =>
    new PostgresSessionStorage(client, { table, logger: silentLogger });
  return { storage: open(), reopen: open };
});
for (const { name, run } of storages) {
  test(`sessions in PostgreSQL: ${name}`, { ...hosts, case: "SE-N-01" }, run);
}

test("a gap is not stored and a second line of a number neither", {
  ...hosts,
  case: "SE-N-06",
}, async () => {
  const { client, table } = await newTable();
  const journal = new PostgresJournal(client, { table });
  const entry = (revision: number, recordId: string, after: string | null) => ({
    after: after === null ? null : { revision: revision - 1, recordId: after },
    revision,
    recordId,
    line: `{"record_id":"${recordId}"}`,
    checkpoint: false,
  });
  assertEquals(await journal.append("s", entry(2, "b", "a")), {
    ok: false,
    last: null,
  });
  const both = await Promise.all([
    journal.append("s", entry(1, "a", null)),
    journal.append("s", entry(1, "x", null)),
  ]);
  assertEquals(both.filter((result) => result.ok).length, 1);
  const { rows } = await client.query<{ count: number }>(
    `select count(*)::int as count from ${table}`,
  );
  assertEquals(rows[0]?.count, 1);
  const types = await client.query<{ data_type: string }>(
    "select data_type from information_schema.columns where table_name = $1 and column_name = 'line'",
    [table],
  );
  assertEquals(types.rows[0]?.data_type, "text");
});

test(
  "a hundred writers that want the same place have one winner",
  hosts,
  async () => {
    const { client, table } = await newTable();
    const answers = await Promise.all(
      Array.from(
        { length: 100 },
        (_, index) =>
          new PostgresJournal(client, { table })
            .append("s", entryAfter(null, `record-${index}`)),
      ),
    );
    const winner = answers.findIndex(({ ok }) => ok);
    assertEquals(answers.filter(({ ok }) => ok).length, 1);
    const journal = new PostgresJournal(client, { table });
    assertEquals(await linesOf(journal, null, { sessionId: "s" }), [
      entryAfter(null, `record-${winner}`).line,
    ]);
  },
);

test("a page of long lines has about a megabyte", hosts, async () => {
  const { client, table } = await newTable();
  const pages: number[] = [];
  const journal = new PostgresJournal({
    async query(text, values) {
      const result = await client.query<{ line: string }>(text, values);
      const lengths = result.rows.map(({ line }) => line?.length ?? 0);
      pages.push(lengths.reduce((sum, length) => sum + length, 0));
      return result;
    },
  }, { table });
  const entries = await fill(journal, 12, { text: "x".repeat(300_000) });
  await journal.append(s, entryAfter(positionOf(entries.at(-1)!), "short"));
  for (const from of [null, entries[1]!]) {
    pages.length = 0;
    const lines = await linesOf(journal, from && positionOf(from));
    assertEquals(lines.length, from === null ? 13 : 11);
    assertEquals(pages.filter((length) => length > 1.3 * 2 ** 20), []);
    assertEquals(pages.length, from === null ? 4 : 3);
  }
});

test("making the table again changes nothing", hosts, async () => {
  const { client, table } = await newTable();
  await createPostgresTable(client, table);
  await createPostgresTable(client, table);
});

test("a table that others make at the same time is made", async () => {
  const asked: string[] = [];
  const codes = ["23505", "42P07", "42710"];
  await createPostgresTable({
    query(text) {
      asked.push(text);
      const code = codes.shift();
      return code === undefined
        ? Promise.resolve([])
        : Promise.reject(Object.assign(new Error("Made meanwhile"), { code }));
    },
  });
  const [table, index] = postgresSchema();
  assertEquals(asked, [table, table, table, table, index]);
  const foreign = Object.assign(new Error("In the way"), { code: "42P07" });
  const error = await assertRejects(
    () => createPostgresTable({ query: () => Promise.reject(foreign) }),
    SessionStorageError,
  );
  assertEquals(error.cause, foreign);
});

test("a server that gives a statement up has stored nothing", async () => {
  const givenUp = Object.assign(new Error("Could not serialize access"), {
    code: "40001",
  });
  const answers: (object[] | Error)[] = [givenUp, givenUp, [{
    revision: "1",
    record_id: "b",
    line: "{}",
  }]];
  const journal = new PostgresJournal({
    query() {
      const answer = answers.shift()!;
      return answer instanceof Error
        ? Promise.reject(answer)
        : Promise.resolve(answer);
    },
  });
  assertEquals(await journal.append("s", entryAfter(null, "a")), {
    ok: false,
    last: { revision: 1, recordId: "b" },
  });
  assertEquals(answers.length, 0);
});

test("a client that renames columns is told so", async () => {
  const row = { revision: "1", recordId: "a", line: "{}", end: "2" };
  const journal = new PostgresJournal({ query: () => Promise.resolve([row]) });
  await assertRejects(
    () => linesOf(journal),
    SessionStorageError,
    'rows without "record_id"',
  );
});

test("a record id that looks like a digest is none", hosts, async () => {
  const { client, table } = await newTable();
  const journal = new PostgresJournal(client, { table });
  await journal.append(s, entryAfter(null, longId("first")));
  const { rows } = await client.query<{ record_id: string }>(
    `select record_id from ${table}`,
  );
  const [{ record_id: digest }] = rows as [{ record_id: string }];
  const known = { revision: 1, recordId: digest };
  await assertRejects(() => linesOf(journal, known), JournalReplacedError);
  const second = entryAfter({ revision: 1, recordId: longId("first") }, digest);
  assertEquals(await journal.append(s, second), { ok: true });
});

test("a table is named by plain identifiers", () => {
  for (const wrong of ["a b", 'x"; drop table y; --', "", "a.b.c", "1a"]) {
    assertThrows(() => postgresSchema(wrong), RangeError, "table");
  }
  assertEquals(
    postgresSchema("app.journal")[0]?.includes('"app"."journal"'),
    true,
  );
});

test(
  "a table that is not there is named with its remedy, and nobody tries again",
  hosts,
  async () => {
    const { client } = await newTable();
    const storage = new PostgresSessionStorage(client, { table: "nowhere" });
    const uses = [() => storage.load(s), () => storage.append(started("r1"))];
    for (const use of uses) {
      const error = await assertRejects(use, SessionStorageError);
      assertEquals(
        error.message,
        'There is no table "nowhere"; make it with createPostgresTable()',
      );
      assertEquals([error.retryable, error.committed], [false, "no"]);
    }
  },
);

test(
  "a table of something else is named, when it is made and when it is used",
  hosts,
  async () => {
    const { client } = await newTable();
    await client.query("create table if not exists odd (id int)");
    const storage = new PostgresSessionStorage(client, { table: "odd" });
    for (
      const use of [
        () => createPostgresTable(client, "odd"),
        () => storage.load(s),
      ]
    ) {
      await assertRejects(
        use,
        SessionStorageError,
        '"odd" is no table of journals',
      );
    }
  },
);
