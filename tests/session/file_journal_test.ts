import { AgentCancelledError } from "../../src/base/abort.ts";
import {
  JournalReplacedError,
  SessionLockTimeoutError,
  SessionSerializationError,
  SessionStorageError,
  SessionUnsupportedError,
} from "../../src/session/errors.ts";
import {
  FileJournal,
  type FileJournalOptions,
} from "../../src/session/file_journal.ts";
import type {
  JournalAppendResult,
  JournalEntry,
  JournalPosition,
} from "../../src/session/journal.ts";
import { journalFileName } from "../../src/session/jsonl.ts";
import { ManualClock } from "../../src/testing/manual_clock.ts";
import {
  assert,
  assertEquals,
  assertRejects,
  assertThrows,
} from "../support/assert.ts";
import { deferred } from "../support/deferred.ts";
import { settle } from "../support/fake_time.ts";
import { test } from "../support/suite.ts";
import { FakeDirectory, FakeLocks } from "./fake_files.ts";

const name = await journalFileName("S");
const lockPath = `/journals/${name}.lock`;

function open(
  options: FileJournalOptions = {},
  directory: FakeDirectory = new FakeDirectory(),
  locks: FakeLocks = new FakeLocks(),
) {
  const journal = new FileJournal(directory, { locks, ...options });
  return { directory, locks, journal };
}

function lineOf(revision: number, type = "message_appended"): string {
  return `{"agent_id":"A","record_id":"r${revision}","type":"${type}"}`;
}

function entryOf(
  revision: number,
  line: string = lineOf(revision),
): JournalEntry {
  return {
    after: positionOf(revision - 1),
    revision,
    recordId: `r${revision}`,
    line,
    checkpoint: false,
  };
}

function positionOf(revision: number): JournalPosition | null {
  return revision === 0 ? null : { revision, recordId: `r${revision}` };
}

async function appendAll(journal: FileJournal, count: number, from = 1) {
  for (let revision = from; revision < from + count; revision++) {
    const result = await journal.append("S", entryOf(revision));
    assertEquals(result, { ok: true });
  }
}

async function linesOf(
  journal: FileJournal,
  after: JournalPosition | null = null,
  signal?: AbortSignal,
): Promise<string[]> {
  const lines: string[] = [];
  for await (const chunk of journal.read("S", after, { signal })) {
    lines.push(...chunk);
  }
  return lines;
}

function linesUpTo(count: number): string[] {
  return Array.from({ length: count }, (_, index) => lineOf(index + 1));
}

test("lines come back as they were written, from any position", async () => {
  const { directory, journal } = open();
  const odd = '{"agent_id":"A","record_id":"r3","t":"\u2028 \\n \u{1f680}"}\r';
  await appendAll(journal, 2);
  await journal.append("S", entryOf(3, odd));
  await appendAll(journal, 1, 4);
  const all = [lineOf(1), lineOf(2), odd, lineOf(4)];
  assertEquals(directory.text(name), all.map((line) => `${line}\n`).join(""));
  for (const backend of [journal, open({}, directory).journal]) {
    for (let from = 0; from <= 4; from++) {
      assertEquals(
        await linesOf(backend, positionOf(from)),
        all.slice(from),
        `behind ${from}`,
      );
    }
  }
});

test("a session without a file has no lines, and reading creates nothing", {
  case: "SE-K-02",
}, async () => {
  const { directory, locks, journal } = open();
  assertEquals(await linesOf(journal), []);
  assertEquals([directory.names, directory.log, locks.openCount], [
    [],
    ["status"],
    0,
  ]);
  directory.put(name, "");
  assertEquals(await linesOf(journal), []);
  assertEquals(directory.openCount, 0);
});

test("a stale position is refused with the end that was found", async () => {
  const { directory, journal } = open();
  await appendAll(journal, 2);
  const before = directory.text();
  const last = positionOf(2);
  const stale: JournalEntry[] = [
    entryOf(1),
    entryOf(2),
    entryOf(4),
    { ...entryOf(3), after: { revision: 2, recordId: "other" } },
  ];
  for (const entry of stale) {
    assertEquals(await journal.append("S", entry), { ok: false, last });
  }
  assertEquals(directory.text(), before);
  assertEquals(await journal.append("T", entryOf(2)), {
    ok: false,
    last: null,
  });
  assertEquals(directory.names, [name]);
});

