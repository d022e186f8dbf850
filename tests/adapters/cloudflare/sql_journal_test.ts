import type { JournalEntry } from "../../../src/session/journal.ts";
import { journalContract } from "../../../src/testing/journal_contract.ts";
import { entryAfter } from "../../../src/testing/journal_subject.ts";
import { storageContract } from "../../../src/testing/storage_contract.ts";
import { assertKept, entryBehind, lives } from "../../faults/killed_writers.ts";
import { inDirectory } from "../../faults/processes.ts";
import { journalFixtures, textOf } from "../../interop/python_journals.ts";
import { assertEquals } from "../../support/assert.ts";
import { base64Bytes } from "../../support/fixtures.ts";
import { test } from "../../support/suite.ts";
import type { CaseReport } from "./contract_worker.ts";
import { type RunningWorker, startWorker } from "./workerd.ts";

// One runtime is enough to start workerd, which is where all of this happens.
const slow = { runtimes: ["deno"], timeoutMs: 180_000 } as const;

// Such a line is in parts.
const lines = { longLength: 2_000_000 };

test("a Durable Object keeps every promise of a journal and a storage", {
  ...slow,
  case: ["SE-N-01", "SE-N-02"],
}, () =>
  withWorker(async (worker) => {
    const never = () => {
      throw new TypeError("Only the names are of interest");
    };
    const names: readonly string[] = await json(worker.fetch("names/cases"));
    assertEquals(names, [
      ...journalContract(never).map(({ name }) => name),
      ...storageContract(never).map(({ name }) => name),
    ]);
    const reports: CaseReport[] = [];
    for (const index of names.keys()) {
      reports.push(
        await json(worker.fetch(`object-${index}/case?index=${index}`)),
      );
    }
    assertEquals(reports, names.map((name) => ({ name, error: null })));
  }));

test("a long line is one step in a Durable Object, and odd texts are exact", {
  ...slow,
  case: ["SE-N-05", "B71"],
}, () =>
  withWorker(async (worker) => {
    const odd = 'zero \0, marks \ufeff, halves \\ud83d and \\udc00, "quotes"';
    const first = { ...entryAfter(null, "a"), line: odd };
    const second = entryAfter(first, "b", "界".repeat(1_000_000));
    for (const entry of [first, second]) {
      assertEquals(await append(worker, "long", entry), { ok: true });
    }
    const stored = await json(worker.fetch("long/lines"));
    assertEquals(stored, [first.line, second.line]);
  }));

test(
  "a hundred appends race for one place, and one wins",
  slow,
  () =>
    withWorker(async (worker) => {
      const answers = await Promise.all(
        Array.from(
          { length: 100 },
          (_, index) =>
            append(worker, "race", entryAfter(null, `record-${index}`)),
        ),
      );
      const winner = answers.findIndex(({ ok }) => ok);
      assertEquals(answers.filter(({ ok }) => ok).length, 1);
      const stored = await json(worker.fetch("race/lines"));
      assertEquals(stored, [entryAfter(null, `record-${winner}`).line]);
    }),
);

test(
  "what was acknowledged outlives workerd, killed in the middle of appends",
  { ...slow, case: "B69" },
  () =>
    inDirectory(async (directory) => {
      let knownCount = 0;
      // Each life has an object, which the next one looks at and goes on with.
      for (const [index, life] of [...lives(), 0].entries()) {
        const worker = await startWorker("contract_worker.ts", directory);
        const last = `life-${index - 1}`;
        const found = await json(worker.fetch(`${last}/lines`));
        const next = assertKept(found, { lines, knownCount });
        assertEquals(await append(worker, last, next), { ok: true });
        knownCount = await writeUntilKilled(worker, `life-${index}`, life);
      }
    }),
);

test(
  "journals of other implementations go through a Durable Object byte for byte",
  {
    ...slow,
    case: "SE-N-08",
  },
  () =>
    withWorker(async (worker) => {
      for (const { case: name, read, bytes, journal } of journalFixtures) {
        if (!read.ok || journal.complete_lines === 0) continue;
        const body = base64Bytes(bytes);
        const init = { method: "POST", body };
        const answer = await worker.fetch(`fixture-${name}/exchange`, init);
        assertEquals(
          await answer.text(),
          textOf(body.subarray(0, journal.committed_bytes)),
          name,
        );
      }
    }),
);

async function withWorker(
  work: (worker: RunningWorker) => Promise<void>,
): Promise<void> {
  await inDirectory(async (directory) => {
    const worker = await startWorker("contract_worker.ts", directory);
    try {
      await work(worker);
    } finally {
      await worker.stop();
    }
  });
}

/** Appends without a pause, and kills workerd behind so many lines. @returns How many were acknowledged. */
async function writeUntilKilled(
  worker: RunningWorker,
  object: string,
  life: number,
): Promise<number> {
  let last: JournalEntry | undefined;
  let killing: Promise<void> | undefined;
  for (;;) {
    const next = entryBehind(last, lines);
    const answer = append(worker, object, next);
    if (next.revision > life) killing ??= worker.kill();
    const outcome = await answer.catch((error) => {
      if (killing === undefined) throw error;
      return null;
    });
    if (outcome === null) {
      await killing;
      return last?.revision ?? 0;
    }
    assertEquals(outcome, { ok: true });
    last = next;
  }
}

async function append(
  worker: RunningWorker,
  object: string,
  entry: JournalEntry,
): Promise<{ readonly ok: boolean }> {
  const init = { method: "POST", body: JSON.stringify(entry) };
  return await json(worker.fetch(`${object}/append`, init));
}

// deno-lint-ignore no-explicit-any -- what the Worker answers, as the test knows it
async function json(answer: Promise<Response>): Promise<any> {
  return await (await answer).json();
}
