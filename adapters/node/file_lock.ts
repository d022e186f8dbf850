import * as fs from "node:fs";
import type { FileLocks } from "../../src/session/file_lock.ts";
import { flockHelper } from "./flock_child.ts";
import { leaseLocks } from "./lease.ts";

/** What is used of the npm package `koffi`. */
export interface Koffi {
  /** Loads a library; null is the program itself, which has the C library. */
  load(path: null): {
    /** Finds a function by its C declaration. */
    func(declaration: string): (...args: unknown[]) => unknown;
  };
}

/** What is used of the npm package `fs-ext` and those that are made like it. */
export interface FsExt {
  /** Applies a lock operation to a descriptor; throws if it is refused. */
  flockSync(descriptor: number, operation: "exnb" | "un"): void;
}

/**
 * The kernel's locks through a native package that the application brings.
 *
 * Node has no `flock` of its own. With one injected an append needs no helper
 * process.
 *
 * @param library `koffi`, or `fs-ext` and its likes.
 * @returns The `lock` option of `JsonlSessionStorage`.
 *
 * @example Bring koffi
 * ```ts ignore
 * import koffi from "koffi";
 * import { JsonlSessionStorage, nodeFlock } from "@ejagent/core/node";
 *
 * const storage = new JsonlSessionStorage("sessions", { lock: nodeFlock(koffi) });
 * ```
 */
export function nodeFlock(library: Koffi | FsExt): FileLocks {
  return descriptorLocks(
    "load" in library ? koffiLocker(library) : fsExtLocker(library),
  );
}

/**
 * The best locks that need nothing injected: the kernel's through a helper
 * process, else leases.
 */
export function defaultLocks(): FileLocks {
  return flockHelper() ?? leaseLocks();
}

/** Locks and unlocks an open file without waiting. */
export interface DescriptorLocker {
  /** @returns False while another open file has the lock. */
  tryLock(descriptor: number): boolean;
  unlock(descriptor: number): void;
}

/** Locks on files that this process opens itself. */
export function descriptorLocks(locker: DescriptorLocker): FileLocks {
  return Object.freeze({
    kind: "flock",
    open(path: string) {
      const descriptor = fs.openSync(
        path,
        fs.constants.O_RDWR | fs.constants.O_CREAT,
        0o600,
      );
      return {
        tryLock: () => locker.tryLock(descriptor),
        unlock: () => locker.unlock(descriptor),
        close: () => fs.closeSync(descriptor),
      };
    },
  });
}

/** A locker over the C function `flock`. */
export function flockLocker(
  flock: (descriptor: number, operation: number) => unknown,
): DescriptorLocker {
  const exclusive = 2, nonBlocking = 4, unlock = 8; // the same on Linux, macOS and the BSDs
  return {
    tryLock: (descriptor) => flock(descriptor, exclusive | nonBlocking) === 0,
    unlock: (descriptor) => void flock(descriptor, unlock),
  };
}

function koffiLocker(koffi: Koffi): DescriptorLocker {
  return flockLocker(
    koffi.load(null).func("int flock(int descriptor, int operation)"),
  );
}

function fsExtLocker(fsExt: FsExt): DescriptorLocker {
  const busy = ["EAGAIN", "EWOULDBLOCK", "EACCES"];
  return {
    tryLock(descriptor) {
      try {
        fsExt.flockSync(descriptor, "exnb");
        return true;
      } catch (error) {
        const { code } = error as { code?: string };
        if (code !== undefined && busy.includes(code)) return false;
        throw error;
      }
    },
    unlock: (descriptor) => fsExt.flockSync(descriptor, "un"),
  };
}