test("a warm append stats once, writes once, syncs once and reads nothing", {
  case: "SE-K-07",
}, async () => {
  const { directory, journal } = open();
  await appendAll(journal, 3);
  directory.log.length = 0;
  await appendAll(journal, 2, 4);
  assertEquals(directory.log, [
    ...["status", "write", "sync"],
    ...["status", "write", "sync"],
  ]);
  directory.log.length = 0;
  assertEquals(await linesOf(journal, positionOf(5)), []);
  assertEquals(directory.log, ["status"]);
});

test("the directory is synced with the first line only", async () => {
  const { directory, journal } = open();
  directory.fail("syncDirectory"); // some systems cannot; the line counts all the same
  await appendAll(journal, 2);
  assertEquals(
    directory.log.filter((step) => step === "syncDirectory").length,
    1,
  );
});

test("lines of another writer are read from the old end on", async () => {
  const { directory, journal } = open();
  const { journal: other } = open({}, directory);
  await appendAll(journal, 50);
  await linesOf(other);
  await appendAll(other, 2, 51);
  const added = `${lineOf(51)}\n${lineOf(52)}\n`.length;

  directory.log.length = 0;
  const refused = await journal.append("S", entryOf(51));
  assertEquals(refused, { ok: false, last: positionOf(52) });
  assertEquals(await linesOf(journal, positionOf(50)), [
    lineOf(51),
    lineOf(52),
  ]);
  assertEquals(await journal.append("S", entryOf(53)), { ok: true });
  const read = directory.log.filter((step) => step.startsWith("read"))
    .map((step) => Number(step.slice(5)));
  // Twice the new lines and twice the bytes by which the old end is recognised.
  assert(read.reduce((sum, bytes) => sum + bytes) <= 2 * added + 2 * 128);
});

test("two writers with one revision: one wins, the other learns of it", async () => {
  const directory = new FakeDirectory();
  const locks = new FakeLocks();
  const writers = [0, 1].map(() => open({}, directory, locks).journal);
  const results = await Promise.all(
    writers.map((journal) => journal.append("S", entryOf(1))),
  );
  const expected: JournalAppendResult[] = [
    { ok: true },
    { ok: false, last: positionOf(1) },
  ];
  // Both hash the session's name first, so either may come first.
  results.sort((left, right) => Number(right.ok) - Number(left.ok));
  assertEquals(results, expected);
  assertEquals(directory.text(), `${lineOf(1)}\n`);
});

test("a torn tail is ignored by reading and cut off by the next append", {
  case: ["B62", "B65", "SE-I-04"],
}, async () => {
  const { directory } = open();
  const whole = `${lineOf(1)}\n${lineOf(2)}\n`;
  for (
    const tail of [
      lineOf(3),
      lineOf(3).slice(0, 20),
      "\0\0\0",
      "x".repeat(5000),
    ]
  ) {
    const torn = whole + tail;
    directory.put(name, torn);
    const { journal } = open({}, directory);
    assertEquals(await linesOf(journal), linesUpTo(2));
    assertEquals(directory.text(), torn, "reading changes nothing");
    await appendAll(journal, 1, 3);
    assertEquals(directory.text(), `${whole}${lineOf(3)}\n`);
  }
});

test("a torn tail that another writer left behind a known end is cut off too", async () => {
  const { directory, journal } = open();
  await appendAll(journal, 2);
  directory.put(name, `${directory.text()}{"torn`);
  await appendAll(journal, 1, 3);
  assertEquals(await linesOf(journal), linesUpTo(3));
});

test("a torn first record is an empty journal, a foreign file is not touched", {
  case: "SE-I-06",
}, async () => {
  const { directory } = open();
  directory.put(name, '{"agent_id":"A","bran');
  const { journal } = open({}, directory);
  assertEquals(await linesOf(journal), []);
  await appendAll(journal, 1);
  assertEquals(directory.text(), `${lineOf(1)}\n`);

  directory.replace(name, "hello");
  const { journal: second } = open({}, directory);
  await assertRejects(() => linesOf(second), SessionSerializationError);
  await assertRejects(
    () => second.append("S", entryOf(1)),
    SessionSerializationError,
  );
  assertEquals(directory.text(), "hello");
});

test(
  "damage inside the journal is an error with its place, never a shorter history",
  {
    case: ["B64", "B65"],
  },
  async () => {
    const { directory } = open();
    const zeros = "\0".repeat(300);
    const start = `${lineOf(1)}\n`;
    const damaged = `${start}${zeros}\n${lineOf(3)}\n`;
    directory.put(name, damaged);
    const { journal } = open({}, directory);
    const error = await assertRejects(
      () => linesOf(journal),
      SessionSerializationError,
    );
    assertEquals([error.line, error.offset], [2, start.length]);
  },
);

