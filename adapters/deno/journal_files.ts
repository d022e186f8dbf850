import type { FileLocks } from "../../src/session/file_lock.ts";
import {
  type JournalFile,
  type JournalFiles,
  type JournalFileStatus,
  requireRoot,
} from "../../src/session/journal_files.ts";

/**
 * Journals in a directory, through Deno's file functions.
 *
 * @param root The directory; `~` at its start is the home directory.
 * @throws {TypeError} Not a string. @throws {RangeError} Blank.
 */
export function denoJournalFiles(root: string): JournalFiles {
  requireRoot(root);
  const directory = expandHome(root);
  const pathOf = (name: string) => `${directory}/${name}`;
  return {
    makeDirectory() {
      Deno.mkdirSync(directory, { recursive: true });
      return Deno.realPathSync(directory);
    },
    status: (name) => unlessMissing(() => statusOf(pathOf(name))),
    openToRead: (name) =>
      unlessMissing(() => openFile(pathOf(name), { read: true })),
    openToAppend: (name) =>
      openFile(pathOf(name), {
        read: true,
        append: true,
        create: true,
        mode: 0o600,
      }),
    async syncDirectory() {
      const opened = await Deno.open(directory);
      try {
        await opened.sync();
      } finally {
        opened.close();
      }
    },
  };
}

/** The kernel's locks, through Deno. */
export const denoLocks: FileLocks = Object.freeze({
  kind: "flock",
  open(path: string) {
    const file = Deno.openSync(path, {
      read: true,
      write: true,
      create: true,
      mode: 0o600,
    });
    return {
      // Not lock(): that one cannot be given up while it waits.
      tryLock: () => file.tryLockSync(true),
      unlock: () => file.unlockSync(),
      close: () => file.close(),
    };
  },
});

function expandHome(path: string): string {
  if (path !== "~" && !path.startsWith("~/")) return path;
  const home = Deno.env.get("HOME");
  return home === undefined ? path : home + path.slice(1);
}

function statusOf(path: string): JournalFileStatus {
  const { dev, ino, size, mtime } = Deno.statSync(path);
  return {
    identity: `${dev}:${ino}`,
    sizeBytes: size,
    modifiedMs: mtime?.getTime() ?? 0,
  };
}

// The system answers all but reads and syncs from memory, at once; going
// through the thread pool would cost ten times as much.
function openFile(path: string, options: Deno.OpenOptions): JournalFile {
  const file = Deno.openSync(path, options);
  return {
    async read(into, position) {
      file.seekSync(position, Deno.SeekMode.Start);
      return await file.read(into) ?? 0;
    },
    write: (bytes) => file.writeSync(bytes),
    truncate: (sizeBytes) => file.truncateSync(sizeBytes),
    sync: () => file.sync(),
    close: () => file.close(),
  };
}

function unlessMissing<T>(look: () => T): T | null {
  try {
    return look();
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  }
}
