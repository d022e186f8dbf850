import { requireObject } from "../../src/base/require.ts";
import {
  FileJournal,
  type FileJournalOptions,
} from "../../src/session/file_journal.ts";
import type { FileLockKind } from "../../src/session/file_lock.ts";
import type { JournalStorageOptions } from "../../src/session/storage.ts";
import { JournalTreeStorage } from "../../src/session/tree_storage.ts";
import { denoJournalFiles, denoLocks } from "./journal_files.ts";

/** How a {@linkcode JsonlSessionStorage} works. */
export interface JsonlSessionStorageOptions
  extends JournalStorageOptions, FileJournalOptions {}

/**
 * Sessions in files of one JSON record a line, one file a session.
 *
 * Several programs on one machine may use a directory at the same time, the
 * Python implementation included: a writer holds the kernel's lock of its session
 * for one append, and a process that dies leaves it free. Network file systems
 * promise less and are not supported. Needs permission to read and write the
 * directory; it is created by the first append.
 *
 * @example Keep a session on disk
 * ```ts
 * import { AgentSession } from "@ejagent/core/session";
 * import { JsonlSessionStorage } from "@ejagent/core/deno";
 * import { equal } from "node:assert/strict";
 *
 * const storage = new JsonlSessionStorage(await Deno.makeTempDir());
 * await storage.save(new AgentSession("chat-1", "assistant"));
 * equal((await storage.load("chat-1"))?.agentId, "assistant");
 * await storage.close();
 * ```
 */
export class JsonlSessionStorage extends JournalTreeStorage {
  /** What keeps the writers apart: always the kernel's `flock`. */
  readonly lock: { readonly kind: FileLockKind };

  /**
   * Opens nothing yet: files and locks are opened by the calls that need them.
   *
   * @param root The directory of the files; `~` at its start is the home directory.
   * @throws {TypeError} The root is no string, or an option has the wrong type.
   * @throws {RangeError} The root is blank, or an option is out of range.
   */
  constructor(root: string, options: JsonlSessionStorageOptions = {}) {
    const journal = new FileJournal(denoJournalFiles(root), {
      ...requireObject("The options", options),
      locks: denoLocks,
    });
    super(journal, options);
    this.lock = journal.lock;
  }
}