test("an append behind a damaged last line is refused", async () => {
  const { directory } = open();
  const damaged = `${lineOf(1)}\n{"agent_id":\n`;
  directory.put(name, damaged);
  const { journal } = open({}, directory);
  const error = await assertRejects(
    () => journal.append("S", entryOf(2)),
    SessionSerializationError,
  );
  assertEquals(error.line, 2);
  assertEquals(directory.text(), damaged);
});

test("cut at any byte, a journal gives its exact prefix and can be continued", {
  case: "B62",
}, async () => {
  const { directory } = open();
  const lines = linesUpTo(40);
  const bytes = new TextEncoder().encode(lines.map((l) => `${l}\n`).join(""));
  const lineLength = lines[0]!.length + 1;
  assertEquals(lines[8]!.length + 1, lineLength);
  let whole = 0;
  for (let cut = 0; cut <= bytes.length; cut++) {
    if (bytes[cut - 1] === 10) whole++;
    directory.put(name, bytes.subarray(0, cut));
    const { journal } = open({}, directory);
    assertEquals(
      await linesOf(journal),
      lines.slice(0, whole),
      `cut at ${cut}`,
    );
    assertEquals(await journal.append("S", entryOf(whole + 1)), { ok: true });
    assertEquals(
      directory.bytes().length,
      linesUpTo(whole + 1).join("\n").length + 1,
    );
    await journal.close();
  }
  assertEquals(whole, 40);
});

test("a write that fails leaves nothing of the line and a typed error", {
  case: "SE-K-03",
}, async () => {
  const { directory, journal } = open();
  await appendAll(journal, 2);
  const before = directory.text();
  const noSpace = new Error("ENOSPC: no space left on device");
  directory.fail("write", noSpace);
  const error = await assertRejects(
    () => journal.append("S", entryOf(3)),
    SessionStorageError,
  );
  assertEquals([error.committed, error.cause], ["no", noSpace]);
  assertEquals(directory.text(), before);

  directory.heal();
  directory.room = 7;
  const short = await assertRejects(
    () => journal.append("S", entryOf(3)),
    SessionStorageError,
  );
  assertEquals([short.committed, directory.text()], ["no", before]);

  directory.heal();
  await appendAll(journal, 1, 3);
  assertEquals(await linesOf(journal), linesUpTo(3));
});

test("a sync that fails takes the line back", {
  case: "SE-K-03",
}, async () => {
  const { directory, journal } = open();
  await appendAll(journal, 2);
  directory.fail("sync");
  const error = await assertRejects(
    () => journal.append("S", entryOf(3)),
    SessionStorageError,
  );
  assertEquals(error.committed, "no");
  assertEquals(await linesOf(open({}, directory).journal), linesUpTo(2));
  directory.heal();
  await appendAll(journal, 1, 3);
});

test(
  "a line that can be neither synced nor taken back is unknown, and found later",
  {
    case: "SE-K-03",
  },
  async () => {
    const { directory, journal } = open();
    await appendAll(journal, 2);
    directory.fail("sync");
    directory.fail("truncate");
    const error = await assertRejects(
      () => journal.append("S", entryOf(3)),
      SessionStorageError,
    );
    assertEquals(error.committed, "unknown");
    directory.heal();
    assertEquals(await linesOf(journal, positionOf(2)), [lineOf(3)]);
    await appendAll(journal, 1, 4);
  },
);

test("sessions that were busy at the same time do not all stay open", async () => {
  const { directory, locks, journal } = open();
  const sessions = Array.from({ length: 200 }, (_, index) => `S${index}`);
  const appendTo = (revision: number) =>
    Promise.all(sessions.map((id) => journal.append(id, entryOf(revision))));
  await appendTo(1);
  await settle();
  assertEquals([directory.openCount, locks.openCount], [64, 64]);
  await appendTo(2);
  await settle();
  assertEquals([directory.openCount, locks.openCount], [64, 64]);
  await journal.close();
  assertEquals([directory.openCount, locks.openCount], [0, 0]);
});

