import fc from "fast-check";
import {
  SessionConflictError,
  SessionStorageError,
} from "../../src/session/errors.ts";
import { exportJournal } from "../../src/session/export.ts";
import type {
  JournalAppendResult,
  JournalCallOptions,
  JournalEntry,
  JournalPosition,
} from "../../src/session/journal.ts";
import { MemoryJournal } from "../../src/session/memory.ts";
import { JournalTreeStorage } from "../../src/session/tree_storage.ts";
import {
  answered,
  recordRun,
  s,
  started,
} from "../../src/testing/session_drafts.ts";
import { readJournal } from "../interop/journal_reader.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { test } from "../support/suite.ts";

/** What happens to a call: how long it is under way, and whether it gets lost. */
interface Fate {
  readonly delay: number;
  readonly lost: "no" | "request" | "answer";
}

/** A journal at the other end of a bad network. */
class DistantJournal extends MemoryJournal {
  #fates: readonly Fate[];
  #callCount = 0;

  constructor(fates: readonly Fate[]) {
    super();
    this.#fates = fates;
  }

  override async *read(
    sessionId: string,
    after: JournalPosition | null,
    options?: JournalCallOptions,
  ): AsyncGenerator<readonly string[]> {
    await this.#travel();
    yield* super.read(sessionId, after, options);
  }

  override async append(
    sessionId: string,
    entry: JournalEntry,
  ): Promise<JournalAppendResult> {
    const lost = await this.#travel();
    if (lost === "request") throw new Error("The request was lost");
    const answer = await super.append(sessionId, entry);
    if (lost === "answer") throw new Error("The answer was lost");
    return answer;
  }

  async #travel(): Promise<Fate["lost"]> {
    const { delay, lost } = this
      .#fates[this.#callCount++ % this.#fates.length]!;
    for (let step = 0; step < delay; step++) await Promise.resolve();
    return lost;
  }
}

const fate: fc.Arbitrary<Fate> = fc.record({
  delay: fc.nat(12),
  lost: fc.oneof(
    { weight: 6, arbitrary: fc.constant("no" as const) },
    {
      weight: 1,
      arbitrary: fc.constantFrom("request" as const, "answer" as const),
    },
  ),
});

// Time that does not pass: whoever has to wait comes back after the others.
const clock = {
  now: () => 0,
  setTimer(_ms: number, fire: () => void) {
    const timer = setTimeout(fire, 0);
    return () => clearTimeout(timer);
  },
};

test("however calls cross and get lost, what was acknowledged is there once", {
  timeoutMs: 120_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fate, { minLength: 5, maxLength: 40 }),
      fc.array(fc.boolean(), { minLength: 12, maxLength: 12 }),
      async (fates, conditional) => {
        const journal = new DistantJournal(fates);
        const calm = new JournalTreeStorage(journal, { clock });
        const acknowledged = await writeFromAll(journal, calm, conditional);
        const records = await calm.records(s);
        const ids = records.map(({ recordId }) => recordId);
        assertEquals(new Set(ids).size, ids.length, "A record is stored twice");
        assert(
          acknowledged.every((id) => ids.includes(id)),
          "A record was lost",
        );
        let bytes: number[] = [];
        for await (const chunk of exportJournal(calm, s)) {
          bytes = [...bytes, ...chunk];
        }
        assertEquals(
          readJournal(Uint8Array.from(bytes)).records.length,
          ids.length,
        );
      },
    ),
    { seed: 15, numRuns: 60 },
  );
});

/** Three programs write to two branches at once. @returns The ids that they were given. */
async function writeFromAll(
  journal: DistantJournal,
  calm: JournalTreeStorage,
  conditional: readonly boolean[],
): Promise<string[]> {
  await ignoringLoss(() => recordRun(calm, "base"));
  await ignoringLoss(() => calm.fork(s, { branchId: "side" }));
  for (const branchId of ["main", "side"]) {
    await ignoringLoss(() =>
      calm.append(started(`run-${branchId}`, "go", branchId))
    );
  }
  const acknowledged: string[] = [];
  await Promise.all([0, 1, 2].map(async (program) => {
    const storage = new JournalTreeStorage(journal, { clock });
    for (let step = 0; step < 4; step++) {
      const branchId = (program + step) % 2 === 0 ? "main" : "side";
      const draft = {
        ...answered(`run-${branchId}`, 2, `${program}-${step}`),
        branchId,
      };
      await ignoringLoss(async () => {
        const head = conditional[program * 4 + step]
          ? await storage.head(s, { branchId })
          : undefined;
        const options = head ? { expectedHead: head.recordId } : {};
        acknowledged.push((await storage.append(draft, options)).recordId);
      });
    }
  }));
  return acknowledged;
}

/** Failures are fine as long as they are told as what they are. */
async function ignoringLoss(work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    const isExpected = error instanceof SessionConflictError ||
      (error instanceof SessionStorageError && error.retryable) ||
      // What an earlier failure left out may be missing now.
      (error instanceof Error &&
        /Unknown run|no branch|never created/.test(error.message));
    if (!isExpected) throw error;
  }
}
