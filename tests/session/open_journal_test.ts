import type { IdSource } from "../../src/base/ports.ts";
import {
  SessionArgumentError,
  SessionStorageError,
} from "../../src/session/errors.ts";
import { JournalTreeStorage } from "../../src/session/tree_storage.ts";
import {
  answered,
  finished,
  recordRun,
  s,
  started,
} from "../../src/testing/session_drafts.ts";
import { assertEquals, assertRejects } from "../support/assert.ts";
import { test } from "../support/suite.ts";
import { CountingJournal } from "./counting_journal.ts";

/** What a program restarts with that counts its records. */
function counter(): IdSource {
  let count = 0;
  return { next: () => `id${++count}` };
}

async function refused(append: () => Promise<unknown>): Promise<string> {
  const error = await assertRejects(append, SessionArgumentError);
  assertEquals(error.code, "record_exists");
  return error.message;
}

test("an id that comes again is refused, not taken for stored", async () => {
  const journal = new CountingJournal();
  const before = new JournalTreeStorage(journal, { ids: counter() });
  await before.append(started("r1"));
  const restarted = new JournalTreeStorage(journal, { ids: counter() });
  const message = await refused(() => restarted.append(answered("r1", 2, "x")));
  assertEquals(
    message,
    `Session "${s}" has a record "id1" already; ` +
      "use ids that never come again, not even after a restart",
  );
  assertEquals((await before.records(s)).length, 1);
  // Ids that the caller repeats on purpose are another matter.
  const repeated = await restarted.append(started("r1"), { recordId: "id1" });
  assertEquals(repeated.revision, 1);
});

test("an id that comes again is refused behind a checkpoint, too", async () => {
  const journal = new CountingJournal();
  const before = new JournalTreeStorage(journal, { ids: counter() });
  await recordRun(before, "r1");
  await before.save((await before.load(s))!);
  const restarted = new JournalTreeStorage(journal, { ids: counter() });
  await restarted.load(s);
  await refused(() => restarted.append(started("r2")));
  assertEquals((await before.listBranches(s)).length, 1);
  assertEquals((await before.head(s))?.kind, "checkpoint");
});

test("an id of somebody else's making costs one reading of the whole journal", async () => {
  const journal = new CountingJournal();
  const writer = new JournalTreeStorage(journal);
  await recordRun(writer, "r1");
  await writer.save((await writer.load(s))!);
  const storage = new JournalTreeStorage(journal);
  await storage.load(s);
  journal.lineCount = 0;
  const own = (recordId: string) => ({ recordId, freshId: true });
  await storage.append(
    started("r2"),
    own(crypto.randomUUID().replaceAll("-", "")),
  );
  assertEquals(journal.lineCount, 0);
  await storage.append(answered("r2", 2, "x"), own("mine-1"));
  assertEquals(journal.lineCount, 5);
  await storage.append(finished("r2", 3), own("mine-2"));
  assertEquals(journal.lineCount, 5);
});

test("of two writers that count alike, one is refused and writes nothing", async () => {
  const journal = new CountingJournal();
  const storages = [0, 1].map(() =>
    new JournalTreeStorage(journal, { ids: counter() })
  );
  const [first, second] = storages as [JournalTreeStorage, JournalTreeStorage];
  await second.load(s);
  await first.append(started("r1"));
  await refused(() => second.append(started("r2")));
  assertEquals((await first.load(s))!.runs.map((run) => run.runId), ["r1"]);
});

test("a fresh record whose answer was lost is still one's own", async () => {
  const journal = new CountingJournal();
  const storage = new JournalTreeStorage(journal, { ids: counter() });
  const append = journal.append.bind(journal);
  journal.append = async (...entry) => {
    journal.append = append;
    await append(...entry);
    throw new Error("Connection lost");
  };
  assertEquals((await storage.append(started("r1"))).revision, 1);
  assertEquals((await storage.records(s)).length, 1);
});

test("an id source is not to blame for a storage that fails", async () => {
  const journal = new CountingJournal();
  const storage = new JournalTreeStorage(journal, { ids: counter() });
  journal.append = () =>
    Promise.reject(new SessionStorageError("No room", { retryable: true }));
  await assertRejects(() => storage.append(started("r1")), SessionStorageError);
  delete (journal as { append?: unknown }).append;
  assertEquals((await storage.append(started("r1"))).recordId, "id2");
});
