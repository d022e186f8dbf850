import { readFile } from "node:fs/promises";
import type { JournalTreeStorage } from "../../src/session/tree_storage.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { childProgram } from "../support/child_program.ts";
import { isLong, runtime, runtimesWith } from "../support/runtime.ts";
import { test } from "../support/suite.ts";
import { messageAppended, runStarted, sessionId } from "./drafts.ts";
import { flocksHere, openStorage, pathsOf } from "./platform.ts";
import {
  hasPython,
  inDirectory,
  type Program,
  startCommand,
  startProgram,
  startProgramOn,
} from "./processes.ts";
import { pythonWriter } from "./python_writer.ts";

const hosts = runtimesWith("files", "processes");
const program = "tests/faults/writer_program.ts";

/** Runs a test on a session whose run is open, and closes the storage after it. */
function withSession(
  body: (root: string, storage: JournalTreeStorage) => Promise<void>,
): Promise<void> {
  return inDirectory(async (directory) => {
    const root = `${directory}/sessions`;
    const storage = await openStorage(root);
    try {
      await storage.append(runStarted());
      await body(root, storage);
    } finally {
      await storage.close();
    }
  });
}

/** The messages in the journal, whose revisions must have no gap. */
async function messagesIn(storage: JournalTreeStorage): Promise<string[]> {
  const records = await storage.records(sessionId);
  assertEquals(
    records.map(({ revision }) => revision),
    records.map((_, index) => index + 1),
  );
  return records.flatMap((record) =>
    record.kind === "message_appended"
      ? [String(record.data.message.content)]
      : []
  );
}

/** `label 0` to `label count - 1`. */
function messagesOf(label: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `${label} ${index}`);
}

function written(messages: readonly string[], label: string): string[] {
  return messages.filter((message) => message.startsWith(`${label} `));
}

async function raceAll(
  storage: JournalTreeStorage,
  racers: Readonly<Record<string, Program>>,
  count: number,
): Promise<void> {
  await Promise.all(Object.values(racers).map(({ done }) => done));
  const messages = await messagesIn(storage);
  for (const label of Object.keys(racers)) {
    assertEquals(written(messages, label), messagesOf(label, count), label);
  }
  assertEquals(messages.length, count * Object.keys(racers).length);
}

test("processes that append to one session lose nothing", {
  runtimes: hosts,
  timeoutMs: 600_000,
}, () =>
  withSession(async (root, storage) => {
    const [each, count] = isLong ? [4, 250] : [2, 15];
    const racers: Record<string, Program> = {};
    for (const lock of flocksHere) {
      const own = runtime === "deno" ? [] : [lock];
      for (let n = 0; n < each; n++) {
        const label = `${lock}${n}`;
        const args = [root, label, String(count), ...own];
        racers[label] = startProgram(program, "race", ...args);
      }
    }
    await raceAll(storage, racers, count);
  }));

test("Deno, Node, Bun and Python append to one session at the same time", {
  case: "SE-K-05",
  runtimes: ["node"],
  timeoutMs: 600_000,
}, () =>
  withSession(async (root, storage) => {
    const count = isLong ? 200 : 20;
    const race = (label: string) => ["race", root, label, String(count)];
    const racers: Record<string, Program> = {
      deno1: startProgramOn("deno", program, ...race("deno1")),
      deno2: startProgramOn("deno", program, ...race("deno2")),
      bun1: startProgramOn("bun", program, ...race("bun1")),
      node1: startProgram(program, ...race("node1"), "koffi"),
      node2: startProgram(program, ...race("node2"), "perl"),
    };
    if (hasPython) {
      const { journal } = await pathsOf(root, sessionId);
      racers.python = startCommand("python3", [
        "-c",
        pythonWriter,
        journal,
        "python",
        String(count),
      ]);
    }
    await raceAll(storage, racers, count);
  }));

