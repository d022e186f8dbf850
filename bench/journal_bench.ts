/**
 * What a journal on disk costs, each beside the least that anybody could do.
 *
 * Wanted: appends at 80 % of the bare rate or more; the same behind 100 000
 * records as behind 100, within a half; loads under 3 times the bare reading; two
 * records, which is what a turn with a tool call writes, in 30 µs without syncs.
 * Locks, looks and writes of the system take most of that by themselves.
 */

import { JsonlSessionStorage } from "@ejagent/core/deno";
import type { SessionRecordDraft } from "@ejagent/core/session";

const directory = await Deno.makeTempDir({ prefix: "ejagent-bench-" });
addEventListener("unload", () => {
  Deno.removeSync(directory, { recursive: true });
});

const synced = new JsonlSessionStorage(`${directory}/synced`);
const quick = new JsonlSessionStorage(`${directory}/quick`, { fsync: "never" });

/** Opens a run and fills it with turns, so that so many records are there. */
async function fill(
  storage: JsonlSessionStorage,
  sessionId: string,
  count: number,
): Promise<void> {
  const data = { run_id: "run", task: "Measure" };
  await storage.append(draft(sessionId, "run_started", data));
  for (let n = 1; n < count; n += 2) await appendTurn(storage, sessionId);
}

/** What a turn with one tool call leaves in the journal. */
async function appendTurn(
  storage: JsonlSessionStorage,
  sessionId: string,
): Promise<void> {
  await storage.append(draft(sessionId, "message_appended", answer));
  await storage.append(draft(sessionId, "messages_appended", toolResult));
}

function draft(
  sessionId: string,
  kind: SessionRecordDraft["kind"],
  data: unknown,
): SessionRecordDraft {
  const sequence = kind === "run_started" ? 1 : 2;
  return {
    kind,
    sessionId,
    branchId: "main",
    agentId: "bench",
    sequence,
    data,
  } as SessionRecordDraft;
}

const answer = {
  run_id: "run",
  message: {
    role: "assistant",
    content: null,
    tool_calls: [{
      id: "call",
      type: "function",
      function: { name: "read", arguments: '{"path":"notes.txt"}' },
    }],
  },
};

const toolResult = {
  run_id: "run",
  messages: [{
    role: "tool",
    tool_call_id: "call",
    content: "A line of text in the file that was read. ".repeat(3),
  }],
};

function journalIn(root: string): string {
  const [file] = [...Deno.readDirSync(root)]
    .filter(({ name }) => name.endsWith(".jsonl"));
  return `${root}/${file!.name}`;
}

async function linesOf(path: string): Promise<string[]> {
  return (await Deno.readTextFile(path)).trimEnd().split("\n");
}

await fill(synced, "session", 1);

// Many short ones, so that they stay short: a few thousand turns are needed before
// the pauses of the collector are spread evenly.
const short = Array.from({ length: 50 }, (_, n) => `short ${n}`);
for (const sessionId of short) await fill(quick, sessionId, 100);
await fill(quick, "long", 100_000);

const loaded = `${directory}/loaded`;
const loadedStorage = new JsonlSessionStorage(loaded, { fsync: "never" });
await fill(loadedStorage, "session", 10_000);
const journal = journalIn(loaded);
const lines = await linesOf(journal);

const barePath = `${directory}/bare`;
const bare = await Deno.open(barePath, {
  create: true,
  append: true,
});
const record = new TextEncoder().encode(`${lines[1]}\n`);

Deno.bench("write and sync a line", {
  group: "one record on the disk",
  baseline: true,
}, async () => {
  await bare.write(record);
  await bare.sync();
});

Deno.bench("append a record", { group: "one record on the disk" }, async () => {
  await synced.append(draft("session", "message_appended", answer));
});

const turns = {
  group: "two records without a sync",
  n: 10_000,
  warmup: 2000,
} as const;

let next = 0;

Deno.bench(
  "a turn behind 100 records or a few more",
  { ...turns, baseline: true },
  async () => {
    await appendTurn(quick, short[next++ % short.length]!);
  },
);

Deno.bench("a turn behind 100 000 records", turns, async () => {
  await appendTurn(quick, "long");
});

Deno.bench("the same calls of the system", turns, () => {
  for (let n = 0; n < 2; n++) {
    bare.tryLockSync(true);
    Deno.statSync(barePath);
    bare.writeSync(record);
    bare.unlockSync();
  }
});

Deno.bench("read and parse the lines", {
  group: "load 10 000 records",
  baseline: true,
  n: 20,
}, async () => {
  const records = (await linesOf(journal)).map((line) => JSON.parse(line));
  if (records.length < 10_000) throw new Error("Lines are missing");
});

Deno.bench(
  "load the session",
  { group: "load 10 000 records", n: 20 },
  async () => {
    await new JsonlSessionStorage(loaded).load("session");
  },
);
