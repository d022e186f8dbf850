import { AgentCancelledError } from "../../src/base/abort.ts";
import {
  SessionArgumentError,
  SessionConflictError,
  SessionSerializationError,
  SessionStorageError,
} from "../../src/session/errors.ts";
import { exportJournal, importJournal } from "../../src/session/export.ts";
import { MemorySessionStorage } from "../../src/session/memory.ts";
import { JournalTreeStorage } from "../../src/session/tree_storage.ts";
import { recordRun, recordRuns, s } from "../../src/testing/session_drafts.ts";
import {
  ByteJournal,
  journalFixtures,
  openFixture,
  textOf,
} from "../interop/python_journals.ts";
import {
  assertEquals,
  assertRejects,
  assertThrows,
} from "../support/assert.ts";
import { deferred } from "../support/deferred.ts";
import { base64Bytes } from "../support/fixtures.ts";
import { test } from "../support/suite.ts";
import { CountingJournal } from "./counting_journal.ts";
import { forgetfulJournal, LongJournal } from "./long_journal.ts";

async function textFrom(stream: ReadableStream<Uint8Array>): Promise<string> {
  return await new Response(stream as ReadableStream<Uint8Array<ArrayBuffer>>)
    .text();
}

function streamOf(
  ...parts: readonly (string | Uint8Array)[]
): ReadableStream<Uint8Array> {
  const utf8 = new TextEncoder();
  return new ReadableStream({
    start(controller) {
      for (const part of parts) {
        controller.enqueue(typeof part === "string" ? utf8.encode(part) : part);
      }
      controller.close();
    },
  });
}

test("every journal of another implementation leaves as it came", {
  case: "SE-N-08",
}, async () => {
  for (
    const { case: name, session_id: id, bytes, read, journal }
      of journalFixtures
  ) {
    if (!read.ok || journal.complete_lines === 0) continue;
    const committed = base64Bytes(bytes).slice(0, journal.committed_bytes);
    const storage = new MemorySessionStorage({ logger: { warn() {} } });
    const imported = await importJournal(storage, streamOf(base64Bytes(bytes)));
    assertEquals(imported.recordCount, journal.complete_lines, name);
    assertEquals(
      await textFrom(exportJournal(storage, id)),
      textOf(committed),
      name,
    );
  }
});

test("a session that does not exist is an empty journal", async () => {
  const storage = new MemorySessionStorage();
  assertEquals(await textFrom(exportJournal(storage, s)), "");
  await assertRejects(
    () => importJournal(storage, streamOf()),
    SessionSerializationError,
    "no record",
  );
  await assertRejects(
    () => importJournal(storage, streamOf("torn")),
    SessionSerializationError,
  );
});

test("an export reads no faster than its reader", async () => {
  const journal = new CountingJournal();
  await recordRun(new JournalTreeStorage(journal), "r1");
  journal.readCount = 0;
  const stream = exportJournal({ backend: journal }, s);
  assertEquals(journal.readCount, 0);
  const reader = stream.getReader();
  await reader.read();
  await reader.cancel();
  assertEquals([journal.readCount, journal.lineCount], [1, 3]);
});

test("an export from a medium that hangs can be given up and left", async () => {
  const backend = new CountingJournal();
  backend.beforeRead = () => new Promise<never>(() => {});
  const controller = new AbortController();
  const { signal } = controller;
  const reader = exportJournal({ backend }, s, { signal }).getReader();
  const bytes = reader.read();
  controller.abort(new Error("enough"));
  await assertRejects(() => bytes, AgentCancelledError, "enough");

  const other = exportJournal({ backend }, s).getReader();
  const pending = other.read();
  await other.cancel();
  assertEquals((await pending).done, true);
});

test("an import whose source or medium hangs can be given up", async () => {
  const controller = new AbortController();
  const { signal } = controller;
  const cancelled = deferred();
  const source = new ReadableStream<Uint8Array>({
    cancel: () => cancelled.resolve(),
  });
  const storage = new MemorySessionStorage();
  const imported = importJournal(storage, source, { signal });
  controller.abort(new Error("enough"));
  await assertRejects(() => imported, AgentCancelledError, "enough");
  await cancelled.promise;

  const backend = new CountingJournal();
  const late = new AbortController();
  backend.beforeRead = () => {
    late.abort(new Error("too slow"));
    return new Promise<never>(() => {});
  };
  const whole = await journalText("r1");
  await assertRejects(
    () => importJournal({ backend }, streamOf(whole), { signal: late.signal }),
    AgentCancelledError,
    "too slow",
  );
});

