import { SessionConflictError } from "./errors.ts";
import { isMain, requireBranchId } from "./ids.ts";
import type { JournalGrowth } from "./kept_tree.ts";
import type { SessionRecord } from "./record.ts";
import { encodeData } from "./record_codec.ts";
import type { RecordChange } from "./record_writer.ts";
import { AgentSession, stateOf } from "./session.ts";
import { sessionToJson } from "./session_codec.ts";
import type {
  SaveOptions,
  SessionTreeStorage,
  StorageCallOptions,
} from "./storage.ts";
import {
  type RecordFacts,
  requireHead,
  requireNothingLost,
} from "./writing.ts";

/** The checkpoint that stores a whole session; see {@linkcode SessionTreeStorage.save}. */
export function snapshotOf(
  session: AgentSession,
  options: SaveOptions,
): RecordChange {
  if (!(session instanceof AgentSession)) {
    throw new TypeError("session must be an AgentSession");
  }
  const { expectedHead, overwrite = false } = options;
  const branchId = requireBranchId(options.branchId);
  const data = { document: sessionToJson(session) };
  const { agentId } = session;
  const facts: RecordFacts = {
    kind: "checkpoint",
    branchId,
    agentId,
    sequence: 0,
    data,
  };
  // Taken now: the session may be changed before its turn comes.
  const saved = stateOf(session);
  return {
    dataText: encodeData(data),
    whole: !isMain(branchId),
    plan(tree) {
      const parentId = requireHead(tree, branchId, expectedHead);
      const stored = tree.branch(branchId)?.node.state;
      const isBlind = expectedHead === undefined && !overwrite;
      if (isBlind && stored !== undefined) requireNothingLost(stored, saved);
      return { facts, parentId };
    },
  };
}

/**
 * True if a journal is worth a checkpoint.
 *
 * At least as much must have been added as the last checkpoint took, so that
 * checkpoints never make up more than half of a journal.
 *
 * @param every Number of records; null for never.
 */
export function isCheckpointDue(
  growth: JournalGrowth,
  every: number | null,
): boolean {
  return every !== null && growth.recordCount >= every &&
    growth.length >= growth.checkpointLength;
}

/** Stores the state of `main`, unless a run is open or another writer is faster. */
export async function checkpointMain(
  storage: SessionTreeStorage,
  sessionId: string,
  { signal }: StorageCallOptions,
): Promise<SessionRecord | null> {
  const checkout = await storage.checkout(sessionId, { signal });
  if (checkout === null || checkout.session.unfinishedRunIds.length > 0) {
    return null;
  }
  try {
    const expectedHead = checkout.head.recordId;
    return await storage.save(checkout.session, { expectedHead, signal });
  } catch (error) {
    if (error instanceof SessionConflictError) return null;
    throw error;
  }
}
