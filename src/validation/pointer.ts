/** Writes one step of a JSON Pointer behind another pointer. @see RFC 6901 */
export function pointerTo(parent: string, token: string | number): string {
  return `${parent}/${escapeToken(String(token))}`;
}

/** The steps of a JSON Pointer; none for `""`. @see RFC 6901 */
export function pointerTokens(pointer: string): string[] {
  return pointer.split("/").slice(1).map(unescapeToken);
}

function escapeToken(token: string): string {
  return token.replaceAll("~", "~0").replaceAll("/", "~1");
}

function unescapeToken(token: string): string {
  return token.replaceAll("~1", "/").replaceAll("~0", "~");
}
