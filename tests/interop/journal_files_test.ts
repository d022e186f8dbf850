import { SessionSerializationError } from "../../src/session/errors.ts";
import { exportJournal, importJournal } from "../../src/session/export.ts";
import { FileJournal } from "../../src/session/file_journal.ts";
import { journalFileName } from "../../src/session/jsonl.ts";
import { JournalTreeStorage } from "../../src/session/tree_storage.ts";
import { silentLogger } from "../../src/testing/ports.ts";
import { assert, assertEquals, assertRejects } from "../support/assert.ts";
import { base64Bytes } from "../support/fixtures.ts";
import { test } from "../support/suite.ts";
import { FakeDirectory, FakeLocks } from "../session/fake_files.ts";
import { readJournal } from "./journal_reader.ts";
import {
  type JournalFixture,
  journalFixture,
  journalFixtures,
} from "./python_journals.ts";
import { wireSession } from "./wire_forms.ts";

/** A directory with the file of a fixture, and a storage over it. */
function openFixture({ journal_file: name, bytes }: JournalFixture) {
  const directory = new FakeDirectory();
  directory.put(name, base64Bytes(bytes));
  return { directory, storage: openStorage(directory) };
}

function openStorage(directory: FakeDirectory): JournalTreeStorage {
  const backend = new FileJournal(directory, { locks: new FakeLocks() });
  return new JournalTreeStorage(backend, { logger: silentLogger });
}

function runStarted(
  { session_id: sessionId, agent_id: agentId }: JournalFixture,
) {
  return {
    kind: "run_started",
    sessionId,
    branchId: "main",
    agentId,
    sequence: 1,
    data: { run_id: "added", task: "go on" },
  } as const;
}

const isDeviation = (name: string) =>
  ["torn-first-record", "integral-float-version"].includes(name);

test(
  "every file of the Python implementation is found by its session and left as it is",
  {
    case: "SE-I-01",
  },
  async () => {
    for (const expected of journalFixtures.filter(({ read }) => read.ok)) {
      const { journal_file: name, session_id: id, bytes, read } = expected;
      assertEquals(await journalFileName(id), name);
      const { directory, storage } = openFixture(expected);
      const session = await storage.load(id);
      assertEquals(
        session === null ? null : wireSession(session),
        read.session,
        expected.case,
      );
      assertEquals(directory.bytes(name), base64Bytes(bytes), expected.case);
    }
  },
);

test("a file that Python refuses is refused and left as it is", {
  case: "SE-I-02",
}, async () => {
  const refused = journalFixtures.filter(({ read, case: name }) =>
    !read.ok && !isDeviation(name)
  );
  assert(refused.length > 20);
  for (const expected of refused) {
    const { directory, storage } = openFixture(expected);
    await assertRejects(
      () => storage.load(expected.session_id),
      SessionSerializationError,
    );
    await assertRejects(
      () => storage.append(runStarted(expected)),
      SessionSerializationError,
    );
    assertEquals(directory.bytes(), base64Bytes(expected.bytes), expected.case);
  }
});

/** Appends through a new storage and gives the text that was added behind the committed bytes. */
async function addedTo(
  expected: JournalFixture,
  change: (storage: JournalTreeStorage) => Promise<unknown>,
): Promise<string> {
  const { directory, storage } = openFixture(expected);
  await change(storage);
  const { committed_bytes: end } = expected.journal;
  const bytes = directory.bytes();
  assertEquals(
    bytes.slice(0, end),
    base64Bytes(expected.bytes).slice(0, end),
    "committed lines never change",
  );
  readJournal(bytes); // accepted by a reader of its own
  return new TextDecoder().decode(bytes.subarray(end));
}

test("a torn tail is cut off and the next record takes its place", {
  case: ["SE-I-05", "B62"],
}, async () => {
  const torn = journalFixtures.filter(({ case: name }) =>
    /^torn-tail-(partial|no-newline|garbage)$/.test(name)
  );
  assertEquals(torn.length, 3);
  for (const expected of torn) {
    const added = await addedTo(expected, async (storage) => {
      await storage.recoverInterruptedRun(expected.session_id);
      await storage.append(runStarted(expected));
    });
    const [first] = added.split("\n");
    const { revision, parent_id } = JSON.parse(first!);
    const last = expected.read.records.at(-1);
    assertEquals(
      [revision, parent_id],
      [last.revision + 1, last.record_id],
      expected.case,
    );
    assertEquals(added.endsWith('"type":"run_started"}\n'), true);
  }
});

test("an empty file and a torn first record are sessions that may begin", {
  case: ["SE-I-06", "SE-I-07"],
}, async () => {
  for (const name of ["empty-file", "torn-first-record"]) {
    const expected = journalFixture(name);
    const { directory, storage } = openFixture(expected);
    assertEquals(await storage.load(expected.session_id), null);
    const { revision } = await storage.append(runStarted(expected), {
      expectedHead: null,
    });
    assertEquals(revision, 1, name);
    assertEquals(directory.text().split("\n").length, 2, name);
  }
});

test("a canonical line follows lines with other line ends", {
  case: "SE-I-08",
}, async () => {
  const expected = journalFixture("non-canonical-lines");
  const added = await addedTo(
    expected,
    (storage) => storage.append(runStarted(expected)),
  );
  assertEquals(added.startsWith('{"agent_id":'), true);
  assertEquals(added.includes("\r"), false);
});

test("an interrupted run is closed by lines behind it, a torn tail or not", {
  case: ["SE-M-01", "SE-M-02", "SE-M-03"],
}, async () => {
  for (
    const [name, types] of [
      ["unfinished-run-tool", ["messages_appended", "run_finished"]],
      ["unfinished-run-model", ["run_finished"]],
      ["torn-tail-after-unfinished", ["messages_appended", "run_finished"]],
    ] as const
  ) {
    const expected = journalFixture(name);
    const added = await addedTo(
      expected,
      (storage) => storage.recoverInterruptedRun(expected.session_id),
    );
    const records = added.trimEnd().split("\n").map((line) => JSON.parse(line));
    assertEquals(records.map(({ type }) => type), [...types], name);
    assertEquals(records.at(-1).data.recovery.version, 1, name);
    assertEquals(records[0].revision, expected.journal.complete_lines + 1);
  }
});

test("an imported journal is the file that it was", {
  case: "SE-N-08",
}, async () => {
  for (const expected of journalFixtures) {
    const { journal_file: name, session_id: id } = expected;
    const end = expected.journal.committed_bytes;
    if (!expected.read.ok || end === 0) continue;
    const committed = base64Bytes(expected.bytes).slice(0, end);
    const directory = new FakeDirectory();
    const storage = openStorage(directory);
    await importJournal(storage, new Blob([committed]).stream());
    assertEquals(directory.bytes(name), committed, expected.case);
    const exported = new Uint8Array(
      await new Response(exportJournal(storage, id)).arrayBuffer(),
    );
    assertEquals(exported, committed, expected.case);
  }
});
