import type { ContractCase } from "./contract.ts";
import { journalPromises } from "./journal_promises.ts";
import type { JournalUnderTest } from "./journal_subject.ts";

/**
 * The promises of {@linkcode JournalBackend}, as cases for any test runner.
 *
 * @param make Makes a backend on a fresh medium, once per case.
 *
 * @example Register the cases with a runner
 * ```ts ignore
 * import { MemoryJournal } from "@ejagent/core";
 * import { journalContract } from "@ejagent/core/testing";
 * import test from "node:test";
 *
 * for (const { name, run } of journalContract(() => ({ backend: new MemoryJournal() }))) {
 *   test(`memory: ${name}`, run);
 * }
 * ```
 */
export function journalContract(
  make: () => JournalUnderTest | Promise<JournalUnderTest>,
): readonly ContractCase[] {
  return Object.entries(journalPromises).map(([name, check]) => ({
    name,
    async run() {
      const journal = await make();
      try {
        await check(journal);
      } finally {
        await journal.close?.();
      }
    },
  }));
}
