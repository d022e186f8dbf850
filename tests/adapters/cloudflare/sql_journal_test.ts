import type { JournalEntry } from "../../../src/session/journal.ts";
import { journalContract } from "../../../src/testing/journal_contract.ts";
import { entryAfter } from "../../../src/testing/journal_subject.ts";
import { storageContract } from "../../../src/testing/storage_contract.ts";
import { inDirectory } from "../../faults/processes.ts";
import { journalFixtures, textOf } from "../../interop/python_journals.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { base64Bytes } from "../../support/fixtures.ts";
import { test } from "../../support/suite.ts";
import type { CaseReport } from "./contract_worker.ts";
import { type RunningWorker, startWorker } from "./workerd.ts";

// One runtime is enough to start workerd, which is where all of this happens.
const slow = { runtimes: ["deno"], timeoutMs: 180_000 } as const;

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
    const lines = await json(worker.fetch("long/lines"));
    assertEquals(lines, [first.line, second.line]);
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
      const lines = await json(worker.fetch("race/lines"));
      assertEquals(lines, [entryAfter(null, `record-${winner}`).line]);
    }),
);

test(
  "what was acknowledged outlives workerd, killed between two appends",
  slow,
  () =>
    inDirectory(async (directory) => {
      const worker = await startWorker("contract_worker.ts", directory);
      const acknowledged: JournalEntry[] = [];
      const writing = (async () => {
        for (;;) {
          const last = acknowledged.at(-1);
          const next = entryAfter(last ?? null, `r${acknowledged.length}`);
          await append(worker, "killed", next);
          acknowledged.push(next);
          if (acknowledged.length === 60) void worker.kill();
        }
      })();
      await writing.catch(() => {});

      const again = await startWorker("contract_worker.ts", directory);
      try {
        const lines: readonly string[] = await json(
          again.fetch("killed/lines"),
        );
        const known = acknowledged.map(({ line }) => line);
        assertEquals(lines.slice(0, known.length), known);
        assert(lines.length <= known.length + 1, "One append was on its way");
      } finally {
        await again.stop();
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
