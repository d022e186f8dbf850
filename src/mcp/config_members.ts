import { isJsonObject } from "../base/json.ts";
import type { McpOAuthProvider } from "./oauth_provider.ts";

/** A server as it was written. */
export interface Source {
  /** Its name. */
  readonly name: string;
  /** Its members. */
  readonly input: Record<string, unknown>;
}

/** A member of a server. @throws {TypeError} It has the wrong type; the value is not told. */
export function memberOf<T>(
  { name, input }: Source,
  member: string,
  { expected, accepts }: MemberType<T>,
): T | undefined {
  const value = input[member];
  if (value === undefined || accepts(value)) return value;
  throw new TypeError(`MCP server "${name}": ${member} must be ${expected}`);
}

/** What a member may be. */
export interface MemberType<T> {
  /** In words. */
  readonly expected: string;
  /** True if a value is that. */
  readonly accepts: (value: unknown) => value is T;
}

/** A text. */
export const text: MemberType<string> = {
  expected: "a string",
  accepts: (value) => typeof value === "string",
};

/** A list of texts. */
export const texts: MemberType<readonly string[]> = {
  expected: "a list of strings",
  accepts: (value): value is readonly string[] =>
    Array.isArray(value) && value.every(text.accepts),
};

/** Texts by name. */
export const textMap: MemberType<Readonly<Record<string, string>>> = {
  expected: "an object of strings",
  accepts: (value): value is Readonly<Record<string, string>> =>
    isJsonObject(value) && Object.values(value).every(text.accepts),
};

/** A switch. */
export const flag: MemberType<boolean> = {
  expected: "true or false",
  accepts: (value) => typeof value === "boolean",
};

/** A time. */
export const milliseconds: MemberType<number> = {
  expected: "a number of milliseconds above 0",
  accepts: (value): value is number => typeof value === "number" && value > 0,
};

/** A text that names something. */
export const name: MemberType<string> = {
  expected: "a string that is not blank",
  accepts: (value): value is string =>
    text.accepts(value) && value.trim() !== "",
};

/** An address, unless variables are still to be filled in. */
export const address: MemberType<string | URL> = {
  expected: "an address that begins with http:// or https://",
  accepts: (value): value is string | URL =>
    value instanceof URL ? isHttp(value.href) : text.accepts(value) &&
      (hasVariables(value) || isHttp(value)),
};

/** Headers that HTTP can carry. */
export const headerMap: MemberType<Readonly<Record<string, string>>> = {
  expected: "an object of strings whose names and values HTTP allows",
  accepts: (value): value is Readonly<Record<string, string>> =>
    textMap.accepts(value) && Object.entries(value).every(isHeader),
};

/** What the SDK calls of a provider in any case. */
export const provider: MemberType<McpOAuthProvider> = {
  expected: "an object with the functions of McpOAuthProvider",
  accepts: (value): value is McpOAuthProvider =>
    [
      "clientInformation",
      "tokens",
      "saveTokens",
      "redirectToAuthorization",
      "saveCodeVerifier",
      "codeVerifier",
    ].every((method) => typeof Object(value)[method] === "function"),
};

/** True if a text is an address that can be asked. */
export function isHttp(text: string): boolean {
  try {
    return /^https?:$/.test(new URL(text).protocol);
  } catch {
    return false;
  }
}

/** True for a pair of which requests can be made. */
export function isHeader([key, value]: readonly [string, string]): boolean {
  try {
    new Headers([[key, hasVariables(value) ? "" : value]]);
    return true;
  } catch {
    return false;
  }
}

function hasVariables(text: string): boolean {
  return text.includes("${");
}
