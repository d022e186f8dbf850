import {
  SessionSerializationError,
  SessionStorageError,
} from "../../src/session/errors.ts";
import { FileJournal } from "../../src/session/file_journal.ts";
import { journalFileName } from "../../src/session/jsonl.ts";
import type { SessionRecordDraft } from "../../src/session/record.ts";
import { JournalTreeStorage } from "../../src/session/tree_storage.ts";
import { silentLogger } from "../../src/testing/ports.ts";
import {
  assert,
  assertEquals,
  assertNotEquals,
  assertRejects,
} from "../support/assert.ts";
import { isLong } from "../support/runtime.ts";
import { test } from "../support/suite.ts";
import { FakeDirectory, FakeLocks } from "./fake_files.ts";

const name = await journalFileName("S");
const recordCount = isLong ? 300 : 30;

function open(directory: FakeDirectory): JournalTreeStorage {
  const backend = new FileJournal(directory, { locks: new FakeLocks() });
  return new JournalTreeStorage(backend, { logger: silentLogger });
}

const result = {
  status: "completed",
  stop_reason: "text_response",
  turns: 1,
  output: "done",
  error: null,
  usage: {
    input_tokens: 1,
    output_tokens: 2,
    total_tokens: 3,
    request_count: 1,
    reported_request_count: 1,
    cache_read_tokens: null,
    cache_write_tokens: null,
    reasoning_tokens: null,
  },
} as const;

/** The record that belongs behind so many others: a question, an answer, an end, and again. */
function draftOf(place: number): SessionRecordDraft {
  const run = Math.floor(place / 3);
  const run_id = `run ${run}`;
  const common = {
    sessionId: "S",
    branchId: "main",
    agentId: "A",
    sequence: 1 + 2 * (place % 3),
  };
  if (place % 3 === 0) {
    const data = { run_id, task: `Grüße ${run}` };
    return { ...common, kind: "run_started", data };
  }
  if (place % 3 === 1) {
    const message = { role: "assistant", content: `\u{1f680} ${run}` } as const;
    const data = { run_id, message };
    return { ...common, kind: "message_appended", data };
  }
  return { ...common, kind: "run_finished", data: { run_id, result } };
}

interface Journal {
  readonly bytes: Uint8Array;
  readonly text: string;
  /** The lines without their line feeds. */
  readonly lines: readonly string[];
  /** Where each line begins, and the end. */
  readonly starts: readonly number[];
}

const journals = new Map<number, Promise<Journal>>();

/** A journal of so many records, which is written once for all tests. */
function writtenJournal(count: number = recordCount): Promise<Journal> {
  let journal = journals.get(count);
  if (journal === undefined) journals.set(count, journal = writeJournal(count));
  return journal;
}

async function writeJournal(count: number): Promise<Journal> {
  const directory = new FakeDirectory();
  const storage = open(directory);
  for (let n = 0; n < count; n++) await storage.append(draftOf(n));
  const bytes = directory.bytes(name);
  const text = directory.text(name);
  const starts = [0];
  bytes.forEach((byte, at) => {
    if (byte === 10) starts.push(at + 1);
  });
  return { bytes, text, lines: text.trimEnd().split("\n"), starts };
}

/** Every place of the file; in a short run those of some lines, and some starts of lines. */
function placesOf({ bytes, starts }: Journal): number[] {
  const all = [...bytes.keys(), bytes.length];
  if (isLong) return all;
  const ofLines = [0, 1, recordCount - 1].flatMap((line) =>
    all.slice(starts[line], starts[line + 1]! + 1)
  );
  const someStarts = starts.filter((_, line) => line % 9 === 0);
  return [...new Set([...ofLines, ...someStarts])];
}

/** How many lines end before a place. */
function linesBefore({ starts }: Journal, place: number): number {
  return starts.filter((start) => start > 0 && start <= place).length;
}

const everyByte = { case: ["B62", "B65"], timeoutMs: 3_600_000 };

test(
  "cut anywhere, a session is its exact prefix and goes on",
  everyByte,
  async () => {
    const journal = await writtenJournal();
    for (const cut of placesOf(journal)) {
      const directory = new FakeDirectory();
      directory.put(name, journal.bytes.subarray(0, cut));
      const whole = linesBefore(journal, cut);
      const storage = open(directory);
      const records = await storage.records("S");
      assertEquals(records.length, whole, `cut at ${cut}`);
      const added = await storage.append(draftOf(whole));
      assertEquals(
        [added.revision, added.parentId],
        [whole + 1, records.at(-1)?.recordId ?? null],
      );
      const bytes = directory.bytes(name);
      const kept = journal.starts[whole]!;
      assertEquals(bytes.slice(0, kept), journal.bytes.slice(0, kept));
      assertEquals(bytes.indexOf(10, kept), bytes.length - 1);
      await storage.close();
    }
  },
);

test(
  "a changed byte is detected or changes one record",
  everyByte,
  async () => {
    const journal = await writtenJournal();
    const last = journal.bytes.length - 1;
    let detectedCount = 0;
    const places = placesOf(journal).filter((place, at) =>
      place < last && (isLong || at % 3 === 0)
    );
    for (const place of places) {
      const changed = journal.bytes[place]! ^ (1 << place % 8);
      const directory = new FakeDirectory();
      directory.put(name, journal.bytes.with(place, changed));
      const storage = open(directory);
      const records = await storage.records("S").catch((error) => error);
      if (records instanceof SessionSerializationError) {
        detectedCount++;
        assertNotEquals(records.line, null, `byte ${place}`);
        await assertRejects(
          () => storage.append(draftOf(recordCount)),
          SessionSerializationError,
        );
      } else {
        // Any other error has no length.
        assertEquals(records.length, recordCount, `byte ${place}: ${records}`);
        const differing = journal.lines.findIndex((line, at) =>
          !line.includes(`"record_id":"${records[at].recordId}"`)
        );
        const line = linesBefore(journal, place);
        assert(differing === -1 || differing === line, `byte ${place}`);
      }
      assertEquals(directory.bytes(name).length, journal.bytes.length);
      await storage.close();
    }
    assert(
      detectedCount > places.length / 2,
      `${detectedCount} changes detected`,
    );
  },
);

