import { bunLocks } from "../../adapters/bun/file_lock.ts";
import { JsonlSessionStorage as BunStorage } from "../../adapters/bun/session_storage.ts";
import { denoLocks } from "../../adapters/deno/journal_files.ts";
import { JsonlSessionStorage as DenoStorage } from "../../adapters/deno/session_storage.ts";
import { nodeFlock } from "../../adapters/node/file_lock.ts";
import {
  flockHelper,
  perlHelper,
  shellHelper,
} from "../../adapters/node/flock_child.ts";
import { leaseLocks } from "../../adapters/node/lease.ts";
import { JsonlSessionStorage as NodeStorage } from "../../adapters/node/session_storage.ts";
import type { FileJournalOptions } from "../../src/session/file_journal.ts";
import type { FileLocks } from "../../src/session/file_lock.ts";
import { journalFileName } from "../../src/session/jsonl.ts";
import type { JournalStorageOptions } from "../../src/session/storage.ts";
import type { JournalTreeStorage } from "../../src/session/tree_storage.ts";
import { runtime } from "../support/runtime.ts";

type StorageOptions = JournalStorageOptions & FileJournalOptions;

/** The implementations of locks, by the names that the programs take as an argument. */
export type LockName = "deno" | "bun" | "koffi" | "perl" | "shell" | "lease";

/** Locks of one implementation. */
export async function locksNamed(name: LockName): Promise<FileLocks> {
  const locks = await findLocks(name);
  if (locks === null) throw new Error(`There are no locks "${name}" here`);
  return locks;
}

async function findLocks(name: LockName): Promise<FileLocks | null> {
  switch (name) {
    case "deno":
      return denoLocks;
    case "bun":
      return bunLocks();
    case "koffi": {
      const specifier = "koffi"; // not a literal: the Worker bundle must not resolve it
      return nodeFlock((await import(specifier)).default);
    }
    case "perl":
      return flockHelper([perlHelper]);
    case "shell":
      return flockHelper([shellHelper]);
    case "lease":
      return leaseLocks();
  }
}

/** What the runtime at hand can lock with, other programs included. */
export const flocksHere: readonly LockName[] = runtime === "deno"
  ? ["deno"]
  : runtime === "bun"
  ? ["bun", "perl"]
  : ["koffi", "perl", "shell"];

/**
 * A storage of the runtime at hand.
 *
 * @param lock Other locks than the runtime would choose.
 */
export async function openStorage(
  root: string,
  { lock, ...options }: StorageOptions & { readonly lock?: LockName } = {},
): Promise<JournalTreeStorage> {
  if (lock !== undefined) {
    return new NodeStorage(root, { ...options, lock: await locksNamed(lock) });
  }
  switch (runtime) {
    case "deno":
      return new DenoStorage(root, options);
    case "bun":
      return new BunStorage(root, options);
    default:
      return new NodeStorage(root, options);
  }
}

/** The files of a session, as paths. */
export async function pathsOf(
  root: string,
  sessionId: string,
): Promise<{ readonly journal: string; readonly lock: string }> {
  const journal = `${root}/${await journalFileName(sessionId)}`;
  return { journal, lock: `${journal}.lock` };
}
