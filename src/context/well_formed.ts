import { setOwn } from "../base/freeze.ts";
import { isJsonObject } from "../base/json.ts";

const loneSurrogate = /\p{Surrogate}/u;
const loneSurrogates = /\p{Surrogate}/gu;

/** Of ES2024, so not in our language yet, but in every runtime; a fraction of the cost. */
type Text = string & { isWellFormed?(): boolean };

/** False if a text of a JSON value holds half of a surrogate pair; providers refuse such a request. */
export function isWellFormed(value: unknown): boolean {
  if (typeof value === "string") {
    return (value as Text).isWellFormed?.() ?? !loneSurrogate.test(value);
  }
  if (Array.isArray(value)) return value.every(isWellFormed);
  if (!isJsonObject(value)) return true;
  for (const key in value) {
    if (!isWellFormed(value[key])) return false;
  }
  return true;
}

/** The value itself, or a copy that has U+FFFD where it has halves of surrogate pairs. */
export function wellFormed(value: unknown): unknown {
  if (isWellFormed(value)) return value;
  if (typeof value === "string") return value.replace(loneSurrogates, "\ufffd");
  if (Array.isArray(value)) return value.map(wellFormed);
  const copy: Record<string, unknown> = {};
  for (const [key, member] of Object.entries(value as object)) {
    setOwn(copy, key, wellFormed(member));
  }
  return copy;
}
