import { requireText, requireType } from "../base/require.ts";

/** What is known about a file without opening it. */
export interface JournalFileStatus {
  /** Which file it is: equal as long as the file is not replaced by another. */
  readonly identity: string;
  /** Length in bytes. */
  readonly sizeBytes: number;
  /** When its content last changed, in milliseconds since the epoch. */
  readonly modifiedMs: number;
}

/** A file that is open for reading. */
export interface JournalFileReader {
  /**
   * Reads bytes at a position.
   *
   * @param into Filled from its start.
   * @param position Byte of the file to begin with.
   * @returns How many bytes were read, at most the length of `into`; 0 at the end of the file.
   */
  read(into: Uint8Array, position: number): number | Promise<number>;
  /** Closes the file. */
  close(): void | Promise<void>;
}

/** A file that is open for reading and appending. */
export interface JournalFile extends JournalFileReader {
  /** Appends bytes with one call of the system. @returns How many were written, maybe too few. */
  write(bytes: Uint8Array): number | Promise<number>;
  /** Cuts the file to a length in bytes. */
  truncate(sizeBytes: number): void | Promise<void>;
  /** Resolves when everything written survives a power loss. */
  sync(): void | Promise<void>;
}

/**
 * The directory that holds the journals of one storage.
 *
 * The engine awaits each call before it makes the next one on the same file.
 * Whatever the platform throws becomes the cause of a
 * {@linkcode SessionStorageError}. Calls that the system answers from memory may
 * be synchronous; reads and syncs should not be.
 */
export interface JournalFiles {
  /** Creates the directory with its parents if missing. @returns Its real path. */
  makeDirectory(): string | Promise<string>;
  /** Looks a file up by name; null if it or the directory is missing. */
  status(
    name: string,
  ): JournalFileStatus | null | Promise<JournalFileStatus | null>;
  /** Opens a file for reading; null if it or the directory is missing. */
  openToRead(
    name: string,
  ): JournalFileReader | null | Promise<JournalFileReader | null>;
  /** Opens a file for reading and appending; created with mode 0600 if missing. */
  openToAppend(name: string): JournalFile | Promise<JournalFile>;
  /** Resolves when names of files that were created survive a power loss. */
  syncDirectory(): void | Promise<void>;
}

/**
 * Checks the path of a directory of journals.
 *
 * @throws {TypeError} Not a string. @throws {RangeError} Blank.
 */
export function requireRoot(root: unknown): void {
  requireType(
    typeof root === "string",
    "root",
    "the path of a directory, a string",
  );
  requireText("root", root);
}
