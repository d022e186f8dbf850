/** Shorter texts are placeholders, and hiding them would tear words apart. */
const shortestSecret = 8;

/**
 * The texts of a request that must not come back in any message, the longest first.
 *
 * Providers repeat what they object to in part: one value of a query, one word
 * of a header, the password of a user.
 *
 * @param query Without its question mark.
 */
export function secretsOf(
  apiKey: string,
  query: string,
  headers: Readonly<Record<string, string>>,
): readonly string[] {
  const values = query.split("&").map((pair) => pair.replace(/^[^=]*=/, ""));
  const texts = [
    apiKey,
    query,
    ...values,
    ...new URLSearchParams(query).values(),
    ...Object.values(headers).flatMap(partsOfHeader),
  ];
  return [...new Set(texts)]
    .filter((text) => text.length >= shortestSecret)
    .sort((left, right) => right.length - left.length);
}

function partsOfHeader(value: string): readonly string[] {
  const [, scheme, rest = ""] = /^(basic|bearer) +(.*)/i.exec(value) ?? [];
  const parts = [value, rest, ...value.split(/[\s;=,]+/)];
  return scheme?.toLowerCase() === "basic"
    ? [...parts, ...passwordOf(rest)]
    : parts;
}

function passwordOf(credentials: string): readonly string[] {
  try {
    return [atob(credentials).replace(/^[^:]*:/, "")];
  } catch {
    return [];
  }
}

/** So many values are looked at; what holds more may hold anything. */
const mostValues = 2000;

/**
 * True if a log of what was thrown could show a secret.
 *
 * Looks at everything in it that can be reached, however it is nested; what does
 * not let itself be looked at counts as one that could.
 */
export function mayShow(thrown: unknown, secrets: readonly string[]): boolean {
  const values = new Set<unknown>([thrown]);
  try {
    for (const value of values) {
      if (values.size > mostValues) return true;
      if (typeof value === "object" && value !== null) {
        for (const part of partsOf(value)) values.add(part);
      } else if (secrets.some((secret) => String(value).includes(secret))) {
        return true;
      }
    }
    return false;
  } catch {
    return true;
  }
}

/** What platforms keep behind getters of a prototype. */
const hiddenKeys = ["name", "message", "stack", "cause", "headers", "url"];

function partsOf(value: object): readonly unknown[] {
  if (ArrayBuffer.isView(value)) return [];
  const members = value as Record<PropertyKey, unknown>;
  const keys = [...Reflect.ownKeys(value), ...hiddenKeys];
  const parts = keys.flatMap((key) => [key, members[key]]);
  const { toJSON } = members;
  if (typeof toJSON === "function") parts.push(toJSON.call(value));
  return isCollection(value) ? [...parts, ...value] : parts;
}

function isCollection(value: object): value is Iterable<unknown> & object {
  return [Map, Set, Headers, URLSearchParams]
    .some((collection) => value instanceof collection);
}