test("an older copy of a journal is refused as such", async () => {
  const target = new MemorySessionStorage();
  await recordRuns(target, ["r1", "r2"]);
  const whole = await textFrom(exportJournal(target, s));
  const begun = whole.split("\n").slice(0, 3).join("\n") + "\n";
  await assertRejects(
    () => importJournal(target, streamOf(begun)),
    SessionConflictError,
    "an older copy",
  );
});

test("ids that some medium cannot keep are refused with their line", async () => {
  const whole = await journalText("r1");
  const [first] = whole.split("\n");
  const { record_id } = JSON.parse(first!);
  for (
    const [from, to] of [
      [record_id, "a\\ud800"],
      [record_id, "a\\u0000"],
      [`"session_id":"${s}"`, `"session_id":" ${s}"`],
      [`"session_id":"${s}"`, '"session_id":"\\udc00"'],
    ]
  ) {
    const storage = new MemorySessionStorage();
    const error = await assertRejects(
      () => importJournal(storage, streamOf(whole.replaceAll(from, to!))),
      SessionSerializationError,
    );
    assertEquals(error.line, 1);
  }
  const storage = new MemorySessionStorage();
  await importJournal(storage, streamOf(whole), { sessionId: ` ${s} ` });
});

test("an export goes on behind a page without lines", async () => {
  const whole = (await journalText("r1")).trimEnd().split("\n");
  const backend = new CountingJournal();
  backend.read = async function* () {
    for (const page of [[], [], whole, []]) yield page;
  };
  assertEquals(
    await textFrom(exportJournal({ backend }, s)),
    `${whole.join("\n")}\n`,
  );
});

test("an import that was interrupted goes on where it stopped", async () => {
  const source = new MemorySessionStorage();
  await recordRuns(source, ["r1", "r2"]);
  const whole = await textFrom(exportJournal(source, s));
  const begun = whole.split("\n").slice(0, 2).join("\n") + "\n";
  const target = new MemorySessionStorage();
  await importJournal(target, streamOf(begun));
  const { recordCount } = await importJournal(target, streamOf(whole));
  assertEquals(recordCount, 6);
  assertEquals(await textFrom(exportJournal(target, s)), whole);
  await importJournal(target, streamOf(whole));
});

test("an import never mixes with a session that is there", async () => {
  const [source, target] = [
    new MemorySessionStorage(),
    new MemorySessionStorage(),
  ];
  await recordRun(source, "r1");
  await recordRun(target, "r1");
  const before = await textFrom(exportJournal(target, s));
  await assertRejects(
    () => importJournal(target, exportJournal(source, s)),
    SessionConflictError,
    `Session "${s}" exists and holds another journal`,
  );
  await recordRun(target, "r2");
  const longer = await textFrom(exportJournal(target, s));
  await assertRejects(
    () => importJournal(target, streamOf(before)),
    SessionConflictError,
  );
  assertEquals(await textFrom(exportJournal(target, s)), longer);
});

test("an import repeats what a medium refused though nothing was there", async () => {
  const source = new MemorySessionStorage();
  await recordRun(source, "r1");
  const text = await textFrom(exportJournal(source, s));
  for (const [refusals, appendCount] of [[2, 9], [5, 5]] as const) {
    const journal = new CountingJournal();
    const { append } = journal;
    let open = refusals;
    journal.append = async (id, entry) => {
      if (open-- > 0) {
        journal.appendCount++;
        return { ok: false, last: entry.after };
      }
      if (open < 0) open = refusals;
      return await append.call(journal, id, entry);
    };
    const storage = new JournalTreeStorage(journal);
    const importing = importJournal(storage, streamOf(text));
    if (refusals === 2) assertEquals((await importing).recordCount, 3);
    else await assertRejects(() => importing, SessionStorageError, "again");
    assertEquals(journal.appendCount, appendCount);
  }
});

test("a damaged journal is stored up to the damage, and its mended one goes on there", async () => {
  const whole = await journalText("r1");
  const lines = whole.split("\n");
  const cut = [
    streamOf([lines[0], lines[2], ""].join("\n")),
    streamOf([lines[0], "{}", lines[2], ""].join("\n")),
    streamOf(`${lines[0]}\n`, Uint8Array.of(0xff, 10)),
  ];
  for (const stream of cut) {
    const storage = new MemorySessionStorage();
    await assertRejects(
      () => importJournal(storage, stream),
      SessionSerializationError,
      "line 2",
    );
    assertEquals(
      await textFrom(exportJournal(storage, s)),
      `${lines[0]}\n`,
    );
    await importJournal(storage, streamOf(whole));
    assertEquals(await textFrom(exportJournal(storage, s)), whole);
  }
});

