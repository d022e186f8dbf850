import { frozen } from "../base/freeze.ts";
import { SessionSerializationError } from "./errors.ts";
import { DEFAULT_SESSION_BRANCH } from "./ids.ts";
import type { JournalPosition } from "./journal.ts";
import { lossyNumbersOf } from "./canonical.ts";
import { applyRecord } from "./projection.ts";
import type {
  SessionBranchIntent,
  SessionRecord,
  SessionRecordKind,
} from "./record.ts";
import { decodeRecord } from "./record_codec.ts";
import { contradictionsOf } from "./session_document.ts";
import { emptyState, type SessionState } from "./state.ts";

/** A line of history of a session. */
export interface SessionBranch {
  /** Its name. */
  readonly branchId: string;
  /** Its newest record. */
  readonly headRecordId: string;
  /** The record that it goes on from; null for `main` and for the retry of a first run. */
  readonly baseRecordId: string | null;
  /** The branch that it was made from; null for `main`. */
  readonly sourceBranchId: string | null;
  /** Why it was made; null for `main`. */
  readonly intent: SessionBranchIntent | null;
  /** Revision of its first record. */
  readonly createdRevision: number;
}

/** A record in the tree, and the session as it was right behind it. */
export interface TreeNode {
  readonly recordId: string;
  readonly revision: number;
  readonly branchId: string;
  readonly kind: SessionRecordKind;
  readonly parent: TreeNode | null;
  readonly state: SessionState;
}

/** What never changes about a branch. */
export type BranchOrigin = Omit<SessionBranch, "headRecordId">;

/** A branch and its newest record, or the newest that it had at some time. */
export interface TreeBranch {
  readonly origin: BranchOrigin;
  readonly node: TreeNode;
  readonly record: SessionRecord;
}

/**
 * What the records of one journal make of its session, on every branch.
 *
 * A record is first {@linkcode JournalTree.prepare | prepared}, which checks it
 * and changes nothing, then added once it is stored.
 */
export class JournalTree {
  /** The session. */
  readonly sessionId: string;
  /** False if the tree began at a checkpoint: it then knows the branch `main` alone, from there on. */
  readonly complete: boolean;
  readonly #nodes = new Map<string, TreeNode>();
  readonly #branches = new Map<string, TreeBranch>();
  readonly #report: (finding: string) => void;
  #last: JournalPosition | null = null;
  #isLossy = false;

  /**
   * @param report Told what is odd about the journal and yet acceptable.
   * @param checkpoint A record of `main` to begin with.
   */
  constructor(
    sessionId: string,
    report: (finding: string) => void,
    checkpoint?: SessionRecord,
  ) {
    this.sessionId = sessionId;
    this.complete = checkpoint === undefined;
    this.#report = report;
    if (checkpoint !== undefined) this.#begin(checkpoint);
  }

  /** The last record of the journal; null if it is empty. */
  get position(): JournalPosition | null {
    if (this.#last === null) return null;
    const { revision, recordId } = this.#last;
    return { revision, recordId };
  }

  /** Branches in the order of their creation. */
  get branches(): readonly TreeBranch[] {
    return [...this.#branches.values()];
  }

  /** A branch by its name. */
  branch(branchId: string): TreeBranch | undefined {
    return this.#branches.get(branchId);
  }

  /** A record by its id. */
  node(recordId: string): TreeNode | undefined {
    return this.#nodes.get(recordId);
  }

  /** Takes the next line of the journal. @throws {SessionSerializationError} With the number of the line. */
  read(line: string): SessionRecord {
    const revision = this.#nextRevision;
    try {
      const record = decodeRecord(line);
      if (this.#isOutside(record)) this.#skip(record);
      else this.add(record, this.#examined(this.prepare(record), line));
      return record;
    } catch (cause) {
      if (cause instanceof SessionSerializationError) throw cause.at(revision);
      // Whatever else is thrown comes from a value that is nested too deeply.
      throw new SessionSerializationError("The line cannot be read", {
        line: revision,
        cause,
      });
    }
  }

  /**
   * Checks the next record.
   *
   * @throws {SessionSerializationError} It breaks a rule of the tree or of the session.
   */
  prepare(record: SessionRecord): TreeNode {
    const { recordId, revision, branchId, kind } = record;
    this.#checkPlace(record);
    if (this.#nodes.has(recordId)) {
      throw broken(`record_id "${recordId}" is repeated`);
    }
    const parent = record.kind === "branch_created"
      ? this.#baseOf(record)
      : this.#headFor(record);
    const before = parent?.state ?? emptyState(this.sessionId);
    return {
      recordId,
      revision,
      branchId,
      kind,
      parent,
      state: applyRecord(before, record),
    };
  }

  /** Adds a prepared record. */
  add(record: SessionRecord, node: TreeNode): TreeBranch {
    const { recordId, branchId } = record;
    const origin = this.#branches.get(branchId)?.origin ?? originOf(record);
    const branch = { origin, node, record };
    this.#last = node;
    this.#nodes.set(recordId, node);
    this.#branches.set(branchId, branch);
    return branch;
  }

  get #nextRevision(): number {
    return (this.#last?.revision ?? 0) + 1;
  }

  #begin(record: SessionRecord): void {
    const { recordId, revision, branchId, kind, sessionId } = record;
    if (sessionId !== this.sessionId || branchId !== DEFAULT_SESSION_BRANCH) {
      throw broken(
        "the checkpoint to begin with is of another session or branch",
      );
    }
    const state = applyRecord(emptyState(sessionId), record);
    this.add(record, {
      recordId,
      revision,
      branchId,
      kind,
      parent: null,
      state,
    });
  }

  #isOutside(record: SessionRecord): boolean {
    return !this.complete && record.branchId !== DEFAULT_SESSION_BRANCH;
  }

  #skip(record: SessionRecord): void {
    this.#checkPlace(record);
    this.#last = record;
  }

  #checkPlace({ sessionId, revision }: SessionRecord): void {
    if (sessionId !== this.sessionId) {
      throw broken(`session_id is "${sessionId}"`);
    }
    if (revision !== this.#nextRevision) {
      throw broken(`revision is ${revision}`);
    }
  }

