import { SessionSerializationError } from "./errors.ts";

/** The branch that every session has. */
export const DEFAULT_SESSION_BRANCH = "main";

// File names depend on this set. It is the white space of Python's strip(),
// which has U+001C to U+001F and U+0085 and lacks U+FEFF, unlike that of trim().
const blanks = "\t\n\v\f\r\x1c\x1d\x1e\x1f \x85\xa0\u1680" +
  "\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a" +
  "\u2028\u2029\u202f\u205f\u3000";

/**
 * Checks the id of a session, branch, agent or run and trims it.
 *
 * @throws {TypeError} Not a string. @throws {RangeError} Blank.
 */
export function requireId(name: string, value: unknown): string {
  if (typeof value !== "string") {
    throw new TypeError(`${name} must be a string`);
  }
  const trimmed = trim(value);
  if (trimmed === "") throw new RangeError(`${name} must not be blank`);
  return trimmed;
}

/** True for a text of which trimming leaves nothing: it names nothing. */
export function isBlank(text: string): boolean {
  return leadingBlankCount(text) === text.length;
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

/**
 * Checks the id of a record and trims it.
 *
 * @throws {SessionSerializationError} It has a lone surrogate or a U+0000, which
 * some media keep as something else.
 */
export function requireRecordId(value: unknown): string {
  const id = requireId("recordId", value);
  if (!isWellFormed(id) || id.includes("\0")) {
    throw new SessionSerializationError(
      "The record id holds a lone surrogate or U+0000 and cannot be stored",
    );
  }
  return id;
}

/** True for an id as `randomIds` makes them: of these alone it is sure that they never come again. */
export function isRandomId(id: string): boolean {
  return /^[0-9a-f]{12}4[0-9a-f]{19}$/.test(id);
}

/** Checks the name of a branch and trims it; `main` if it is omitted. */
export function requireBranchId(
  value: unknown = DEFAULT_SESSION_BRANCH,
  name = "branchId",
): string {
  return requireId(name, value);
}

/** True for the branch that every session has. */
export function isMain(branchId: string): boolean {
  return branchId === DEFAULT_SESSION_BRANCH;
}

function leadingBlankCount(text: string): number {
  let count = 0;
  while (count < text.length && blanks.includes(text.charAt(count))) count++;
  return count;
}

function trim(text: string): string {
  const start = leadingBlankCount(text);
  let end = text.length;
  while (start < end && blanks.includes(text.charAt(end - 1))) end--;
  return text.slice(start, end);
}

function isWellFormed(text: string): boolean {
  return !/\p{Surrogate}/u.test(text);
}