test("damage is told with its file and the byte to cut it at", async () => {
  const { lines, starts } = await writtenJournal();
  for (const broken of ["no JSON", "{}"]) {
    const directory = new FakeDirectory();
    directory.put(name, lines.with(3, broken).join("\n") + "\n");
    const load = () => open(directory).load("S");
    const error = await assertRejects(load, SessionSerializationError);
    const remedy =
      `(line 4, byte ${starts[3]}); the 3 records before it are whole: ` +
      `restore the file ${name} from a copy, ` +
      `or cut it at byte ${starts[3]} to go on without the rest`;
    assertEquals(error.message.slice(-remedy.length), remedy);
    directory.put(name, directory.bytes(name).slice(0, error.offset!));
    assertEquals((await open(directory).records("S")).length, 3);
  }
});

test("without its last line feed a journal lacks its last record", {
  case: "B65",
}, async () => {
  const { bytes } = await writtenJournal();
  const directory = new FakeDirectory();
  directory.put(name, bytes.with(-1, 11));
  const storage = open(directory);
  assertEquals((await storage.records("S")).length, recordCount - 1);
  await storage.append(draftOf(recordCount - 1));
  assertEquals((await storage.records("S")).length, recordCount);
});

test("another agent's record is refused and the file unchanged", async () => {
  const { bytes } = await writtenJournal();
  const directory = new FakeDirectory();
  directory.put(name, bytes);
  await assertRejects(
    () => open(directory).append({ ...draftOf(recordCount), agentId: "B" }),
    SessionSerializationError,
    "agent",
  );
  assertEquals(directory.bytes(name), bytes);
});

test("a journal of another version is refused and the file unchanged", async () => {
  const { lines } = await writtenJournal();
  const version = '"journal_schema_version":1';
  const newer = lines.at(-1)!.replace(version, version.replace("1", "2"));
  const text = lines.with(-1, newer).join("\n") + "\n";
  const directory = new FakeDirectory();
  directory.put(name, text);
  for (
    const call of [
      (storage: JournalTreeStorage) => storage.load("S"),
      (storage: JournalTreeStorage) => storage.append(draftOf(recordCount)),
    ]
  ) {
    const error = await assertRejects(
      () => call(open(directory)),
      SessionSerializationError,
    );
    assertEquals(error.line, recordCount);
  }
  assertEquals(directory.text(name), text);
});

const manyRecords = 10_000;

/** The first lines of a long journal, in a directory of their own. */
async function prefixOf(count: number): Promise<FakeDirectory> {
  const { bytes, starts } = await writtenJournal(manyRecords);
  const directory = new FakeDirectory();
  directory.put(name, bytes.subarray(0, starts[count]));
  return directory;
}

test("an append takes the same steps whatever the journal holds", {
  case: "SE-K-07",
}, async () => {
  const warmSteps = async (count: number) => {
    const directory = await prefixOf(count);
    const storage = open(directory);
    await storage.append(draftOf(count));
    directory.log.length = 0;
    await storage.append(draftOf(count + 1));
    return directory.log;
  };
  assertEquals(await warmSteps(10), ["status", "write", "sync"]);
  assertEquals(await warmSteps(9_990), ["status", "write", "sync"]);
});

test("a load grows with the journal, not with its square", {
  case: "SE-K-11",
}, async () => {
  const [few, many] = [await prefixOf(1000), await prefixOf(manyRecords)];
  const timeOf = async (directory: FakeDirectory) => {
    const start = performance.now();
    await open(directory).load("S");
    return performance.now() - start;
  };
  // Ten short loads take about as long as the long one, so other work disturbs both alike.
  let ratio = Infinity;
  for (let round = 0; round < 9 && !(ratio < 15); round++) {
    let short = 0;
    for (let load = 0; load < 10; load++) short += await timeOf(few);
    ratio = Math.min(ratio, 10 * await timeOf(many) / short);
  }
  assert(ratio < 15, `10 000 records take ${ratio} times as long as 1 000`);
});

test("a storage that fails says how and keeps what it has", {
  case: "SE-K-03",
}, async () => {
  const directory = new FakeDirectory();
  const storage = open(directory);
  await storage.append(draftOf(0));
  directory.fail("sync");
  directory.fail("truncate");
  const unsure = await assertRejects(
    () => storage.append(draftOf(1)),
    SessionStorageError,
  );
  assertEquals(unsure.committed, "unknown");
  directory.heal();
  assertEquals((await storage.records("S")).length, 2);
  await storage.append(draftOf(2));

  directory.fail("write", new Error("ENOSPC"));
  const full = await assertRejects(
    () => storage.append(draftOf(3)),
    SessionStorageError,
  );
  assertEquals(full.committed, "no");
  directory.heal();
  assertEquals((await storage.load("S"))?.messages.length, 2);
  assertEquals((await storage.records("S")).length, 3);
});
