import type { FileLock, FileLocks } from "../../src/session/file_lock.ts";
import type {
  JournalFile,
  JournalFiles,
  JournalFileStatus,
} from "../../src/session/journal_files.ts";

/** A step that can be made to fail. */
export type FakeStep =
  | "makeDirectory"
  | "openToAppend"
  | "write"
  | "truncate"
  | "sync"
  | "syncDirectory";

/** A directory in memory that counts what is done to it and fails on demand. */
export class FakeDirectory implements JournalFiles {
  /** What happened, in order; reads with the number of bytes. */
  readonly log: string[] = [];
  /** How many files are open. */
  openCount = 0;
  /** How many of the bytes of the next write fit on the disk. */
  room: number = Infinity;
  readonly #files = new Map<string, FakeFile>();
  readonly #faults = new Map<FakeStep, Error>();
  #ticks = 0;

  /** Makes a step fail until {@linkcode heal}. */
  fail(step: FakeStep, error: Error = new Error(`${step} failed`)): void {
    this.#faults.set(step, error);
  }

  heal(): void {
    this.#faults.clear();
    this.room = Infinity;
  }

  /** Names of the files. */
  get names(): string[] {
    return [...this.#files.keys()];
  }

  /** The only file, or the named one. */
  bytes(name: string = this.names[0]!): Uint8Array {
    const file = this.#files.get(name);
    if (file === undefined) throw new Error(`There is no file ${name}`);
    return file.bytes.slice(0, file.size);
  }

  text(name?: string): string {
    return new TextDecoder().decode(this.bytes(name));
  }

  /** Gives a file other content in place, as a process that knows no locks would. */
  put(name: string, content: Uint8Array | string): void {
    const file = this.#file(name);
    file.size = 0;
    this.#append(file, encoded(content));
  }

  /** Replaces a file by another one of the same name. */
  replace(name: string, content: Uint8Array | string): void {
    this.#files.delete(name);
    this.put(name, content);
  }

  remove(name: string): void {
    this.#files.delete(name);
  }

  makeDirectory(): string {
    this.#step("makeDirectory");
    return "/journals";
  }

  status(name: string): JournalFileStatus | null {
    this.log.push("status");
    const file = this.#files.get(name);
    if (file === undefined) return null;
    const { identity, size, modifiedMs } = file;
    return { identity, sizeBytes: size, modifiedMs };
  }

  openToRead(name: string): JournalFile | null {
    const file = this.#files.get(name);
    return file === undefined ? null : this.#open(file);
  }

  openToAppend(name: string): JournalFile {
    this.#step("openToAppend");
    return this.#open(this.#file(name));
  }

  syncDirectory(): void {
    this.#step("syncDirectory");
  }

  #open(file: FakeFile): JournalFile {
    this.openCount++;
    return {
      read: async (into, position) => {
        await Promise.resolve();
        const found = file.bytes.subarray(position, file.size);
        const taken = found.subarray(0, into.length);
        into.set(taken);
        this.log.push(`read ${taken.length}`);
        return taken.length;
      },
      write: (bytes) => {
        const fitting = bytes.subarray(0, this.room);
        this.#append(file, fitting);
        this.#step("write");
        return fitting.length;
      },
      truncate: (sizeBytes) => {
        this.#step("truncate");
        file.size = Math.min(file.size, sizeBytes);
        file.modifiedMs = ++this.#ticks;
      },
      sync: () => this.#step("sync"),
      close: () => void this.openCount--,
    };
  }

  #file(name: string): FakeFile {
    let file = this.#files.get(name);
    if (file === undefined) {
      const identity = `1:${++this.#ticks}`;
      file = { identity, bytes: new Uint8Array(64), size: 0, modifiedMs: 0 };
      this.#files.set(name, file);
    }
    return file;
  }

  #append(file: FakeFile, added: Uint8Array): void {
    const size = file.size + added.length;
    if (size > file.bytes.length) {
      const grown = new Uint8Array(size * 2);
      grown.set(file.bytes.subarray(0, file.size));
      file.bytes = grown;
    }
    file.bytes.set(added, file.size);
    file.size = size;
    file.modifiedMs = ++this.#ticks;
  }

  #step(step: FakeStep): void {
    this.log.push(step);
    const fault = this.#faults.get(step);
    if (fault !== undefined) throw fault;
  }
}

interface FakeFile {
  readonly identity: string;
  bytes: Uint8Array;
  size: number;
  modifiedMs: number;
}

/** Locks like the kernel's, with another process that can hold them. */
export class FakeLocks implements FileLocks {
  readonly kind: FileLocks["kind"];
  /** Paths of the locks that another process holds. */
  readonly foreign: Set<string> = new Set<string>();
  /** Every attempt, in order. */
  readonly attempts: string[] = [];
  /** How many locks are open. */
  openCount = 0;
  /** What the locks say about being held still; undefined for locks that cannot be lost. */
  stillHeld: boolean | undefined;
  readonly #held = new Set<string>();

  constructor(kind: FileLocks["kind"] = "flock") {
    this.kind = kind;
  }

  /** Paths of the locks that are held by us. */
  get held(): readonly string[] {
    return [...this.#held];
  }

  open(path: string): FileLock {
    this.openCount++;
    const held = () => this.stillHeld!;
    return {
      tryLock: () => {
        this.attempts.push(path);
        if (this.foreign.has(path) || this.#held.has(path)) return false;
        this.#held.add(path);
        return true;
      },
      unlock: () => void this.#held.delete(path),
      close: () => void this.openCount--,
      ...(this.stillHeld !== undefined && { held }),
    };
  }
}

function encoded(content: Uint8Array | string): Uint8Array {
  return typeof content === "string"
    ? new TextEncoder().encode(content)
    : content;
}
