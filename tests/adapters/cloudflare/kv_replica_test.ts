import { KvJournalReplica } from "../../../adapters/cloudflare/kv_replica.ts";
import {
  JournalReplacedError,
  SessionStorageError,
  SessionUnsupportedError,
} from "../../../src/session/errors.ts";
import { exportJournal } from "../../../src/session/export.ts";
import { MemorySessionStorage } from "../../../src/session/memory.ts";
import { JournalTreeStorage } from "../../../src/session/tree_storage.ts";
import { linesOf, longId } from "../../../src/testing/journal_subject.ts";
import {
  finished,
  recordRun,
  recordRuns,
  s,
  started,
} from "../../../src/testing/session_drafts.ts";
import { assertEquals, assertRejects } from "../../support/assert.ts";
import { test } from "../../support/suite.ts";
import { memoryKv } from "./memory_kv.ts";

async function storageWith(...runIds: string[]): Promise<MemorySessionStorage> {
  const storage = new MemorySessionStorage();
  await recordRuns(storage, runIds);
  return storage;
}

test("a copy grows with its journal and reads like it", async () => {
  const storage = await storageWith("r1");
  const replica = new KvJournalReplica(memoryKv());
  assertEquals(await replica.copy(storage, s), 3);
  await recordRun(storage, "r2");
  assertEquals(await replica.copy(storage, s), 3);
  assertEquals(await replica.copy(storage, s), 0);

  const text = (owner: JournalTreeStorage) =>
    new Response(exportJournal(owner, s)).text();
  const reader = new JournalTreeStorage(replica);
  assertEquals(await text(reader), await text(storage));
  assertEquals((await reader.load(s))?.runs.length, 2);
});

test("keys stay short, however long the ids are", async () => {
  const sessionId = longId("session");
  const storage = new MemorySessionStorage();
  const append = async (runId: string) => {
    for (const draft of [started(runId), finished(runId, 2)]) {
      const recordId = longId(`${runId} ${draft.kind}`);
      await storage.append({ ...draft, sessionId }, { recordId });
    }
  };
  const kv = memoryKv();
  const replica = new KvJournalReplica(kv);
  const reader = new JournalTreeStorage(replica);
  await append("r1");
  assertEquals(await replica.copy(storage, sessionId), 2);
  assertEquals((await reader.load(sessionId))?.runs.length, 1);
  await append("r2");
  assertEquals(await replica.copy(storage, sessionId), 2);
  assertEquals((await reader.load(sessionId))?.runs.length, 2);
  assertEquals([...kv.texts.keys()].filter((key) => key.length > 512), []);
});

test("a copy takes no appends", { case: "SE-N-07" }, async () => {
  const replica = new KvJournalReplica(memoryKv());
  assertEquals(replica.capabilities.conditionalAppend, "none");
  const reader = new JournalTreeStorage(replica);
  await assertRejects(
    () => reader.append(started("r1"), { expectedHead: null }),
    SessionUnsupportedError,
  );
});

test("two journals in one place are reported, not merged", {
  case: "SE-N-07",
}, async () => {
  const kv = memoryKv();
  const [one, other] = [await storageWith("r1"), await storageWith("r2")];
  // Neither copier sees what the other one writes.
  const [mine, yours] = [memoryKv(), memoryKv()];
  await new KvJournalReplica(mine).copy(one, s);
  await new KvJournalReplica(yours).copy(other, s);
  for (const [key, line] of [...mine.texts, ...yours.texts]) {
    await kv.put(key, line);
  }
  const replica = new KvJournalReplica(kv);
  const error = await assertRejects(
    () => linesOf(replica),
    SessionStorageError,
  );
  assertEquals(
    (error as Error).message.startsWith("Two records have number 1"),
    true,
  );
  await assertRejects(() => replica.copy(one, s), SessionStorageError);
});

test("lines that have not arrived yet end what is read", async () => {
  const kv = memoryKv();
  const replica = new KvJournalReplica(kv);
  const storage = await storageWith("r1", "r2");
  await replica.copy(storage, s);
  const all = await linesOf(replica);
  const names = [...kv.texts.keys()].sort();
  kv.texts.delete(names[2]!);
  assertEquals(await linesOf(replica), all.slice(0, 2));

  await assertRejects(
    () => linesOf(replica, { revision: 1, recordId: "stranger" }),
    JournalReplacedError,
  );
  const first = { revision: 1, recordId: JSON.parse(all[0]!).record_id };
  assertEquals(await linesOf(replica, first), [all[1]]);
});
