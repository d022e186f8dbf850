import type { Clock } from "../../src/base/ports.ts";
import { SessionStorageError } from "../../src/session/errors.ts";
import { commitPatiently } from "./commit.ts";
import { digestOf, type SessionKeys } from "./keys.ts";
import type { KvStore } from "./kv_store.ts";

/** Where the parts of a long line are. */
export interface StoredParts {
  /** SHA-256 of the line. */
  readonly digest: Uint8Array;
  /** How many there are. */
  readonly partCount: number;
}

/** Where parts are stored, and what measures the pauses. */
export interface PartPlace {
  /** The database. */
  readonly kv: KvStore;
  /** Names a part. */
  readonly part: SessionKeys["part"];
  /** Measures the pauses while the file is locked. */
  readonly clock: Clock;
}

// A commit may have 819 200 bytes.
const maxPartBytes = 60_000;
const partsPerCommit = 12;

/**
 * Stores bytes in parts, to which nothing leads yet.
 *
 * The parts are named by their content: whoever stores the same line again, at
 * whatever time, changes nothing.
 */
export async function storeParts(
  bytes: Uint8Array<ArrayBuffer>,
  { kv, part, clock }: PartPlace,
): Promise<StoredParts> {
  const digest = await digestOf(bytes);
  const partCount = Math.ceil(bytes.length / maxPartBytes);
  for (let first = 0; first < partCount; first += partsPerCommit) {
    const end = Math.min(first + partsPerCommit, partCount);
    await commitPatiently(() => {
      const operation = kv.atomic();
      for (let index = first; index < end; index++) {
        const from = index * maxPartBytes;
        const value = bytes.slice(from, from + maxPartBytes);
        operation.set(part(digest, index), value);
      }
      return operation;
    }, clock);
  }
  return { digest, partCount };
}

/** Joins the parts again. @throws {SessionStorageError} One is missing. */
export async function readParts(
  kv: KvStore,
  part: SessionKeys["part"],
  { digest, partCount }: StoredParts,
): Promise<Uint8Array> {
  const start = part(digest, 0);
  const parts: Uint8Array[] = [];
  for await (
    const { value } of kv.list({ prefix: start.slice(0, -1), start })
  ) {
    parts.push(value as Uint8Array);
  }
  if (parts.length !== partCount) {
    throw new SessionStorageError(
      `A long line has ${parts.length} of ${partCount} parts; restore the database`,
    );
  }
  return joined(parts);
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(
    parts.reduce((length, part) => length + part.length, 0),
  );
  let end = 0;
  for (const part of parts) {
    bytes.set(part, end);
    end += part.length;
  }
  return bytes;
}
