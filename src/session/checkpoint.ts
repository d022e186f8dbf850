import { SessionConflictError } from "./errors.ts";
import type { JournalGrowth } from "./kept_tree.ts";
import type { SessionRecord } from "./record.ts";
import type { SessionTreeStorage, StorageCallOptions } from "./storage.ts";

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
