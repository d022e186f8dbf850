import { createRequire } from "node:module";
import { platform } from "node:process";
import type { FileLocks } from "../../src/session/file_lock.ts";
import { descriptorLocks, flockLocker } from "../node/file_lock.ts";

/** What is used of `bun:ffi`, whose types only Bun has. */
interface Ffi {
  dlopen(library: string, symbols: {
    flock: { args: ["i32", "i32"]; returns: "i32" };
  }): { symbols: { flock(descriptor: number, operation: number): number } };
}

/** The kernel's locks through Bun's foreign functions; null where there is no `flock`. */
export function bunLocks(): FileLocks | null {
  // Only Bun knows this module, so no other runtime may meet an import of it.
  const ffi: Ffi = createRequire(import.meta.url)("bun:ffi");
  for (const library of cLibraries()) {
    try {
      const { symbols } = ffi.dlopen(library, {
        flock: { args: ["i32", "i32"], returns: "i32" },
      });
      return descriptorLocks(flockLocker(symbols.flock));
    } catch {
      // The next name may be the right one.
    }
  }
  return null;
}

/** Names that the C library may have, glibc before musl. */
function cLibraries(): readonly string[] {
  return platform === "darwin"
    ? ["libSystem.B.dylib"]
    : ["libc.so.6", "libc.musl-x86_64.so.1", "libc.musl-aarch64.so.1"];
}
