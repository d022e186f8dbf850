import { frozenCopy } from "../base/freeze.ts";
import {
  requireInteger,
  requireMember,
  requireObject,
} from "../base/require.ts";
import { unknownBranch } from "./branching.ts";
import { maxDataDepth } from "./canonical.ts";
import { SessionArgumentError, SessionConflictError } from "./errors.ts";
import {
  DEFAULT_SESSION_BRANCH,
  requireBranchId,
  requireId,
  requireSessionId,
} from "./ids.ts";
import {
  RECORD_KINDS,
  type SessionRecord,
  type SessionRecordDraft,
  type SessionRecordKind,
} from "./record.ts";
import { checkRecord, encodeData } from "./record_codec.ts";
import type { SessionState } from "./state.ts";
import { findItem, itemsOf } from "./strand.ts";
import type { JournalTree } from "./tree.ts";

/** The members of a record that its writer decides. */
export type RecordFacts = Pick<
  SessionRecord,
  "kind" | "data" | "branchId" | "agentId" | "sequence"
>;

/** A draft that was checked and belongs to nobody else. */
export interface CheckedDraft {
  readonly sessionId: string;
  readonly facts: RecordFacts;
  /** The canonical text of its data. */
  readonly dataText: string;
}

/**
 * Checks a draft on its own, before anything is read or written.
 *
 * @throws {SessionSerializationError} Its data is no JSON, or not what its kind asks for.
 * @throws {SessionArgumentError} Its kind is written by other methods alone.
 */
export function readDraft(draft: SessionRecordDraft): CheckedDraft {
  requireObject("The draft of a record", draft);
  const kind = requireMember("kind", draft.kind, RECORD_KINDS);
  if (kind === "branch_created") {
    throw new SessionArgumentError(
      "reserved_record",
      "Branches are made by fork, rollback or prepareRetry, not by append",
    );
  }
  const sessionId = requireSessionId(draft.sessionId);
  const dataText = encodeData(draft.data, maxDepthOf(kind));
  const facts = {
    kind,
    data: frozenCopy(draft.data),
    branchId: requireBranchId(draft.branchId),
    agentId: draft.agentId === null
      ? null
      : requireId("agentId", draft.agentId),
    sequence: requireInteger("sequence", draft.sequence, 0),
  } as RecordFacts;
  checkRecord(facts);
  return { sessionId, facts, dataText };
}

/**
 * How deep the data of a record may be nested, so that what one record brought
 * has room in a compaction and in a checkpoint, where it lies some levels deeper.
 */
function maxDepthOf(kind: SessionRecordKind): number {
  switch (kind) {
    case "checkpoint":
      return maxDataDepth;
    case "compaction_applied":
      return maxDataDepth - 10;
    default:
      return maxDataDepth - 20;
  }
}

/**
 * The record that the next one of a branch goes on from.
 *
 * @param expectedHead Undefined for whatever it is.
 * @throws {SessionArgumentError} Unknown branch; this comes first.
 * @throws {SessionConflictError} It is another one.
 */
export function requireHead(
  tree: JournalTree,
  branchId: string,
  expectedHead: string | null | undefined,
): string | null {
  const branch = tree.branch(branchId);
  if (branch === undefined && branchId !== DEFAULT_SESSION_BRANCH) {
    throw unknownBranch(tree, branchId);
  }
  const actualHead = branch?.node.recordId ?? null;
  if (expectedHead !== undefined && expectedHead !== actualHead) {
    throw new SessionConflictError({ branchId, expectedHead, actualHead });
  }
  return actualHead;
}

/**
 * Checks that a snapshot has all that it is going to replace.
 *
 * @throws {SessionArgumentError} Runs, results or messages would be lost.
 */
export function requireNothingLost(
  stored: SessionState,
  saved: SessionState,
): void {
  const lostRun = itemsOf(stored.starts).find(({ runId }) =>
    !findItem(saved.starts, runId)
  );
  const lostResult = itemsOf(stored.finishes).find(({ runId }) =>
    !findItem(saved.finishes, runId)
  );
  const runId = lostRun?.runId ?? lostResult?.runId;
  if (runId === undefined && stored.entries.length <= saved.entries.length) {
    return;
  }
  throw new SessionArgumentError(
    "stale_session",
    `The stored session has what the saved one lacks${
      runId === undefined ? "" : `, run "${runId}"`
    }; load it again, or save with overwrite: true`,
  );
}