test(
  "a medium that fails even the look after the failure hides nothing of it",
  async () => {
    const { directory, journal } = open();
    await appendAll(journal, 2);
    directory.fail("sync");
    directory.fail("truncate");
    const status = directory.status.bind(directory);
    directory.status = (file) => {
      if (directory.log.includes("truncate")) throw new Error("EIO: stat");
      return status(file);
    };
    const error = await assertRejects(
      () => journal.append("S", entryOf(3)),
      SessionStorageError,
      "sync failed",
    );
    assertEquals(error.committed, "unknown");
  },
);

test("a failure of the file system is told with what helps against it", async () => {
  const remedies = {
    EACCES: "check the permissions of its directory",
    EMFILE: "close other files or raise the limit of open ones",
    ENOSPC: "make room on its disk",
    ENOTDIR: "check the path of its directory",
    EBUSY: "check its directory",
  };
  for (const [code, remedy] of Object.entries(remedies)) {
    const { directory, journal } = open();
    const cause = Object.assign(new Error(`${code}: no luck`), { code });
    directory.fail("openToAppend", cause);
    const error = await assertRejects(
      () => journal.append("S", entryOf(1)),
      SessionStorageError,
    );
    assertEquals(
      error.message,
      `The journal of session "S" cannot be written: ${code}: no luck; ${remedy}`,
    );
  }
  const { directory, journal } = open();
  const full = Object.assign(new Error("Disk full"), { code: "ENOSPC" });
  directory.fail("write", full);
  await assertRejects(
    () => journal.append("S", entryOf(1)),
    SessionStorageError,
    `A line could not be written to the journal ${name}: Disk full; make room on its disk`,
  );
});

test("damage that an append meets is told with the file and what helps", async () => {
  const { directory, journal } = open();
  directory.put(name, `${lineOf(1)}\nno record\n`);
  const error = await assertRejects(
    () => journal.append("S", entryOf(3)),
    SessionSerializationError,
  );
  assertEquals(
    error.message,
    'The journal of session "S" is damaged: The journal ends in no record (line 2); ' +
      `the record before it is whole: restore the file ${name} from a copy`,
  );
  directory.put(name, "a letter to nobody");
  await assertRejects(
    () => journal.append("S", entryOf(1)),
    SessionSerializationError,
    `The file is no journal (line 1, byte 0); restore the file ${name} from a copy, ` +
      "or move it away to begin a new one",
  );
});

test("a directory that cannot be made is a typed error", async () => {
  const { directory, locks, journal } = open();
  directory.fail("makeDirectory", new Error("EROFS: read-only file system"));
  const error = await assertRejects(
    () => journal.append("S", entryOf(1)),
    SessionStorageError,
    "EROFS",
  );
  assertEquals([error.code, error.committed], ["session_storage", "no"]);
  assertEquals([directory.names, locks.openCount], [[], 0]);
  directory.heal();
  await appendAll(journal, 1);
});

test("a lock that was lost before the write keeps the line out", async () => {
  const locks = new FakeLocks("lease");
  locks.stillHeld = true;
  const { directory, journal } = open({}, new FakeDirectory(), locks);
  await appendAll(journal, 1);
  locks.stillHeld = false;
  const error = await assertRejects(
    () => journal.append("S", entryOf(2)),
    SessionStorageError,
    "lock",
  );
  assertEquals([error.retryable, error.committed], [true, "no"]);
  assertEquals(directory.text(), `${lineOf(1)}\n`);
});

test("a lock held elsewhere ends the append at its limit or with its signal", {
  case: "SE-K-04",
}, async () => {
  const clock = new ManualClock();
  const { directory, locks, journal } = open({ lockTimeoutMs: 50, clock });
  locks.foreign.add(lockPath);
  const late = assertRejects(
    () => journal.append("S", entryOf(1)),
    SessionLockTimeoutError,
  );
  await untilWaiting(clock);
  await clock.advanceAsync(50);
  await late;

  const caller = new AbortController();
  const aborted = assertRejects(
    () => journal.append("S", entryOf(1), { signal: caller.signal }),
    AgentCancelledError,
    "changed my mind",
  );
  await untilWaiting(clock);
  caller.abort(new Error("changed my mind"));
  await aborted;
  assertEquals(directory.names, []);

  locks.foreign.clear();
  await appendAll(journal, 1);
});

test("reading ends with its signal", async () => {
  const { directory, journal } = open();
  directory.put(name, linesUpTo(20_000).map((line) => `${line}\n`).join(""));
  const caller = new AbortController();
  await assertRejects(
    async () => {
      for await (
        const _ of journal.read("S", null, { signal: caller.signal })
      ) {
        caller.abort(new Error("seen enough"));
      }
    },
    AgentCancelledError,
    "seen enough",
  );
  await assertRejects(
    () => linesOf(journal, null, AbortSignal.abort()),
    AgentCancelledError,
  );
  assertEquals(directory.openCount, 0);
});

