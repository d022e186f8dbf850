import { bunLocks } from "../../adapters/bun/file_lock.ts";
import { denoLocks } from "../../adapters/deno/journal_files.ts";
import { nodeFlock } from "../../adapters/node/file_lock.ts";
import {
  flockHelper,
  perlHelper,
  shellHelper,
} from "../../adapters/node/flock_child.ts";
import { leaseLocks } from "../../adapters/node/lease.ts";
import type { FileLocks } from "../../src/session/file_lock.ts";
import { runtime } from "../support/runtime.ts";

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
