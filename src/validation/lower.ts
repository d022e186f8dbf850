import { format as knownFormats, type Schema } from "@cfworker/json-schema";
import type { JsonObject } from "../base/json.ts";
import type { JsonSchemaCompileOptions } from "./compiler.ts";
import type { JsonSchema } from "./draft.ts";
import { isKnownIn } from "./keyword_drafts.ts";
import { goesWithPatterns, holdsPatterns } from "./patterns.ts";
import { pointerTo } from "./pointer.ts";
import {
  hidesSiblings,
  type References,
  resolveReferences,
} from "./references.ts";
import { holdingOf } from "./sub_schemas.ts";

/** A schema in the form that the validator takes. */
export interface LoweredSchema {
  /** What the value is checked against. */
  readonly root: Lowered;
  /** What each `$ref` stands for. */
  readonly definitions: Record<string, Lowered>;
}

type Lowered = Schema | boolean;

/**
 * Rewrites a schema into the plain form that the validator can be trusted with.
 *
 * The result is a fresh tree of keywords that decide about values and nothing else:
 * annotations, addresses and keywords that are unknown or of later versions are gone,
 * so that the validator has nothing to misread and no reference to search for. What it
 * would take too long for is put in another way.
 */
export function lowerSchema(
  schema: JsonSchema,
  options: JsonSchemaCompileOptions,
): LoweredSchema {
  const { targets } = resolveReferences(schema, options.draft);
  const withoutPatterns = options.patterns === "ignore" &&
    holdsPatterns(schema);
  const lowering = { ...options, targets, withoutPatterns };
  const definitions: Record<string, Lowered> = Object.create(null);
  for (const { schema, pointer } of targets.values()) {
    definitions[`#${pointer}`] ??= lower(schema, pointer, lowering);
  }
  return { root: lower(schema, "", lowering), definitions };
}

/** Where the validator must find the schema of long arrays in which equal items stand. */
export const repetitionAddress = "#repetition";

/** Arrays with more items are long: the validator compares every item with every other. */
export const shortItemCount = 64;

/** Keywords whose failure is told without what failed inside of them. */
export const closedKeywords: Readonly<Record<string, true>> = {
  anyOf: true,
  oneOf: true,
  contains: true,
  propertyNames: true,
};

/** Keywords that decide about values by themselves. */
const assertions: Readonly<Record<string, true>> = {
  type: true,
  enum: true,
  const: true,
  minLength: true,
  maxLength: true,
  pattern: true,
  minimum: true,
  maximum: true,
  exclusiveMinimum: true,
  exclusiveMaximum: true,
  multipleOf: true,
  minProperties: true,
  maxProperties: true,
  required: true,
  dependentRequired: true,
  minItems: true,
  maxItems: true,
  minContains: true,
  maxContains: true,
};

/** What `uniqueItems` says, without comparing the items of long arrays. */
const withoutRepetition: Schema = {
  if: { maxItems: shortItemCount },
  then: { uniqueItems: true },
  else: { if: { $ref: repetitionAddress }, then: { minItems: Infinity } },
};

/**
 * What the format `url` says. The validator needs the square of the length as time, so
 * texts that are too long to wait for fail as a format that they cannot have.
 *
 * @see RFC 9110, section 4.1, for the length that everybody should support.
 */
const shortAddress: Schema = {
  if: { maxLength: 8000 },
  then: { format: "url" },
  else: { format: "ipv4" },
};

interface Lowering extends JsonSchemaCompileOptions {
  readonly targets: References["targets"];
  readonly withoutPatterns: boolean;
}

