import type { Clock, IdSource } from "../base/ports.ts";
import { SessionUnsupportedError } from "./errors.ts";
import { requireRecordId } from "./ids.ts";
import type { JournalBackend } from "./journal.ts";
import type { JournalCache } from "./journal_cache.ts";
import type { SessionRecord } from "./record.ts";
import { timeText } from "./time_text.ts";
import type { JournalTree, TreeBranch } from "./tree.ts";
import type { RecordFacts } from "./writing.ts";

/** What a record says, and the record that it goes on from. */
export interface RecordPlan {
  readonly facts: RecordFacts;
  readonly parentId: string | null;
}

/** A change of a session; what all records have in common is added to it. */
export interface RecordChange {
  /** Makes the record; called again after other writers moved the journal. */
  readonly plan: (tree: JournalTree) => RecordPlan;
  /** False if the plan looks at nothing but the branch `main`. */
  readonly whole: boolean;
  /** The canonical text of its data, if it is known. */
  readonly dataText?: string;
  /** An id of the caller's own. */
  readonly recordId?: string | undefined;
  /** True if that id was never tried before. */
  readonly freshId?: boolean | undefined;
}

/** Gives records their ids, times and places, and stores them. */
export class RecordWriter {
  readonly #backend: JournalBackend;
  readonly #journals: JournalCache;
  readonly #clock: Clock;
  readonly #ids: IdSource;

  constructor(
    backend: JournalBackend,
    journals: JournalCache,
    clock: Clock,
    ids: IdSource,
  ) {
    this.#backend = backend;
    this.#journals = journals;
    this.#clock = clock;
    this.#ids = ids;
  }

  /** Stores the record of a change. */
  store(
    sessionId: string,
    change: RecordChange,
    signal: AbortSignal | undefined,
  ): Promise<TreeBranch> {
    if (this.#backend.capabilities.conditionalAppend === "none") {
      throw new SessionUnsupportedError(
        "This storage can be read but not appended to",
      );
    }
    const { whole, dataText, recordId: ownId = this.#ids.next() } = change;
    const recordId = requireRecordId(ownId);
    const freshId = change.freshId ?? change.recordId === undefined;
    const createdAt = timeText(this.#clock);
    const plan = (tree: JournalTree) => {
      const { facts, parentId } = change.plan(tree);
      // In the shape of the records that are read, and written out: spreading takes
      // a microsecond on Node 20.
      return {
        recordId,
        parentId,
        branchId: facts.branchId,
        revision: (tree.position?.revision ?? 0) + 1,
        sessionId,
        agentId: facts.agentId,
        sequence: facts.sequence,
        createdAt,
        kind: facts.kind,
        data: facts.data,
      } as SessionRecord;
    };
    return this.#journals.get(sessionId).append({
      recordId,
      freshId,
      plan,
      whole,
      dataText,
    }, signal);
  }
}
