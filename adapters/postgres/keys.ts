// An entry of an index has 2704 bytes at most, and one index has both keys.
const maxSessionBytes = 2_000;
const maxRecordBytes = 600;

// No other key of a session begins so, since "%" is escaped there.
const digestMark = "%sha256:";

/** The key of a session; PostgreSQL takes every character in a text but U+0000. */
export async function sessionKey(sessionId: string): Promise<string> {
  const text = sessionId.replaceAll("%", "%25").replaceAll("\0", "%00");
  return await shortened(text, maxSessionBytes);
}

/** The key of a record in its session. */
export async function recordKey(recordId: string): Promise<string> {
  // An id that looks like a digest must not be taken for one.
  return isDigest(recordId)
    ? await digestOf(recordId)
    : await shortened(recordId, maxRecordBytes);
}

/** True for the key of a record whose id is in the line alone. */
export function isDigest(key: string): boolean {
  return key.startsWith(digestMark);
}

async function shortened(text: string, maxBytes: number): Promise<string> {
  // A unit of a text has three bytes at most.
  const isShort = text.length * 3 <= maxBytes ||
    new TextEncoder().encode(text).length <= maxBytes;
  return isShort ? text : await digestOf(text);
}

async function digestOf(text: string): Promise<string> {
  const bytes = new TextEncoder().encode(text);
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  const hex = Array.from(digest, (byte) => byte.toString(16).padStart(2, "0"));
  return digestMark + hex.join("");
}
