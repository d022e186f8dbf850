import type { JsonSchema } from "./draft.ts";

/** True if a schema may have patterns: then some of its keywords have to go with them. */
export function holdsPatterns(schema: JsonSchema): boolean {
  // A property of this name has a schema, not a text.
  return /"pattern":"|"patternProperties":\{/.test(JSON.stringify(schema));
}

/**
 * True for keywords that are patterns, and for those that could refuse more values if
 * patterns were left out elsewhere.
 */
export function goesWithPatterns(
  keyword: string,
  schema: Record<string, unknown>,
): boolean {
  return Object.hasOwn(dependent, keyword) ||
    keyword === "additionalProperties" &&
      Object.hasOwn(schema, "patternProperties");
}

const dependent: Readonly<Record<string, true>> = {
  pattern: true,
  patternProperties: true,
  not: true,
  if: true,
  then: true,
  else: true,
  maxContains: true,
  unevaluatedItems: true,
  unevaluatedProperties: true,
};
