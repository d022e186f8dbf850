import type { KvKeyPart } from "./kv_store.ts";

/** The keys of one session. */
export interface SessionKeys {
  /** Where the journal ends. */
  readonly head: readonly KvKeyPart[];
  /** Number of the newest checkpoint. */
  readonly checkpoint: readonly KvKeyPart[];
  /** What the keys of all lines begin with. */
  readonly lines: readonly KvKeyPart[];
  /** A line. */
  line(revision: number): readonly KvKeyPart[];
  /** A part of a long line. */
  part(digest: Uint8Array, index: number): readonly KvKeyPart[];
}

// A key may have 2048 bytes, and a null counts as two.
const maxIdBytes = 1_200;
const maxKeyPartBytes = 1_800;

/** The keys of a session behind a prefix. */
export async function sessionKeys(
  prefix: readonly KvKeyPart[],
  sessionId: string,
): Promise<SessionKeys> {
  const base = [...prefix, await keyPart(sessionId)];
  const lines = [...base, "line"];
  return {
    head: [...base, "head"],
    checkpoint: [...base, "checkpoint"],
    lines,
    line: (revision) => [...lines, revision],
    part: (digest, index) => [...base, "part", digest, index],
  };
}

// Bytes and texts are never equal as parts of keys, so the digest of a long id cannot meet a short one.
async function keyPart(sessionId: string): Promise<KvKeyPart> {
  const bytes = new TextEncoder().encode(sessionId);
  const nullCount = bytes.filter((byte) => byte === 0).length;
  const isShort = bytes.length <= maxIdBytes &&
    bytes.length + nullCount <= maxKeyPartBytes;
  return isShort ? sessionId : await digestOf(bytes);
}

/** SHA-256. */
export async function digestOf(
  bytes: Uint8Array<ArrayBuffer>,
): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
}