test("a source that opens twice is checked before anything is stored", async () => {
  const whole = await journalText("r1");
  const lines = whole.split("\n");
  const storage = new MemorySessionStorage();
  for (const damaged of [[lines[0], lines[2], ""], [lines[1], ""]]) {
    await assertRejects(
      () => importJournal(storage, () => streamOf(damaged.join("\n"))),
      SessionSerializationError,
    );
  }
  assertEquals(await storage.load(s), null);
  const { recordCount } = await importJournal(storage, () => streamOf(whole));
  assertEquals(recordCount, 3);
  assertEquals(await textFrom(exportJournal(storage, s)), whole);
});

test("a journal of another session than the one that is asked for is refused", async () => {
  const source = streamOf(await journalText("r1"));
  const storage = new MemorySessionStorage();
  await assertRejects(
    () => importJournal(storage, source, { sessionId: "other" }),
    RangeError,
    `is of session "${s}", not of "other"`,
  );
  assertEquals(await storage.load(s), null);
});

test("a journal of another agent is refused before anything is stored", async () => {
  const whole = await journalText("r1");
  const storage = new MemorySessionStorage();
  const refusal = await assertRejects(
    () => importJournal(storage, streamOf(whole), { agentId: "other" }),
    SessionArgumentError,
    `of agent "${(await agentIn(whole))}", not of "other"`,
  );
  assertEquals(refusal.code, "foreign_agent");
  assertEquals(await storage.load(s), null);
  await importJournal(storage, streamOf(whole), {
    agentId: await agentIn(whole),
  });
});

test("damage in the first line has its place", async () => {
  for (const first of ["no JSON", "{}"]) {
    const storage = new MemorySessionStorage();
    const damage = await assertRejects(
      () => importJournal(storage, streamOf(`${first}\n`)),
      SessionSerializationError,
      "(line 1)",
    );
    assertEquals(damage.line, 1);
  }
});

test("what gives no bytes is no source", async () => {
  const storage = new MemorySessionStorage();
  const bytes = new TextEncoder().encode("{}\n");
  const wrong = [undefined, null, "{}\n", bytes, new Response("{}\n")];
  for (const source of wrong as unknown as ReadableStream[]) {
    for (const given of [source, () => source]) {
      await assertRejects(
        () => importJournal(storage, given),
        TypeError,
        "source must be a stream of bytes",
      );
    }
  }
  const texts = new ReadableStream({
    start(controller) {
      controller.enqueue("{}\n");
      controller.close();
    },
  });
  await assertRejects(
    () => importJournal(storage, texts),
    TypeError,
    "TextEncoderStream",
  );
});

test("what is no storage over a journal is named", async () => {
  const source = new Blob([]).stream();
  for (const wrong of [null, {}, { backend: {} }] as unknown[]) {
    const storage = wrong as MemorySessionStorage;
    const name = "The backend of storage must have";
    assertThrows(() => exportJournal(storage, s), TypeError, name);
    await assertRejects(() => importJournal(storage, source), TypeError, name);
  }
});

test("an export that cannot be read says so as every read does", async () => {
  const backend = new CountingJournal();
  backend.beforeRead = () => Promise.reject(new Error("disk on fire"));
  await assertRejects(
    () => textFrom(exportJournal({ backend }, s)),
    SessionStorageError,
    `The journal of session "${s}" cannot be read: disk on fire`,
  );
});

test(
  "fifty megabytes pass from journal to journal, and no more than a page is on its way",
  {
    timeoutMs: 120_000,
  },
  async () => {
    const lineCount = 800;
    const source = new LongJournal(lineCount, 64 * 1024);
    let largestLead = 0;
    const target = forgetfulJournal(async ({ revision }) => {
      await Promise.resolve(); // slower than what reads
      largestLead = Math.max(largestLead, source.givenCount - revision);
    });
    const chunks = exportJournal({ backend: source }, s);
    const { recordCount } = await importJournal({ backend: target }, chunks);
    assertEquals(recordCount, lineCount);
    assertEquals(
      largestLead < LongJournal.pageLength,
      true,
      `${largestLead} lines were read and not yet stored`,
    );
  },
);

async function agentIn(journal: string): Promise<string> {
  const storage = new MemorySessionStorage();
  await importJournal(storage, streamOf(journal));
  return String((await storage.load(s))?.agentId);
}

async function journalText(...runIds: string[]): Promise<string> {
  const storage = new MemorySessionStorage();
  await recordRuns(storage, runIds);
  return await textFrom(exportJournal(storage, s));
}

test("bytes behind the last line are counted and left out", async () => {
  const { expected } = openFixture("torn-tail-garbage");
  const bytes = base64Bytes(expected.bytes);
  const imported = await importJournal({
    backend: new ByteJournal(new Uint8Array()),
  }, streamOf(bytes));
  assertEquals(imported, {
    sessionId: expected.session_id,
    recordCount: expected.journal.complete_lines,
    ignoredByteCount: bytes.length - expected.journal.committed_bytes,
  });
});
