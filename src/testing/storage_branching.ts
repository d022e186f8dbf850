import {
  SessionArgumentError,
  SessionConflictError,
} from "../session/errors.ts";
import type { JournalTreeStorage } from "../session/tree_storage.ts";
import { expect, expectEqual, expectRejection } from "./contract.ts";
import {
  answered,
  called,
  recordRun,
  recordRuns,
  s,
  started,
  toolAnswered,
} from "./session_drafts.ts";
import { otherProgram, runIds, type StorageCheck } from "./storage_subject.ts";

/** What a storage promises about branches, snapshots and interrupted runs. */
export const branchingPromises: Readonly<Record<string, StorageCheck>> = {
  async "writers on different branches never get into each other's way"(
    subject,
  ) {
    const { storage } = subject;
    await recordRun(storage, "base");
    await storage.fork(s, { branchId: "x" });
    const stranger = await otherProgram(subject);
    await Promise.all([
      appendChain(storage, "main", 25),
      appendChain(stranger, "x", 25),
    ]);
    const records = await storage.records(s);
    expectEqual(
      records.map(({ revision }) => revision),
      placesUpTo(54),
      "revisions",
    );
    for (const branchId of ["main", "x"]) {
      const checkout = await stranger.checkout(s, { branchId });
      expectEqual(
        checkout!.session.messages.length,
        27,
        `messages of ${branchId}`,
      );
    }
  },

  async "a fork goes its own way"(subject) {
    const { storage } = subject;
    await recordRuns(storage, ["r1", "r2"]);
    const fork = await storage.fork(s, { branchId: " idea " });
    expectEqual(
      [fork.branch.branchId, fork.branch.intent],
      ["idea", "fork"],
      "branch",
    );
    await recordRun(storage, "r3", "idea");
    await recordRun(storage, "r4");
    const reader = await otherProgram(subject);
    expectEqual(
      await runIds(reader, "idea"),
      ["r1", "r2", "r3"],
      "runs of the fork",
    );
    expectEqual(
      await runIds(reader, "main"),
      ["r1", "r2", "r4"],
      "runs of the source",
    );
  },

  async "a rollback drops what came after, on a branch of its own"(
    { storage },
  ) {
    await recordRuns(storage, ["r1", "r2"]);
    const end = (await storage.records(s))[2]!;
    const { branch } = await storage.rollback(s, { toRecordId: end.recordId });
    expectEqual(branch.intent, "rollback", "intent");
    expectEqual(
      await runIds(storage, branch.branchId),
      ["r1"],
      "runs of the branch",
    );
    expectEqual(
      await runIds(storage, "main"),
      ["r1", "r2"],
      "runs of the source",
    );
  },

  async "a retry begins before its run"({ storage }) {
    await recordRuns(storage, ["r1", "r2"]);
    const second = await storage.prepareRetry(s, { runId: "r2" });
    expectEqual(
      [second.task, second.retriedRunId],
      ["task of r2", "r2"],
      "retry",
    );
    expectEqual(
      await runIds(storage, second.checkout.branch.branchId),
      ["r1"],
      "runs",
    );
    const first = await storage.prepareRetry(s, {
      runId: "r1",
      branchId: "anew",
    });
    expectEqual(
      first.checkout.branch.baseRecordId,
      null,
      "base of the first run",
    );
    expectEqual(
      first.checkout.session.agentId,
      "contract-agent",
      "agent of the first run",
    );
    await recordRun(storage, "r3", "anew");
    expectEqual(await runIds(storage, "anew"), ["r3"], "runs of the retry");
  },

  async "branches are not made from runs that are open"({ storage }) {
    await recordRun(storage, "r1");
    await storage.append(started("r2"));
    const error = await expectRejection(
      () => storage.fork(s),
      SessionArgumentError,
    );
    expectEqual(error.code, "unfinished_run", "code");
    expect(error.message.includes("r2"), "The error does not name the run");
  },

  async "an interrupted run is closed once, by whoever finds it"(subject) {
    const { storage } = subject;
    await storage.append(started("r1"));
    await storage.append(called("r1", 3, ["c1", "c2", "c3"]));
    const last = await storage.append(toolAnswered("r1", 5, "c1"));
    const rescuer = await otherProgram(subject);
    const recovery = await rescuer.recoverInterruptedRun(s);
    expect(recovery.status === "recovered", "Nothing was recovered");
    expectEqual(
      recovery.interruptedToolCallIds,
      ["c2", "c3"],
      "interrupted calls",
    );
    expectEqual(
      recovery.checkout.session.unfinishedRunIds,
      [],
      "unfinished runs",
    );
    expectEqual(
      await rescuer.recoverInterruptedRun(s),
      { status: "clean" },
      "second recovery",
    );
    await expectRejection(
      () =>
        storage.append(toolAnswered("r1", 6, "c2"), {
          expectedHead: last.recordId,
        }),
      SessionConflictError,
    );
    const { result } = (await storage.load(s))!.lastRun!;
    expectEqual([result?.status, result?.failure?.code], [
      "failed",
      "interrupted",
    ], "result");
  },

  async "a snapshot replaces nothing that it lacks"(subject) {
    const { storage } = subject;
    await recordRun(storage, "r1");
    const old = (await storage.load(s))!;
    await recordRun(await otherProgram(subject), "r2");
    const error = await expectRejection(
      () => storage.save(old),
      SessionArgumentError,
    );
    expectEqual(error.code, "stale_session", "code");
    expectEqual(await runIds(storage, "main"), ["r1", "r2"], "runs");
    await storage.save(old, { overwrite: true });
    expectEqual(
      await runIds(await otherProgram(subject), "main"),
      ["r1"],
      "runs after overwriting",
    );
  },
};

/** Appends messages to a new run, each behind the one before. */
async function appendChain(
  storage: JournalTreeStorage,
  branchId: string,
  count: number,
): Promise<void> {
  const head = await storage.head(s, { branchId });
  const runId = `chain-${branchId}`;
  let last = await storage.append(started(runId, "go", branchId), {
    expectedHead: head!.recordId,
  });
  for (let index = 1; index < count; index++) {
    const draft = { ...answered(runId, 2, `${branchId} ${index}`), branchId };
    last = await storage.append(draft, { expectedHead: last.recordId });
  }
}

function placesUpTo(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index + 1);
}
