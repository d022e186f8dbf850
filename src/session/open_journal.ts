import {
  AgentCancelledError,
  followSignal,
  throwIfAborted,
  toCancelledError,
} from "../base/abort.ts";
import { deepFreeze } from "../base/freeze.ts";
import { Gate } from "../base/gate.ts";
import type { Clock, Logger } from "../base/ports.ts";
import {
  causeText,
  SessionArgumentError,
  SessionError,
  SessionSerializationError,
  SessionStorageError,
} from "./errors.ts";
import { isRandomId } from "./ids.ts";
import type { JournalBackend, JournalEntry } from "./journal.ts";
import { type JournalGrowth, KeptTree } from "./kept_tree.ts";
import { isCheckpointOfMain, type SessionRecord } from "./record.ts";
import { encodeRecord } from "./record_codec.ts";
import type { JournalTree, TreeBranch, TreeNode } from "./tree.ts";

/** What an {@linkcode OpenJournal} works with. */
export interface OpenJournalOptions {
  readonly backend: JournalBackend;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** How much of a tree is looked at. */
export interface ViewOptions {
  /** False if the branch `main` is enough. */
  readonly whole: boolean;
  readonly signal?: AbortSignal | undefined;
}

/** A record to be stored. */
export interface NewRecord {
  /** Its id. */
  readonly recordId: string;
  /** True if that id was never tried before, so that a record that has it is another one. */
  readonly freshId: boolean;
  /** Makes it; called again after other writers moved the journal. */
  readonly plan: (tree: JournalTree) => SessionRecord;
  /** False if the plan looks at nothing but the branch `main`. */
  readonly whole: boolean;
  /** The canonical text of its data, if it is known. */
  readonly dataText: string | undefined;
}

const maxAttempts = 16;
const maxLostAnswers = 3;
const maxPauseMs = 100;

/** One journal of a storage, used by one operation at a time. */
export class OpenJournal {
  readonly #sessionId: string;
  readonly #backend: JournalBackend;
  readonly #clock: Clock;
  readonly #kept: KeptTree;
  readonly #gate = new Gate();

  constructor(
    sessionId: string,
    { backend, clock, logger }: OpenJournalOptions,
  ) {
    this.#sessionId = sessionId;
    this.#backend = backend;
    this.#clock = clock;
    this.#kept = new KeptTree(sessionId, backend, logger);
  }

  /** True while an operation runs or waits. */
  get busy(): boolean {
    return this.#gate.taken;
  }

  /** What was added since the last checkpoint, as far as it was read. */
  get growth(): Readonly<JournalGrowth> {
    return this.#kept.growth;
  }

  /** Looks at the tree as it is now. */
  view<T>(
    look: (tree: JournalTree) => T,
    { whole, signal }: ViewOptions,
  ): Promise<T> {
    return this.#alone(
      async () => look(await this.#kept.current(whole, signal)),
      signal,
    );
  }

