import {
  DenoKvJournal,
  DenoKvSessionStorage,
} from "../../../adapters/deno_kv/mod.ts";
import type { KvAtomicOperation } from "../../../adapters/deno_kv/kv_store.ts";
import { SessionLockTimeoutError } from "../../../src/session/errors.ts";
import type { JournalEntry } from "../../../src/session/journal.ts";
import { exportJournal, importJournal } from "../../../src/session/export.ts";
import { journalContract } from "../../../src/testing/journal_contract.ts";
import { entryAfter, linesOf } from "../../../src/testing/journal_subject.ts";
import { silentLogger } from "../../../src/testing/ports.ts";
import { storageContract } from "../../../src/testing/storage_contract.ts";
import { base64Bytes } from "../../support/fixtures.ts";
import { journalFixtures, textOf } from "../../interop/python_journals.ts";
import {
  assertEquals,
  assertRejects,
  assertThrows,
} from "../../support/assert.ts";
import { test } from "../../support/suite.ts";

const onDeno = { runtimes: ["deno"] } as const;

const inMemory = journalContract(async () => {
  const kv = await Deno.openKv(":memory:");
  return {
    backend: new DenoKvJournal(kv),
    reopen: () => new DenoKvJournal(kv),
    dieWhileAppending: (sessionId, entry) => die(kv, sessionId, entry),
    close: () => kv.close(),
  };
});
for (const { name, run } of inMemory) {
  test(`journals in Deno KV: ${name}`, { ...onDeno, case: "SE-N-01" }, run);
}

const inFiles = storageContract(async () => {
  const directory = await Deno.makeTempDir();
  const databases: Deno.Kv[] = [];
  const open = async () => {
    const kv = await Deno.openKv(`${directory}/sessions.db`);
    databases.push(kv);
    return new DenoKvSessionStorage(kv, { logger: silentLogger });
  };
  return {
    storage: await open(),
    reopen: open,
    async close() {
      for (const kv of databases) kv.close();
      await Deno.remove(directory, { recursive: true });
    },
  };
});
for (const { name, run } of inFiles) {
  test(`sessions in a file of Deno KV: ${name}`, {
    ...onDeno,
    case: "SE-N-01",
  }, run);
}

test("lines of any length are parts of one step", {
  ...onDeno,
  case: ["SE-N-04", "B71"],
}, () =>
  inDatabase(async (kv) => {
    const journal = new DenoKvJournal(kv);
    const first = entryAfter(null, "a", "é".repeat(150_000));
    const second = entryAfter(first, "b", "x".repeat(3_000_000));
    const third = entryAfter(second, "c", "y".repeat(3_000_000));
    for (const entry of [first, second]) {
      assertEquals(await journal.append("s", entry), { ok: true });
    }
    await die(kv, "s", third);
    const lines = await linesOf(journal, null, { sessionId: "s" });
    assertEquals(lines.map((line) => line.length), [
      first.line.length,
      second.line.length,
    ]);
    assertEquals(lines, [first.line, second.line]);
  }));

test(
  "a hundred writers that want the same place have one winner",
  onDeno,
  () =>
    inDatabase(async (kv) => {
      const answers = await Promise.all(
        Array.from(
          { length: 100 },
          (_, index) =>
            new DenoKvJournal(kv).append("s", entryAfter(null, `r${index}`)),
        ),
      );
      assertEquals(answers.filter(({ ok }) => ok).length, 1);
    }),
);

test(
  "the prefix keeps journals of one id apart",
  onDeno,
  () =>
    inDatabase(async (kv) => {
      const one = new DenoKvJournal(kv, { prefix: ["app", 1] });
      const other = new DenoKvJournal(kv, { prefix: ["app", 2] });
      const entry = entryAfter(null, "a");
      await one.append("s", entry);
      assertEquals(await linesOf(other, null, { sessionId: "s" }), []);
      assertEquals(await linesOf(one, null, { sessionId: "s" }), [entry.line]);
    }),
);