function lower(
  schema: JsonSchema,
  pointer: string,
  lowering: Lowering,
): Lowered {
  if (typeof schema === "boolean") return schema;
  const [first, ...more]: Schema[] = ["$ref", "$recursiveRef"]
    .map((keyword) => lowering.targets.get(pointerTo(pointer, keyword)))
    .filter((target) => target !== undefined)
    .map((target) => ({ $ref: `#${target.pointer}` }));
  if (first !== undefined && hidesSiblings(schema, lowering.draft)) {
    return first;
  }
  const result: Schema = { ...first };
  for (const keyword of Object.keys(schema)) {
    if (isLeftOut(keyword, schema, lowering)) continue;
    const value = schema[keyword];
    const at = pointerTo(pointer, keyword);
    if (Object.hasOwn(assertions, keyword)) {
      result[keyword] = value;
    } else if (keyword === "uniqueItems") {
      if (value === true) more.push(withoutRepetition);
    } else if (keyword === "format") {
      if (!isAsserted(value, lowering)) continue;
      if (value === "url") more.push(shortAddress);
      else result.format = value;
    } else if (keyword === "dependencies") {
      const { names, schemas } = splitDependencies(value as JsonObject);
      const lowered = lowerHeld(keyword, schemas, at, lowering);
      result.dependencies = names;
      more.push({ dependentSchemas: lowered as Record<string, Schema> });
    } else if (keyword === "oneOf" && lowering.withoutPatterns) {
      const anyOf = lowerHeld(keyword, value, at, lowering) as Schema[];
      more.push({ anyOf });
    } else if (isApplied(keyword)) {
      result[keyword] = lowerHeld(keyword, value, at, lowering);
    }
  }
  const all: Lowered[] = [...result.allOf ?? [], ...more];
  if (all.length > 0) result.allOf = booleansFirst(all) as Schema[];
  return result;
}

function isLeftOut(
  keyword: string,
  schema: JsonObject,
  { draft, withoutPatterns }: Lowering,
): boolean {
  return !isKnownIn(draft, keyword) ||
    withoutPatterns && goesWithPatterns(keyword, schema);
}

/** Formats that the validator does not know are never asserted. */
function isAsserted(format: unknown, { formats }: Lowering): format is string {
  return formats === "assert" && Object.hasOwn(knownFormats, String(format));
}

/** Definitions matter only where a reference leads to them. */
function isApplied(keyword: string): boolean {
  return holdingOf(keyword) !== undefined && keyword !== "$defs" &&
    keyword !== "definitions";
}

function lowerHeld(
  keyword: string,
  held: unknown,
  pointer: string,
  lowering: Lowering,
): unknown {
  const lowerOne = (schema: unknown, at = pointer) =>
    schema === false && Object.hasOwn(closedKeywords, keyword)
      ? nothing
      : lower(schema as JsonSchema, at, lowering);
  if (Array.isArray(held)) {
    return held.map((schema, index) =>
      lowerOne(schema, pointerTo(pointer, index))
    );
  }
  if (holdingOf(keyword) !== "named") return lowerOne(held);
  return Object.fromEntries(
    Object.entries(held as object).map(([name, schema]) => [
      name,
      lowerOne(schema, pointerTo(pointer, name)),
    ]),
  );
}

/** Accepts no value, like `false`, but its failure has a location of its own. */
const nothing: Schema = { not: {} };

/** `dependencies` fails for a missing name; a schema in it fails for reasons of its own. */
function splitDependencies(dependencies: JsonObject) {
  const names: Record<string, string[]> = Object.create(null);
  const schemas: Record<string, JsonSchema> = Object.create(null);
  for (const [name, held] of Object.entries(dependencies)) {
    if (Array.isArray(held)) names[name] = held;
    else schemas[name] = held as JsonSchema;
  }
  return { names, schemas };
}

/**
 * A failed `false` carries no location and is understood by the unit before it;
 * behind another schema that would be the wrong one.
 */
function booleansFirst(schemas: readonly Lowered[]): Lowered[] {
  const isBoolean = (schema: Lowered) => typeof schema === "boolean";
  return [
    ...schemas.filter(isBoolean),
    ...schemas.filter((schema) => !isBoolean(schema)),
  ];
}
