import type { Clock } from "../../src/base/ports.ts";
import { SessionLockTimeoutError } from "../../src/session/errors.ts";
import type { KvAtomicOperation } from "./kv_store.ts";

// The database itself waits five seconds for a lock before it says so.
const maxWaitMs = 10_000;

/**
 * Commits changes, however often other processes have the file locked meanwhile.
 *
 * @param make Makes the operation anew for each attempt.
 * @returns False if a check failed.
 * @throws {SessionLockTimeoutError} It was locked for ten seconds and more.
 */
export async function commitPatiently(
  make: () => KvAtomicOperation,
  clock: Clock,
): Promise<boolean> {
  const endMs = clock.now() + maxWaitMs;
  for (let attempt = 1;; attempt++) {
    try {
      return (await make().commit()).ok;
    } catch (error) {
      // A locked file is as it was before.
      if (!isLocked(error)) throw error;
      if (clock.now() >= endMs) {
        throw new SessionLockTimeoutError(
          "The file of the database stayed locked by another process; try again later",
          { cause: error },
        );
      }
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
