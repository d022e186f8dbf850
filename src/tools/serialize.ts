/**
 * Turns the data of an outcome into the text that the model reads.
 *
 * A text stays as it is, nothing at all becomes `null`, everything else compact
 * JSON. What JSON does not know is written as its nearest relative: a bigint in
 * decimal, a set as an array, a map as an object (as pairs unless all its keys
 * are texts), an error as its name and message, bytes in base64, a number that
 * is not finite as `null`; functions and symbols are left out.
 *
 * @throws {TypeError} The data hold a cycle, or reading them fails.
 */
export function serializeToolResult(data: unknown): string {
  if (typeof data === "string") return wellFormed(data);
  if (typeof data === "bigint") return data.toString();
  try {
    return JSON.stringify(data, replaceMember) ?? "null";
  } catch (cause) {
    throw new TypeError("tool result cannot be serialised to JSON", { cause });
  }
}

/** Brings one value closer to JSON; its members are left as they are. */
export function toJsonRelative(value: unknown): unknown {
  if (typeof value === "bigint") return value.toString();
  if (typeof value !== "object" || value === null) return value;
  if (value instanceof Map) {
    const pairs = [...value];
    return pairs.every(([key]) => typeof key === "string")
      ? Object.fromEntries(pairs)
      : pairs;
  }
  if (value instanceof Set) return [...value];
  if (value instanceof Error) {
    return { name: value.name, message: value.message };
  }
  if (value instanceof ArrayBuffer) return toBase64(new Uint8Array(value));
  if (ArrayBuffer.isView(value)) {
    return toBase64(
      new Uint8Array(value.buffer, value.byteOffset, value.byteLength),
    );
  }
  return value;
}

// The holder still has the value before its toJSON, which for errors of some
// libraries would spill request headers and for buffers is a list of numbers.
function replaceMember(this: unknown, key: string, value: unknown): unknown {
  const original = (this as Record<string, unknown>)[key];
  const relative = toJsonRelative(original);
  return relative === original ? value : relative;
}

/** Half a surrogate pair cannot be encoded; providers refuse the request. */
function wellFormed(text: string): string {
  return text.replace(/\p{Surrogate}/gu, "\uFFFD");
}

function toBase64(bytes: Uint8Array): string {
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary);
}
