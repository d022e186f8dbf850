import { isJsonObject } from "../base/json.ts";

/**
 * Decodes the arguments of a call. Blank text counts as no arguments.
 *
 * @returns A fresh object; a key `__proto__` is an ordinary member of it.
 * @throws {TypeError} The text is not the JSON of an object. The message is
 * fixed, since engines quote the text in theirs.
 */
export function decodeArguments(text: string): Record<string, unknown> {
  if (text.trim() === "") return {};
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new TypeError("arguments are not valid JSON");
  }
  if (!isJsonObject(value)) {
    throw new TypeError("arguments must be a JSON object");
  }
  return value;
}
