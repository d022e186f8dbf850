/**
 * Fixture data is JSON under `tests/fixtures/`, imported by the test that reads it:
 *
 * ```ts ignore
 * import streams from "../fixtures/wire/openai_streams.json" with { type: "json" };
 * const { fixtures } = fixture<WireStreams>(streams);
 * ```
 *
 * Such an import works on every runtime and ends up inside the Worker bundle, where no file can be read.
 *
 * @module
 */

/** A copy of imported JSON under the type the test knows it has, so that no test sees another's changes. */
export function fixture<T>(imported: unknown): T {
  return structuredClone(imported) as T;
}

/** The bytes of a base64 text: how fixtures carry what is not valid UTF-8. */
export function base64Bytes(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}