test("writers killed at any moment lose nothing that was acknowledged", {
  case: "B69",
  runtimes: hosts,
  timeoutMs: isLong ? 3_600_000 : 60_000,
}, () =>
  withSession(async (root, storage) => {
    const acknowledged: string[] = [];
    // The writers live for 1, 5, 9 ... messages; a kill finds them anywhere in the next append.
    const lives = Array.from(
      { length: isLong ? 500 : 4 },
      (_, n) => 1 + 4 * n % 23,
    );
    const runOne = async (label: string, life: number) => {
      const own = runtime === "deno" ? [] : flocksHere.slice(0, 1);
      const writer = startProgram(program, "stream", root, label, ...own);
      const processId = Number((await writer.line())!.replace("pid ", ""));
      for (let n = 0; n < life; n++) {
        acknowledged.push((await writer.line())!);
      }
      await writer.kill(processId);
      await storage.append(messageAppended(`after ${label}`));
    };
    const waiting = [...lives.entries()];
    const runSome = async () => {
      for (let next; (next = waiting.shift()) !== undefined;) {
        await runOne(`w${next[0]}`, next[1]);
      }
    };
    await Promise.all([1, 2, 3, 4].map(runSome));

    const messages = await messagesIn(storage);
    for (const message of acknowledged) {
      assertEquals(messages.filter((m) => m === message).length, 1, message);
    }
    for (const n of lives.keys()) {
      const label = `w${n}`;
      const found = written(messages, label);
      assertEquals(found, messagesOf(label, found.length), label);
    }
    assertEquals(written(messages, "after").length, lives.length);
  }));

test(
  "a reader never sees more or less than whole lines while tails are mended",
  {
    case: "B62",
    runtimes: hosts,
    timeoutMs: 600_000,
  },
  () =>
    withSession(async (root) => {
      const count = isLong ? 5000 : 60;
      const mender = startProgram(
        program,
        "mend",
        root,
        "m",
        String(count),
        flocksHere[0]!,
      );
      let found = 0;
      while (found < count) {
        const reader = await openStorage(root);
        const messages = await messagesIn(reader);
        await reader.close();
        assertEquals(messages, messagesOf("m", messages.length));
        assert(messages.length >= found, "what was seen once stays");
        found = messages.length;
      }
      await mender.done;
    }),
);

test(
  "a writer killed inside a line leaves the lock free and a tail that is repaired",
  {
    case: ["SE-K-06", "B62", "B69"],
    runtimes: hosts,
  },
  () =>
    withSession(async (root, storage) => {
      const { journal } = await pathsOf(root, sessionId);
      const before = await readFile(journal, "utf8");
      const torn = startProgram(
        program,
        "tear",
        root,
        '{"agent_id":"writer","branch_id":"main","data":{"mess',
        flocksHere[0]!,
      );
      const processId = Number((await torn.line())!.replace("pid ", ""));
      await torn.kill(processId);
      assertEquals(await messagesIn(storage), []);
      await storage.append(messageAppended("next"));
      const after = await readFile(journal, "utf8");
      assertEquals(after.startsWith(before), true);
      assertEquals(after.slice(before.length).split("\n").length, 2);
      assertEquals(await messagesIn(storage), ["next"]);
    }),
);

test(
  "a disk that is full keeps the old state and takes the next record when there is room",
  {
    runtimes: hosts,
  },
  () =>
    withSession(async (root, storage) => {
      const { command, args } = childProgram(program, "fill", root, "fill");
      // A limit on the size of files fails like a full disk: a part fits, then nothing does.
      const full = startCommand("sh", [
        "-c",
        'trap \'\' XFSZ; ulimit -f 256; exec "$0" "$@"',
        command,
        ...args,
      ]);
      const line = await full.line();
      await full.done;
      const { code, committed, stored } = JSON.parse(line!);
      assertEquals([code, committed], ["session_storage", "no"]);
      assert(stored > 3, `${stored} records fitted`);
      const { journal } = await pathsOf(root, sessionId);
      const text = await readFile(journal, "utf8");
      assertEquals(text.endsWith("\n"), true);
      await storage.append(messageAppended("room again"));
      const messages = await messagesIn(storage);
      assertEquals(messages.length, stored + 1);
      assertEquals(messages.at(-1), "room again");
    }),
);
