import { deepFreeze, frozen } from "../base/freeze.ts";
import {
  type Clock,
  consoleLogger,
  type IdSource,
  randomIds,
  systemClock,
} from "../base/ports.ts";
import {
  requireInteger,
  requireMethods,
  requireObject,
  requireString,
} from "../base/require.ts";
import {
  type BranchFacts,
  type NewBranch,
  planBranch,
  planRetry,
  unknownRecord,
} from "./branching.ts";
import { checkpointMain, isCheckpointDue, snapshotOf } from "./checkpoint.ts";
import { isMain, requireBranchId, requireId, requireSessionId } from "./ids.ts";
import type { JournalBackend } from "./journal.ts";
import { JournalCache } from "./journal_cache.ts";
import type { OpenJournal } from "./open_journal.ts";
import type {
  SessionBranchIntent,
  SessionRecord,
  SessionRecordDraft,
} from "./record.ts";
import { type RecordChange, RecordWriter } from "./record_writer.ts";
import { recoverInterruptedRun } from "./recovery.ts";
import { type AgentSession, sessionOf } from "./session.ts";
import type {
  AppendOptions,
  BranchOptions,
  CheckoutOptions,
  ForkOptions,
  JournalStorageOptions,
  NewBranchOptions,
  RecoverOptions,
  RetryOptions,
  RollbackOptions,
  SaveOptions,
  SessionCheckout,
  SessionRecoveryResult,
  SessionRetry,
  SessionTreeStorage,
  StorageCallOptions,
} from "./storage.ts";
import {
  branchView,
  type JournalTree,
  type SessionBranch,
  type TreeBranch,
} from "./tree.ts";
import { readDraft, requireHead } from "./writing.ts";

/**
 * Sessions with branches over any medium that can keep lines.
 *
 * Everything that a session means is decided here; a {@linkcode JournalBackend}
 * only stores lines. Journals that were read stay in memory, so an append costs
 * one call of the backend whatever the journal holds, and only what others
 * appended is read. Several storages, processes and hosts may share a medium.
 *
 * @example Sessions in memory, with a branch
 * ```ts
 * import { AgentSession, JournalTreeStorage, MemoryJournal } from "@ejagent/core";
 * import { equal } from "node:assert/strict";
 *
 * const storage = new JournalTreeStorage(new MemoryJournal());
 * await storage.save(new AgentSession("s1", "helper"));
 * const { branch } = await storage.fork("s1", { branchId: "idea" });
 * equal(branch.sourceBranchId, "main");
 * equal((await storage.listBranches("s1")).length, 2);
 * ```
 */
export class JournalTreeStorage implements SessionTreeStorage {
  /** Where the lines are. */
  readonly backend: JournalBackend;
  readonly #clock: Clock;
  readonly #ids: IdSource;
  readonly #journals: JournalCache;
  readonly #writer: RecordWriter;
  readonly #checkpointEvery: number | null;

  /**
   * Makes a storage.
   *
   * @param backend Used by this storage and, if it allows that, by others.
   * @throws {TypeError} Wrong options.
   */
  constructor(backend: JournalBackend, options: JournalStorageOptions = {}) {
    requireMethods("backend", backend, ["read", "append"]);
    const { clock = systemClock, ids = randomIds, logger = consoleLogger } =
      optionsOf(options);
    const { cachedSessionCount = 64, checkpointEvery = null } = options;
    requireMethods("clock", clock, ["now", "setTimer"]);
    requireMethods("ids", ids, ["next"]);
    requireMethods("logger", logger, ["warn"]);
    const capacity = requireInteger(
      "cachedSessionCount",
      cachedSessionCount,
      0,
    );
    this.backend = backend;
    this.#clock = clock;
    this.#ids = ids;
    this.#journals = new JournalCache({ backend, clock, logger }, capacity);
    this.#writer = new RecordWriter(backend, this.#journals, clock, ids);
    this.#checkpointEvery = checkpointEvery === null
      ? null
      : requireInteger("checkpointEvery", checkpointEvery, 1);
  }

  /** The state of `main`; null if the session does not exist. */
  async load(
    sessionId: string,
    options: StorageCallOptions = {},
  ): Promise<AgentSession | null> {
    const { signal } = optionsOf(options);
    const checkout = await this.checkout(sessionId, { signal });
    return checkout?.session ?? null;
  }

  /** The state at the head of a branch, or at one record; null if there is no such branch. */
  async checkout(
    sessionId: string,
    options: CheckoutOptions = {},
  ): Promise<SessionCheckout | null> {
    const { recordId, signal, ...place } = optionsOf(options);
    const branchId = requireBranchId(place.branchId);
    const journal = this.#journal(sessionId);
    if (recordId === undefined) {
      return await journal.view((tree) => {
        const head = tree.branch(branchId);
        return head === undefined ? null : checkoutOf(head);
      }, { whole: !isMain(branchId), signal });
    }
    const id = requireString("recordId", recordId);
    const found = await journal.find(id, signal);
    if (found === null) throw unknownRecord(sessionId, recordId);
    return checkoutOf(found);
  }

