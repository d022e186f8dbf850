import { SessionSerializationError } from "./errors.ts";

/** The branch that every session has. */
export const DEFAULT_SESSION_BRANCH = "main";

// File names depend on this set. It is the white space of Python's strip(),
// which has U+001C to U+001F and U+0085 and lacks U+FEFF, unlike that of trim().
const blank =
  "[\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]";
const outerBlanks = new RegExp(`^${blank}+|${blank}+$`, "g");

/**
 * Checks the id of a session, branch, agent or run and trims it.
 *
 * @throws {TypeError} Not a string. @throws {RangeError} Blank.
 */
export function requireId(name: string, value: unknown): string {
  if (typeof value !== "string") {
    throw new TypeError(`${name} must be a string`);
  }
  const trimmed = value.replace(outerBlanks, "");
  if (trimmed === "") throw new RangeError(`${name} must not be blank`);
  return trimmed;
}

/**
 * Checks the id of a session and trims it.
 *
 * @throws {SessionSerializationError} It has a lone surrogate and so no UTF-8
 * form: different ids would share one journal.
 */
export function requireSessionId(value: unknown): string {
  const id = requireId("sessionId", value);
  if (!isWellFormed(id)) {
    throw new SessionSerializationError(
      "The session id holds a lone surrogate and cannot be stored",
    );
  }
  return id;
}

/** Checks the name of a branch and trims it; `main` if it is omitted. */
export function requireBranchId(
  value: unknown = DEFAULT_SESSION_BRANCH,
): string {
  return requireId("branchId", value);
}

function isWellFormed(text: string): boolean {
  return !/\p{Surrogate}/u.test(text);
}
