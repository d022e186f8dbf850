import * as fs from "node:fs";
import { open } from "node:fs/promises";
import { homedir } from "node:os";
import { env } from "node:process";
import {
  type JournalFile,
  type JournalFiles,
  type JournalFileStatus,
  requireRoot,
} from "../../src/session/journal_files.ts";

/**
 * Journals in a directory, through `node:fs`.
 *
 * @param root The directory; `~` at its start is the home directory.
 * @throws {TypeError} Not a string. @throws {RangeError} Blank.
 */
export function nodeJournalFiles(root: string): JournalFiles {
  requireRoot(root);
  const directory = expandHome(root);
  const pathOf = (name: string) => `${directory}/${name}`;
  return {
    makeDirectory() {
      fs.mkdirSync(directory, { recursive: true });
      return fs.realpathSync(directory);
    },
    status: (name) => statusOf(pathOf(name)),
    openToRead: (name) => unlessMissing(() => openFile(pathOf(name), "r")),
    openToAppend: (name) => openFile(pathOf(name), "a+"),
    async syncDirectory() {
      const opened = await open(directory);
      try {
        await opened.sync();
      } finally {
        await opened.close();
      }
    },
  };
}

function expandHome(path: string): string {
  return path === "~" || path.startsWith("~/")
    ? (env.HOME ?? homedir()) + path.slice(1)
    : path;
}

function statusOf(path: string): JournalFileStatus | null {
  const status = fs.statSync(path, { throwIfNoEntry: false });
  if (status === undefined) return null;
  return {
    identity: `${status.dev}:${status.ino}`,
    sizeBytes: status.size,
    modifiedMs: status.mtimeMs,
  };
}

// The system answers all but reads and syncs from memory, at once; going
// through the thread pool would cost ten times as much.
function openFile(path: string, flags: "r" | "a+"): JournalFile {
  const descriptor = fs.openSync(path, flags, 0o600);
  return {
    read: (into, position) =>
      promised((done) => {
        fs.read(descriptor, into, 0, into.length, position, done);
      }),
    write: (bytes) => fs.writeSync(descriptor, bytes),
    truncate: (sizeBytes) => fs.ftruncateSync(descriptor, sizeBytes),
    sync: () => promised((done) => fs.fsync(descriptor, done)),
    close: () => fs.closeSync(descriptor),
  };
}

/** What `util.promisify` does, for a value that comes with the first argument after the error. */
function promised<T>(
  start: (done: (error: Error | null, value: T) => void) => void,
): Promise<T> {
  return new Promise((resolve, reject) => {
    start((error, value) => error === null ? resolve(value) : reject(error));
  });
}

function unlessMissing<T>(look: () => T): T | null {
  try {
    return look();
  } catch (error) {
    if ((error as { code?: unknown }).code === "ENOENT") return null;
    throw error;
  }
}
