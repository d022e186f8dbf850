/** The part of a Workers KV namespace that is used; a binding fits. */
export interface KvNamespace {
  /** Reads a text; null if there is none. */
  get(key: string): Promise<string | null>;
  /** Writes a text; the last writer wins. */
  put(key: string, value: string): Promise<void>;
  /** Lists names in order, up to a thousand at a time. */
  list(options: KvListOptions): Promise<KvList>;
}

/** Which names are listed. */
export interface KvListOptions {
  /** Beginning of the names. */
  readonly prefix: string;
  /** Where the last list ended. */
  readonly cursor?: string | null;
}

/** A part of a list. */
export interface KvList {
  /** The names. */
  readonly keys: readonly { readonly name: string }[];
  /** True if nothing follows. */
  readonly list_complete: boolean;
  /** Leads to what follows. */
  readonly cursor?: string;
}

/** All names that begin with a prefix, in order. */
export async function namesIn(
  kv: Pick<KvNamespace, "list">,
  prefix: string,
): Promise<string[]> {
  const names: string[] = [];
  let cursor: string | undefined;
  do {
    const list = await kv.list({ prefix, cursor: cursor ?? null });
    names.push(...list.keys.map(({ name }) => name));
    cursor = list.list_complete ? undefined : list.cursor;
  } while (cursor !== undefined);
  return names;
}

// A key may have 512 bytes, in which both ids have their places.
const maxSessionLength = 300;
const maxRecordLength = 150;

// No encoded id holds this sign.
const digestMark = "#";

/** A session id as part of a key; different ids never share one. */
export async function sessionKey(sessionId: string): Promise<string> {
  const encoded = encodeURIComponent(sessionId);
  return encoded.length <= maxSessionLength
    ? encoded
    : await digestKey(sessionId);
}

/** A record id as part of a key, without hyphens. */
export async function recordKey(recordId: string): Promise<string> {
  const encoded = encodeURIComponent(recordId).replaceAll("-", "%2D");
  return encoded.length <= maxRecordLength
    ? encoded
    : await digestKey(recordId);
}

/** The id in a part of a key; null if the part is a digest. */
export function idInKey(part: string): string | null {
  return part.startsWith(digestMark) ? null : decodeURIComponent(part);
}

async function digestKey(id: string): Promise<string> {
  const digest = await crypto.subtle.digest(
    "SHA-256",
    new TextEncoder().encode(id),
  );
  const hex = Array.from(
    new Uint8Array(digest),
    (byte) => byte.toString(16).padStart(2, "0"),
  );
  return digestMark + hex.join("");
}
