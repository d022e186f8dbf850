import type { ContractCase } from "./contract.ts";
import { branchingPromises } from "./storage_branching.ts";
import { readingPromises } from "./storage_reading.ts";
import type { StorageUnderTest } from "./storage_subject.ts";
import { writingPromises } from "./storage_writing.ts";

/**
 * What applications may expect of every storage over a journal, as cases for any
 * test runner.
 *
 * @param make Makes a storage on a fresh medium, once per case.
 *
 * @example Register the cases with a runner
 * ```ts ignore
 * import { MemorySessionStorage } from "@ejagent/core";
 * import { storageContract } from "@ejagent/core/testing";
 * import test from "node:test";
 *
 * for (const { name, run } of storageContract(() => ({ storage: new MemorySessionStorage() }))) {
 *   test(`memory: ${name}`, run);
 * }
 * ```
 */
export function storageContract(
  make: () => StorageUnderTest | Promise<StorageUnderTest>,
): readonly ContractCase[] {
  return Object.entries(promises).map(([name, check]) => ({
    name,
    async run() {
      const subject = await make();
      try {
        await check(subject);
      } finally {
        await subject.close?.();
      }
    },
  }));
}

const promises = {
  ...readingPromises,
  ...writingPromises,
  ...branchingPromises,
};