test("a reader that stops early leaves nothing open", async () => {
  const { directory, journal } = open();
  directory.put(name, linesUpTo(20_000).map((line) => `${line}\n`).join(""));
  for await (const chunk of journal.read("S", null)) {
    assert(chunk.length < 20_000);
    break;
  }
  assertEquals(directory.openCount, 0);
});

test("a journal that was cut, exchanged or removed is reported as replaced", async () => {
  const changes: [string, (directory: FakeDirectory) => void][] = [
    ["cut", (d) => d.put(name, `${lineOf(1)}\n`)],
    ["removed", (d) => d.remove(name)],
    [
      "exchanged for a longer one",
      (d) => d.replace(name, `${lineOf(7)}\n`.repeat(9)),
    ],
    [
      "rewritten in place, as long as before",
      (d) => d.put(name, d.text().replace('"r3"', '"x3"')),
    ],
  ];
  for (const [change, apply] of changes) {
    const { directory, journal: writer } = open();
    await appendAll(writer, 3);
    const { journal } = open({}, directory);
    await linesOf(journal);
    apply(directory);
    await assertRejects(
      () => linesOf(journal, positionOf(3)),
      JournalReplacedError,
      "S",
    );
    const result = await journal.append("S", entryOf(4));
    assertEquals(result.ok, false, change);
    if (directory.names.length > 0) {
      assertEquals(
        await linesOf(journal),
        directory.text().trimEnd().split("\n"),
        change,
      );
    }
  }
});

test("an append into a directory that was emptied begins anew, with a new lock", async () => {
  const { directory, locks, journal } = open();
  await appendAll(journal, 2);
  directory.remove(name);
  assertEquals(await journal.append("S", entryOf(3)), {
    ok: false,
    last: null,
  });
  await appendAll(journal, 1);
  assertEquals(directory.text(), `${lineOf(1)}\n`);
  assertEquals([locks.openCount, directory.openCount], [1, 1]);
});

function checkpointLine(revision: number, branch = "main", text = ""): string {
  return `{"agent_id":"A","branch_id":"${branch}","data":{"t":"${text}"},` +
    `"journal_schema_version":1,"parent_id":null,"record_id":"r${revision}",` +
    `"revision":${revision},"sequence":0,"session_id":"S \\"1\\"","type":"checkpoint"}`;
}

test("the newest checkpoint is found from the end, and reading goes on behind it", async () => {
  const { directory } = open();
  const long = "x".repeat(300_000);
  const lines = [
    ...linesUpTo(40_000),
    checkpointLine(40_001, "main", long),
    lineOf(40_002),
    checkpointLine(40_003, "idea"),
    lineOf(40_004, 'x","type":"checkpoint'),
  ];
  directory.put(name, lines.map((line) => `${line}\n`).join("") + '{"torn');
  const { journal } = open({}, directory);
  assertEquals(await journal.findCheckpoint("S"), {
    revision: 40_001,
    line: lines[40_000],
  });
  assertEquals(await linesOf(journal, positionOf(40_001)), lines.slice(40_001));
  const read = directory.log.filter((step) => step.startsWith("read"))
    .map((step) => Number(step.slice(5)));
  assert(
    read.reduce((sum, bytes) => sum + bytes) < directory.bytes().length / 2,
  );
  assertEquals(directory.openCount, 0);
  await appendAll(journal, 1, 40_005);
});

test("without a checkpoint of main none is found", async () => {
  const { directory, journal } = open();
  assertEquals(await journal.findCheckpoint("S"), null);
  const bytes = new TextEncoder().encode(`${checkpointLine(1)}\n`);
  const damaged = bytes.with(60, 0xff);
  for (
    const content of [
      "",
      "torn",
      `${lineOf(1)}\n`,
      `${checkpointLine(1, "idea")}\n`,
      checkpointLine(1),
      damaged,
    ]
  ) {
    directory.put(name, content);
    assertEquals(await journal.findCheckpoint("S"), null);
  }
  directory.put(name, bytes);
  assertEquals((await journal.findCheckpoint("S"))?.revision, 1);
});