test(
  "ids longer than any key keep their journals apart",
  onDeno,
  () =>
    inDatabase(async (kv) => {
      const journal = new DenoKvJournal(kv);
      for (const end of ["a", "b"]) {
        const sessionId = "界".repeat(5_000) + end;
        const entry = entryAfter(null, end);
        await journal.append(sessionId, entry);
        assertEquals(await linesOf(journal, null, { sessionId }), [entry.line]);
      }
    }),
);

test("journals of other implementations go through byte for byte", {
  ...onDeno,
  case: "SE-N-08",
}, () =>
  inDatabase(async (kv) => {
    for (const fixture of journalFixtures) {
      const { case: name, read, bytes, journal, session_id } = fixture;
      if (!read.ok || journal.complete_lines === 0) continue;
      const source = base64Bytes(bytes);
      const storage = new DenoKvSessionStorage(kv, {
        prefix: [name],
        logger: silentLogger,
      });
      await importJournal(storage, new Response(source).body!);
      const exported = await new Response(exportJournal(storage, session_id))
        .arrayBuffer();
      assertEquals(
        textOf(new Uint8Array(exported)),
        textOf(source.subarray(0, journal.committed_bytes)),
      );
    }
  }));

test(
  "a missing part is an error, not a shorter line",
  onDeno,
  () =>
    inDatabase(async (kv) => {
      const journal = new DenoKvJournal(kv);
      await journal.append("s", entryAfter(null, "a", "x".repeat(200_000)));
      for await (
        const { key } of kv.list({ prefix: ["ejagent", "s", "part"] })
      ) {
        await kv.delete(key);
        break;
      }
      await assertRejects(
        () => linesOf(journal, null, { sessionId: "s" }),
        Error,
        "3 of 4 parts",
      );
    }),
);

test("a file that stays locked is given up after ten seconds", async () => {
  let commitCount = 0;
  let nowMs = 0;
  const operation: KvAtomicOperation = {
    check: () => operation,
    set: () => operation,
    commit() {
      commitCount += 1;
      nowMs += 5_000;
      return Promise.reject(new TypeError("database is locked"));
    },
  };
  const journal = new DenoKvJournal({
    get: () => Promise.resolve({ value: null, versionstamp: null }),
    async *list() {},
    atomic: () => operation,
  }, {
    clock: {
      now: () => nowMs,
      setTimer(_ms, fire) {
        fire();
        return () => {};
      },
    },
  });
  const error = await assertRejects(
    () => journal.append("s", entryAfter(null, "a")),
    SessionLockTimeoutError,
  );
  assertEquals([commitCount, error.committed, error.retryable], [
    2,
    "no",
    true,
  ]);
});

async function inDatabase(work: (kv: Deno.Kv) => Promise<void>): Promise<void> {
  const kv = await Deno.openKv(":memory:");
  try {
    await work(kv);
  } finally {
    kv.close();
  }
}

/** Appends up to the commit that would make the line visible. */
async function die(
  kv: Deno.Kv,
  sessionId: string,
  entry: JournalEntry,
): Promise<void> {
  const killed = new Error("Killed");
  const dying = {
    get: (key: Deno.KvKey) => kv.get(key),
    list: (range: Deno.KvListSelector) => kv.list(range),
    atomic() {
      const operation = kv.atomic();
      const check = operation.check.bind(operation);
      operation.check = (...checks) => {
        operation.commit = () => Promise.reject(killed);
        return check(...checks);
      };
      return operation;
    },
  };
  const journal = new DenoKvJournal(dying);
  await assertRejects(() => journal.append(sessionId, entry), Error, "Killed");
}

test("what is no open database is refused at once, and so is a prefix that is no list", () => {
  const wrong = [undefined, null, Promise.resolve(), new Map(), "chats.db"];
  for (const kv of wrong as never[]) {
    assertThrows(
      () => new DenoKvSessionStorage(kv),
      TypeError,
      "kv must be an open database: await what openKv() gives",
    );
  }
  const kv = { get() {}, list() {}, atomic() {} } as never;
  const options = { prefix: "chats" as never };
  assertThrows(
    () => new DenoKvSessionStorage(kv, options),
    TypeError,
    "prefix",
  );
});
