import type { Clock } from "../../src/base/ports.ts";
import type { KvAtomicOperation } from "./kv_store.ts";

const maxAttemptCount = 50;

/**
 * Commits changes, however often other processes have the file locked meanwhile.
 *
 * @param make Makes the operation anew for each attempt.
 * @returns False if a check failed.
 */
export async function commitPatiently(
  make: () => KvAtomicOperation,
  clock: Clock,
): Promise<boolean> {
  for (let attempt = 1;; attempt++) {
    try {
      return (await make().commit()).ok;
    } catch (error) {
      // A locked file is as it was before.
      if (!isLocked(error) || attempt === maxAttemptCount) throw error;
      await pause(attempt % 10, clock);
    }
  }
}

function pause(ms: number, clock: Clock): Promise<void> {
  return new Promise((resolve) => {
    clock.setTimer(ms, resolve);
  });
}

function isLocked(error: unknown): boolean {
  return error instanceof TypeError && error.message === "database is locked";
}