  /** The newest record of a branch; null if there is no such branch. */
  async head(
    sessionId: string,
    options: BranchOptions = {},
  ): Promise<SessionRecord | null> {
    const { signal, ...place } = optionsOf(options);
    const branchId = requireBranchId(place.branchId);
    return await this.#journal(sessionId).view(
      (tree) => deepFreeze(tree.branch(branchId)?.record ?? null),
      { whole: !isMain(branchId), signal },
    );
  }

  /** Branches in the order of their creation. */
  async listBranches(
    sessionId: string,
    options: StorageCallOptions = {},
  ): Promise<readonly SessionBranch[]> {
    return await this.#journal(sessionId).view(
      (tree) => frozen(tree.branches.map((branch) => branchView(branch))),
      { whole: true, signal: optionsOf(options).signal },
    );
  }

  /** All records in the order of the journal. */
  async records(
    sessionId: string,
    options: StorageCallOptions = {},
  ): Promise<readonly SessionRecord[]> {
    return await this.#journal(sessionId).records(optionsOf(options).signal);
  }

  /** Stores one change at the head of its branch; see {@linkcode SessionTreeStorage.append}. */
  async append(
    draft: SessionRecordDraft,
    options: AppendOptions = {},
  ): Promise<SessionRecord> {
    const { recordId, freshId, expectedHead, signal } = optionsOf(options);
    const { sessionId, facts, dataText } = readDraft(draft);
    const { branchId } = facts;
    const { record } = await this.#writer.store(sessionId, {
      recordId,
      freshId,
      whole: !isMain(branchId),
      dataText,
      plan: (tree) => ({
        facts,
        parentId: requireHead(tree, branchId, expectedHead),
      }),
    }, signal);
    return deepFreeze(record);
  }

  /** Stores the whole session as a checkpoint; see {@linkcode SessionTreeStorage.save}. */
  async save(
    session: AgentSession,
    options: SaveOptions = {},
  ): Promise<SessionRecord> {
    const change = snapshotOf(session, optionsOf(options));
    const { sessionId } = session;
    const { record } = await this.#writer.store(
      sessionId,
      change,
      options.signal,
    );
    return deepFreeze(record);
  }

  /** Makes a branch that goes on from a record; see {@linkcode SessionTreeStorage.fork}. */
  async fork(
    sessionId: string,
    options: ForkOptions = {},
  ): Promise<SessionCheckout> {
    const { fromRecordId } = optionsOf(options);
    const baseId = fromRecordId === undefined
      ? undefined
      : requireId("fromRecordId", fromRecordId);
    return await this.#branchAt("fork", sessionId, baseId, options);
  }

  /** As `fork`, with the intent to drop what came after the record. */
  async rollback(
    sessionId: string,
    options: RollbackOptions,
  ): Promise<SessionCheckout> {
    const baseId = requireId("toRecordId", optionsOf(options).toRecordId);
    return await this.#branchAt("rollback", sessionId, baseId, options);
  }

  /** Makes a branch that ends right before a run; see {@linkcode SessionTreeStorage.prepareRetry}. */
  async prepareRetry(
    sessionId: string,
    options: RetryOptions,
  ): Promise<SessionRetry> {
    const runId = requireId("runId", optionsOf(options).runId);
    const wish = { ...this.#namesOf("retry", options), runId };
    let task: SessionRetry["task"] = "";
    const checkout = await this.#branchOff(sessionId, (tree) => {
      const plan = planRetry(tree, wish);
      task = plan.task;
      return plan.facts;
    }, options);
    return frozen({ checkout, task, retriedRunId: runId });
  }

  /** Closes a run whose process is gone; see {@linkcode SessionTreeStorage.recoverInterruptedRun}. */
  async recoverInterruptedRun(
    sessionId: string,
    options: RecoverOptions = {},
  ): Promise<SessionRecoveryResult> {
    return await recoverInterruptedRun(this, {
      ...optionsOf(options),
      sessionId,
      clock: this.#clock,
    });
  }

  /** Stores a checkpoint of `main` if one is due; see {@linkcode JournalStorageOptions.checkpointEvery}. */
  async checkpointIfDue(
    sessionId: string,
    options: StorageCallOptions = {},
  ): Promise<SessionRecord | null> {
    const { signal } = optionsOf(options);
    const { growth } = this.#journal(sessionId);
    if (!isCheckpointDue(growth, this.#checkpointEvery)) return null;
    return await checkpointMain(this, sessionId, { signal });
  }

  /**
   * Releases what the storage holds, such as files and locks.
   *
   * The storage stays usable: the next call opens what it needs again, so close
   * it when the last call has settled.
   */
  async close(): Promise<void> {
    this.#journals.clear();
    await this.backend.close?.();
  }

  /** As `close`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #branchAt(
    intent: "fork" | "rollback",
    sessionId: string,
    baseId: string | undefined,
    options: NewBranchOptions & StorageCallOptions,
  ): Promise<SessionCheckout> {
    const wish = { ...this.#namesOf(intent, options), intent, baseId };
    return await this.#branchOff(
      sessionId,
      (tree) => planBranch(tree, wish),
      options,
    );
  }

  async #branchOff(
    sessionId: string,
    plan: (tree: JournalTree) => BranchFacts,
    { signal }: StorageCallOptions,
  ): Promise<SessionCheckout> {
    const change: RecordChange = {
      whole: true,
      plan(tree) {
        const facts = plan(tree);
        return { facts, parentId: facts.data.base_record_id };
      },
    };
    return checkoutOf(
      await this.#writer.store(requireSessionId(sessionId), change, signal),
    );
  }

  #namesOf(
    intent: SessionBranchIntent,
    { sourceBranch, branchId }: NewBranchOptions,
  ): NewBranch {
    const fresh = () => `${intent}-${this.#ids.next().slice(0, 12)}`;
    return {
      sourceBranch: requireBranchId(sourceBranch, "sourceBranch"),
      branchId: branchId === undefined ? fresh() : requireBranchId(branchId),
    };
  }

  #journal(sessionId: string): OpenJournal {
    return this.#journals.get(requireSessionId(sessionId));
  }
}

function optionsOf<T>(options: T): T {
  return requireObject("The options", options);
}

function checkoutOf(branch: TreeBranch): SessionCheckout {
  return frozen({
    branch: branchView(branch),
    head: deepFreeze(branch.record),
    session: sessionOf(branch.node.state),
  });
}