test("only so many sessions stay open, and closing closes them", async () => {
  const { directory, locks, journal } = open();
  for (let n = 0; n < 70; n++) {
    await journal.append(`session ${n}`, entryOf(1));
  }
  assertEquals([locks.openCount, directory.openCount], [64, 64]);
  assertEquals(await journal.append("session 0", entryOf(2)), { ok: true });
  await journal.close();
  assertEquals([locks.openCount, directory.openCount], [0, 0]);
});

test("a session with an append under way is not closed for others", async () => {
  const clock = new ManualClock();
  const { locks, journal } = open({ clock });
  locks.foreign.add(lockPath);
  const caller = new AbortController();
  const waiting = journal.append("S", entryOf(1), { signal: caller.signal });
  await untilWaiting(clock);
  for (let n = 0; n < 70; n++) await journal.append(`s${n}`, entryOf(1));
  assertEquals(locks.openCount, 64);
  locks.foreign.clear();
  caller.abort();
  await assertRejects(() => waiting, AgentCancelledError);
  await appendAll(journal, 1);
});

test("a blocked append does not delay another session", {
  case: "SE-K-12",
}, async () => {
  const clock = new ManualClock();
  const { locks, journal } = open({ clock });
  locks.foreign.add(lockPath);
  const blocked = journal.append("S", entryOf(1));
  assertEquals(await journal.append("T", entryOf(1)), { ok: true });
  await untilWaiting(clock);
  locks.foreign.clear();
  await clock.advanceAsync(15);
  assertEquals(await blocked, { ok: true });
});

test("an abort during the sync does not undo the line", async () => {
  const directory = new FakeDirectory();
  const syncing = deferred();
  const synced = deferred();
  const { journal } = open(
    {},
    withSlowSync(directory, () => (syncing.resolve(), synced.promise)),
  );
  const caller = new AbortController();
  const appending = journal.append("S", entryOf(1), { signal: caller.signal });
  await syncing.promise;
  caller.abort();
  synced.resolve();
  assertEquals(await appending, { ok: true });
  assertEquals(await linesOf(journal), linesUpTo(1));
});

/** Waits until an append waits for its lock; before that it hashes, which no event announces. */
async function untilWaiting(clock: ManualClock): Promise<void> {
  while (clock.pending === 0) await settle();
}

function withSlowSync(
  directory: FakeDirectory,
  sync: () => Promise<void>,
): FakeDirectory {
  const openToAppend = directory.openToAppend.bind(directory);
  directory.openToAppend = (fileName) => ({
    ...openToAppend(fileName),
    sync,
  });
  return directory;
}

test("lines are pushed to the disk as the option says", async () => {
  const syncs = async (fsync: "always" | "run-end" | "never") => {
    const { directory, journal } = open({ fsync });
    await appendAll(journal, 2);
    await journal.append("S", entryOf(3, lineOf(3, "run_finished")));
    const { durability } = journal.capabilities;
    return [durability, directory.log.filter((s) => s === "sync").length];
  };
  assertEquals(await syncs("always"), ["fsync", 3]);
  assertEquals(await syncs("run-end"), ["process", 1]);
  assertEquals(await syncs("never"), ["process", 0]);
});

test("the kind of lock is visible and flock can be demanded", () => {
  const withLocks = (
    kind: "flock" | "lease" | "process",
    requireFlock = false,
  ) => open({ requireFlock }, new FakeDirectory(), new FakeLocks(kind)).journal;
  assertEquals(withLocks("lease").lock.kind, "lease");
  assertEquals(withLocks("flock", true).lock.kind, "flock");
  assertEquals(withLocks("flock").capabilities, {
    conditionalAppend: "strict",
    durability: "fsync",
    sharedWriters: "processes",
    maxRecordBytes: null,
  });
  assertEquals(withLocks("process").capabilities.sharedWriters, "object");
  assertThrows(
    () => withLocks("lease", true),
    SessionUnsupportedError,
    "lease",
  );
});

test("options of the wrong type or range are refused", {
  case: "SE-K-04",
}, () => {
  const withOptions = (options: unknown) => () =>
    open(options as FileJournalOptions);
  for (const lockTimeoutMs of [true, "1"]) {
    assertThrows(withOptions({ lockTimeoutMs }), TypeError, "lockTimeoutMs");
  }
  for (const lockTimeoutMs of [-1, NaN, Infinity]) {
    assertThrows(withOptions({ lockTimeoutMs }), RangeError, "lockTimeoutMs");
  }
  assertThrows(withOptions({ fsync: "sometimes" }), TypeError, "fsync");
  assertThrows(withOptions({ requireFlock: 1 }), TypeError, "requireFlock");
});