  #examined(node: TreeNode, line: string): TreeNode {
    if (node.kind === "checkpoint") {
      contradictionsOf(node.state).forEach(this.#report);
    }
    const lossy = lossyNumbersOf(line);
    if (lossy.length === 0) return node;
    if (!this.#isLossy) {
      this.#report("The journal holds numbers that were rounded when read");
    }
    this.#isLossy = true;
    const lossyNumbers = [...new Set([...node.state.lossyNumbers, ...lossy])];
    return { ...node, state: { ...node.state, lossyNumbers } };
  }

  #headFor(record: SessionRecord): TreeNode | null {
    const { branchId, parentId } = record;
    const branch = this.#branches.get(branchId);
    if (
      branch === undefined && branchId === DEFAULT_SESSION_BRANCH &&
      this.#last === null
    ) {
      if (parentId !== null) throw broken("the first record has a parent");
      return null;
    }
    if (branch === undefined) {
      throw broken(`branch "${branchId}" was never created`);
    }
    if (parentId !== branch.node.recordId) {
      throw broken(`parent_id is not the head of branch "${branchId}"`);
    }
    return branch.node;
  }

  #baseOf(
    record: SessionRecord & { readonly kind: "branch_created" },
  ): TreeNode | null {
    const { branchId, parentId, data } = record;
    if (branchId === DEFAULT_SESSION_BRANCH || this.#branches.has(branchId)) {
      throw broken(`branch "${branchId}" exists already`);
    }
    const source = this.#branches.get(data.source_branch_id);
    if (source === undefined) {
      throw broken(`source branch "${data.source_branch_id}" is unknown`);
    }
    if (source.node.recordId !== data.source_head_id) {
      throw broken("source_head_id is not the head of the source branch");
    }
    if (parentId !== data.base_record_id) {
      throw broken("base_record_id is not the parent_id");
    }
    if (parentId === null) return null;
    const base = this.#nodes.get(parentId);
    if (base === undefined || !isAncestor(base, source.node)) {
      throw broken("base_record_id is no ancestor of the source branch");
    }
    return base;
  }
}

/** True if the first record lies on the way from the root to the second, or is the same. */
export function isAncestor(node: TreeNode, of: TreeNode): boolean {
  let at: TreeNode | null = of;
  while (at !== null && at.revision > node.revision) at = at.parent;
  return at === node;
}

/** What others see of a branch. */
export function branchView({ origin, node }: TreeBranch): SessionBranch {
  return frozen({
    branchId: origin.branchId,
    headRecordId: node.recordId,
    baseRecordId: origin.baseRecordId,
    sourceBranchId: origin.sourceBranchId,
    intent: origin.intent,
    createdRevision: origin.createdRevision,
  });
}

function originOf(record: SessionRecord): BranchOrigin {
  const created = record.kind === "branch_created" ? record.data : null;
  return {
    branchId: record.branchId,
    baseRecordId: created?.base_record_id ?? null,
    sourceBranchId: created?.source_branch_id ?? null,
    intent: created?.intent ?? null,
    createdRevision: created === null ? 1 : record.revision,
  };
}

function broken(what: string): SessionSerializationError {
  return new SessionSerializationError(
    `The journal contradicts itself: ${what}`,
  );
}
