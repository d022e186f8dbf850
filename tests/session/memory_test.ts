import { MemoryJournal } from "../../src/session/memory.ts";
import { JournalTreeStorage } from "../../src/session/tree_storage.ts";
import { journalContract } from "../../src/testing/journal_contract.ts";
import { storageContract } from "../../src/testing/storage_contract.ts";
import { test } from "../support/suite.ts";

const journals = journalContract(() => ({ backend: new MemoryJournal() }));
for (const { name, run } of journals) {
  test(`journals in memory: ${name}`, { case: "SE-N-01" }, run);
}

const storages = storageContract(() => {
  const journal = new MemoryJournal();
  return {
    storage: new JournalTreeStorage(journal),
    reopen: () => new JournalTreeStorage(journal),
  };
});
for (const { name, run } of storages) {
  test(`sessions in memory: ${name}`, { case: "SE-N-01" }, run);
}