  /** Finds a record by its id. */
  find(recordId: string, signal?: AbortSignal): Promise<TreeBranch | null> {
    return this.#alone(async () => {
      const tree = await this.#kept.current(true, signal);
      const node = tree.node(recordId);
      return node === undefined
        ? null
        : await this.#kept.branchAt(tree, node, signal);
    }, signal);
  }

  /** Reads all records anew. */
  records(signal?: AbortSignal): Promise<readonly SessionRecord[]> {
    return this.#alone(async () => {
      const records: SessionRecord[] = [];
      this.#kept.forget();
      await this.#kept.current(true, signal, records);
      return deepFreeze(records);
    }, signal);
  }

  /**
   * Stores a record, or finds it stored.
   *
   * The journal is not read before it is written: if another writer was faster,
   * the backend refuses, and the record is planned anew. An error of the plan
   * counts only if the plan saw the newest state.
   *
   * @throws {SessionArgumentError} `record_exists`: a fresh id is not fresh.
   * @param signal Without effect once storing has begun.
   */
  append(next: NewRecord, signal?: AbortSignal): Promise<TreeBranch> {
    return this.#alone(() => this.#append(next, signal), signal);
  }

  async #append(next: NewRecord, signal?: AbortSignal): Promise<TreeBranch> {
    const lostAnswers: unknown[] = [];
    const sentLines: string[] = [];
    // A tree that began at a checkpoint knows no record before it.
    const whole = next.whole || !next.freshId || !isRandomId(next.recordId);
    let known = this.#kept.known(whole);
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      const begun = lostAnswers.length > 0;
      const tree = known ??
        await this.#current(whole, lostAnswers, signal);
      const stored = tree.node(next.recordId);
      if (stored !== undefined) {
        const branch = await this.#kept.branchAt(tree, stored);
        if (next.freshId) requireOneOf(sentLines, branch.record);
        return branch;
      }
      if (lostAnswers.length === maxLostAnswers) break;

      const planned = prepare(next, tree, known === undefined);
      known = undefined;
      if (planned === undefined) continue;
      const { record, node } = planned;
      const entry = entryOf(record, next.dataText, tree);
      try {
        const options = { signal: begun ? undefined : signal };
        sentLines.push(entry.line);
        const answer = await this.#backend.append(
          this.#sessionId,
          entry,
          options,
        );
        if (answer.ok) return this.#kept.add(record, node, entry.line);
      } catch (error) {
        this.#passOn(error);
        lostAnswers.push(error);
      }
      if (attempt > 0) {
        await this.#pause(attempt, next.recordId, begun ? undefined : signal);
      }
    }
    const [cause] = lostAnswers;
    throw new SessionStorageError(
      lostAnswers.length === 0
        ? `Too many writers use session "${this.#sessionId}" at once; try again later`
        : `The record of session "${this.#sessionId}" was not stored: ${
          causeText(cause)
        }`,
      { retryable: true, cause },
    );
  }

  /** The newest state; after a lost answer it decides what is known of the record. */
  async #current(
    whole: boolean,
    lostAnswers: readonly unknown[],
    signal?: AbortSignal,
  ): Promise<JournalTree> {
    if (lostAnswers.length === 0) {
      return await this.#kept.current(whole, signal);
    }
    try {
      return await this.#kept.current(whole);
    } catch (error) {
      if (error instanceof SessionSerializationError) throw error;
      const [cause] = lostAnswers;
      throw new SessionStorageError(
        `Whether the record of session "${this.#sessionId}" was stored is unknown ` +
          `(${causeText(cause)}); append it again with the same recordId`,
        { committed: "unknown", retryable: true, cause },
      );
    }
  }

  /** Throws what the backend means the caller to see; anything else is a lost answer. */
  #passOn(error: unknown): void {
    if (error instanceof SessionStorageError && error.committed === "unknown") {
      this.#kept.forget();
    }
    if (error instanceof SessionError || error instanceof AgentCancelledError) {
      throw error;
    }
  }

  // Writers that were refused together must not come back together.
  #pause(
    attempt: number,
    recordId: string,
    signal?: AbortSignal,
  ): Promise<void> {
    const digits = parseInt(recordId.slice(2 * attempt, 2 * attempt + 2), 16);
    const spread = Number.isNaN(digits) ? 0.5 : digits / 256;
    const ms = spread * Math.min(2 ** attempt, maxPauseMs);
    return new Promise((resolve, reject) => {
      let unfollow = () => {};
      const cancelTimer = this.#clock.setTimer(ms, () => {
        unfollow();
        resolve();
      });
      unfollow = followSignal(signal, (reason) => {
        cancelTimer();
        reject(toCancelledError(reason));
      });
    });
  }

  async #alone<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    throwIfAborted(signal);
    const turn = this.#gate.enter(signal);
    if (turn !== undefined) await turn;
    try {
      return await work();
    } finally {
      this.#gate.leave();
    }
  }
}

function prepare(
  next: NewRecord,
  tree: JournalTree,
  isCurrent: boolean,
): { readonly record: SessionRecord; readonly node: TreeNode } | undefined {
  try {
    const record = next.plan(tree);
    return { record, node: tree.prepare(record) };
  } catch (error) {
    if (isCurrent) throw error;
    return undefined;
  }
}

/** Tells a record whose storing was answered by nobody from another one of the same id. */
function requireOneOf(
  sentLines: readonly string[],
  record: SessionRecord,
): void {
  if (sentLines.some((line) => line === encodeRecord(record))) return;
  throw new SessionArgumentError(
    "record_exists",
    `Session "${record.sessionId}" has a record "${record.recordId}" already; ` +
      "use ids that never come again, not even after a restart",
  );
}

function entryOf(
  record: SessionRecord,
  dataText: string | undefined,
  tree: JournalTree,
): JournalEntry {
  return {
    after: tree.position,
    revision: record.revision,
    recordId: record.recordId,
    line: encodeRecord(record, dataText),
    checkpoint: isCheckpointOfMain(record),
  };
}
