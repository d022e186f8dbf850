import { isJsonObject } from "../base/json.ts";
import type { JsonSchemaDraft } from "./draft.ts";
import { isKnownIn } from "./keyword_drafts.ts";

/**
 * Says what is wrong with the value of a keyword, as the end of a sentence.
 *
 * The schemas that the value may hold are not looked into.
 *
 * @returns Undefined if nothing is wrong or this version does not know the keyword.
 */
export function keywordFault(
  keyword: string,
  schema: Record<string, unknown>,
  draft: JsonSchemaDraft,
): string | undefined {
  if (!Object.hasOwn(rules, keyword) || !isKnownIn(draft, keyword)) {
    return undefined;
  }
  const rule = rules[keyword];
  return rule?.(schema[keyword], { draft, schema });
}

interface Surroundings {
  readonly draft: JsonSchemaDraft;
  readonly schema: Record<string, unknown>;
}

type Rule = (value: unknown, around: Surroundings) => string | undefined;

const text = must("be a string", (value) => typeof value === "string");
const flag = must("be true or false", (value) => typeof value === "boolean");
const list = must("be an array", Array.isArray);
const filled = must("not be empty", (value) => (value as []).length > 0);
const named = must("be an object", isJsonObject);
const number = must("be a number", (value) => typeof value === "number");
const count = must("be a non-negative integer", isCount);
const names = must("be an array of distinct strings", isNameList);
const schemas = must("be a non-empty array of schemas", isFilledList);
const pattern = must(
  "be a regular expression that ECMAScript accepts with the u flag",
  compiles,
);

/** What JSON Schema demands of its keywords; single schemas are checked where they stand. */
const rules: Readonly<Record<string, Rule>> = {
  $id: text,
  id: onlyIn("4", text),
  $anchor: text,
  $ref: text,
  $recursiveRef: must('be "#"', (value) => value === "#"),
  $recursiveAnchor: flag,
  $dynamicRef: () => "unsupported keyword",
  $defs: named,
  definitions: named,

  $comment: text,
  title: text,
  description: text,
  format: text,
  contentEncoding: text,
  contentMediaType: text,
  readOnly: flag,
  writeOnly: flag,
  deprecated: flag,
  examples: list,

  type: must("be a type name or a list of distinct ones", isType),
  enum: each(list, onlyIn("4", filled)),
  minLength: count,
  maxLength: count,
  pattern: each(text, pattern),
  minimum: number,
  maximum: number,
  exclusiveMinimum: exclusive("minimum"),
  exclusiveMaximum: exclusive("maximum"),
  multipleOf: must("be a number above 0", isPositive),

  minProperties: count,
  maxProperties: count,
  required: each(names, onlyIn("4", filled)),
  properties: named,
  patternProperties: each(named, everyKey(pattern)),
  dependentRequired: each(named, everyValue(names)),
  dependentSchemas: named,
  dependencies: each(named, everyValue(nameListOrSchema)),

  minItems: count,
  maxItems: count,
  minContains: count,
  maxContains: count,
  uniqueItems: flag,
  prefixItems: schemas,
  items: schemaOrSchemas,

  allOf: schemas,
  anyOf: schemas,
  oneOf: schemas,
};

function must(demand: string, holds: (value: unknown) => boolean): Rule {
  return (value) => holds(value) ? undefined : `must ${demand}`;
}

function each(first: Rule, second: Rule): Rule {
  return (value, around) => first(value, around) ?? second(value, around);
}

function onlyIn(draft: JsonSchemaDraft, rule: Rule): Rule {
  return (value, around) =>
    around.draft === draft ? rule(value, around) : undefined;
}

function everyKey(rule: Rule): Rule {
  return (value, around) =>
    firstFault(Object.keys(value as object), rule, around);
}

function everyValue(rule: Rule): Rule {
  return (value, around) =>
    firstFault(Object.values(value as object), rule, around);
}

function firstFault(values: unknown[], rule: Rule, around: Surroundings) {
  for (const value of values) {
    const fault = rule(value, around);
    if (fault !== undefined) return fault;
  }
}

/** In draft 4 a flag that sharpens the limit beside it, later a limit of its own. */
function exclusive(limit: "minimum" | "maximum"): Rule {
  return (value, around) => {
    if (around.draft !== "4") return number(value, around);
    const beside = Object.hasOwn(around.schema, limit);
    return flag(value, around) ?? (beside ? undefined : `needs ${limit}`);
  };
}

function nameListOrSchema(value: unknown): string | undefined {
  return !Array.isArray(value) ||
      value.every((name) => typeof name === "string")
    ? undefined
    : "must hold schemas or arrays of strings";
}

function schemaOrSchemas(value: unknown, around: Surroundings) {
  if (!Array.isArray(value)) return undefined;
  return around.draft === "2020-12"
    ? "must be a schema; a list is written as prefixItems"
    : schemas(value, around);
}

const typeNames = new Set<unknown>([
  "array",
  "boolean",
  "integer",
  "null",
  "number",
  "object",
  "string",
]);

function isType(value: unknown): boolean {
  if (!Array.isArray(value)) return typeNames.has(value);
  return isFilledList(value) && isDistinct(value) &&
    value.every((name) => typeNames.has(name));
}

function isNameList(value: unknown): boolean {
  return Array.isArray(value) && isDistinct(value) &&
    value.every((name) => typeof name === "string");
}

function isFilledList(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0;
}

function isDistinct(values: unknown[]): boolean {
  return new Set(values).size === values.length;
}

function isCount(value: unknown): boolean {
  return Number.isInteger(value) && (value as number) >= 0;
}

function isPositive(value: unknown): boolean {
  return typeof value === "number" && value > 0;
}

/** Patterns are compiled in this very way when a call is checked, which is too late to complain. */
function compiles(value: unknown): boolean {
  try {
    new RegExp(value as string, "u");
    return true;
  } catch {
    return false;
  }
}
