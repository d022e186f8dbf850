import {
  createPostgresTable,
  PostgresSessionStorage,
  type SqlClient,
} from "../../../adapters/postgres/mod.ts";
import { SessionStorageError } from "../../../src/session/errors.ts";
import { s, started } from "../../../src/testing/session_drafts.ts";
import {
  assertEquals,
  assertRejects,
  assertThrows,
} from "../../support/assert.ts";
import { test } from "../../support/suite.ts";

/** A client whose statements all come to one end. */
function clientThat(query: () => Promise<unknown>): SqlClient {
  return { query } as SqlClient;
}

function failing(message: string, code?: string): SqlClient {
  return clientThat(() =>
    Promise.reject(Object.assign(new Error(message), { code }))
  );
}

test("what is no client is refused at once, with what fits", async () => {
  const sql = Object.assign(() => {}, { unsafe() {} });
  for (const wrong of [undefined, null, "postgres://localhost", sql, {}]) {
    const client = wrong as unknown as SqlClient;
    for (
      const error of [
        assertThrows(() => new PostgresSessionStorage(client), TypeError),
        await assertRejects(() => createPostgresTable(client), TypeError),
      ]
    ) {
      assertEquals(
        error.message,
        "client must be a client with a function query(); for postgres give " +
          "{ query: (text, values) => sql.unsafe(text, values) }",
      );
    }
  }
});

test("rows come by themselves or in an object, and anything else is named", async () => {
  for (const empty of [[], { rows: [] }]) {
    const client = clientThat(() => Promise.resolve(empty));
    await createPostgresTable(client);
    assertEquals(await new PostgresSessionStorage(client).load(s), null);
  }
  for (const wrong of [undefined, null, 1, {}, { rows: 1 }]) {
    const client = clientThat(() => Promise.resolve(wrong));
    const storage = new PostgresSessionStorage(client);
    for (
      const use of [
        () => createPostgresTable(client),
        () => storage.load(s),
        () => storage.append(started("r1")),
      ]
    ) {
      const error = await assertRejects(
        use,
        SessionStorageError,
        "query() of the client gave no rows",
      );
      assertEquals(error.retryable, false);
    }
  }
});

test("what the server refuses for good is not tried again, and what may pass is", async () => {
  const cases: [code: string | undefined, retryable: boolean][] = [
    ["28P01", false],
    ["42501", false],
    ["3F000", false],
    ["57P01", true],
    ["53300", true],
    ["40001", true],
    ["ECONNREFUSED", true],
    ["EPIPE", true],
    [undefined, true],
  ];
  for (const [code, retryable] of cases) {
    const storage = new PostgresSessionStorage(failing("no luck", code));
    const error = await assertRejects(
      () => storage.load(s),
      SessionStorageError,
      ": no luck",
    );
    assertEquals([code, error.retryable], [code, retryable]);
  }
});
