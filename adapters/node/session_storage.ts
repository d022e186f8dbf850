import { requireObject } from "../../src/base/require.ts";
import {
  FileJournal,
  type FileJournalOptions,
} from "../../src/session/file_journal.ts";
import type { FileLockKind, FileLocks } from "../../src/session/file_lock.ts";
import type { JournalStorageOptions } from "../../src/session/storage.ts";
import { JournalTreeStorage } from "../../src/session/tree_storage.ts";
import { defaultLocks } from "./file_lock.ts";
import { nodeJournalFiles } from "./journal_files.ts";

/** How a {@linkcode JsonlSessionStorage} works. */
export interface JsonlSessionStorageOptions
  extends JournalStorageOptions, FileJournalOptions {
  /**
   * Locks of your own choice: `nodeFlock(koffi)`, or `processLocks` for a
   * directory that this process has to itself. Without it the kernel's locks are
   * used through a helper process (`perl`, or `sh` with `flock`), which costs each
   * append a fraction of a millisecond or some; where there is none, owner files are.
   */
  readonly lock?: FileLocks | undefined;
}

/**
 * Sessions in files of one JSON record a line, one file a session.
 *
 * Several programs on one machine may use a directory at the same time. Whether
 * those in other languages and runtimes are among them depends on `lock.kind`:
 * only `"flock"` is respected by all. A writer holds the lock of its session for
 * one append. Network file systems are not supported. The directory is created
 * by the first append.
 *
 * @example Keep a session on disk
 * ```ts ignore
 * import { AgentSession } from "@ejagent/core/session";
 * import { JsonlSessionStorage } from "@ejagent/core/node";
 *
 * const storage = new JsonlSessionStorage("sessions", { requireFlock: true });
 * await storage.save(new AgentSession("chat-1", "assistant"));
 * await storage.close();
 * ```
 */
export class JsonlSessionStorage extends JournalTreeStorage {
  /** What keeps the writers apart. */
  readonly lock: { readonly kind: FileLockKind };

  /**
   * Opens nothing yet: files and locks are opened by the calls that need them.
   *
   * @param root The directory of the files; `~` at its start is the home directory.
   * @throws {SessionUnsupportedError} `requireFlock` is set and there is no `flock`.
   * @throws {TypeError} The root is no string, or an option has the wrong type.
   * @throws {RangeError} The root is blank, or an option is out of range.
   */
  constructor(root: string, options: JsonlSessionStorageOptions = {}) {
    const journal = new FileJournal(nodeJournalFiles(root), {
      ...requireObject("The options", options),
      locks: options.lock ?? defaultLocks(),
    });
    super(journal, options);
    this.lock = journal.lock;
  }
}
