import { isJsonObject, type JsonObject } from "../base/json.ts";
import { pointerTokens } from "../validation/pointer.ts";
import { checkJsonSchema } from "../validation/schema_check.ts";
import { mapSchemas } from "./map_schema.ts";

type Schema = Record<string, unknown>;

/**
 * Brings the schema of a tool's arguments into a form that every provider takes.
 *
 * The root becomes an object with properties, its alternatives become optional
 * properties, and arrays say what they hold. What is lost by that the server checks
 * by itself. A schema that is fine is returned as it is.
 *
 * @throws {TypeError} The schema cannot describe arguments.
 * @throws {JsonSchemaError} The schema is broken.
 */
export function usableInputSchema(schema: unknown): JsonObject {
  const root = schema ?? {};
  if (!isJsonObject(root)) throw new TypeError("inputSchema is no object");
  const usable = withItems(withoutAlternatives(asObjectSchema(root)));
  checkJsonSchema(usable);
  return usable as JsonObject;
}

function asObjectSchema(schema: Schema): Schema {
  const { type = "object" } = schema;
  const types = Array.isArray(type) ? type : [type];
  if (!types.includes("object")) {
    throw new TypeError("inputSchema does not describe an object");
  }
  return schema.type === "object" && isJsonObject(schema.properties)
    ? schema
    : { properties: {}, ...schema, type: "object" };
}

/** Keywords that providers refuse at the root. */
const refusedAtRoot = ["anyOf", "oneOf", "allOf", "not", "enum"];

function withoutAlternatives(root: Schema): Schema {
  if (!refusedAtRoot.some((keyword) => Object.hasOwn(root, keyword))) {
    return root;
  }
  const { anyOf: _1, oneOf: _2, allOf: _3, not: _4, enum: _5, ...rest } = root;
  const merge = { root, leftCount: mostMerged };
  const { properties, required } = membersOf(root, merge, 0);
  return {
    ...rest,
    properties: Object.fromEntries(
      [...properties].map(([name, schemas]) => [name, anyOfThese(schemas)]),
    ),
    ...(required.size > 0 && { required: [...required] }),
  };
}

interface Members {
  /** Every schema that some branch gives a property. */
  readonly properties: Map<string, unknown[]>;
  /** Properties that no branch does without. */
  readonly required: Set<string>;
}

/** One look at all alternatives of a document. */
interface Merge {
  readonly root: Schema;
  /** How many branches and properties may still be looked at. */
  leftCount: number;
}

const deepestNesting = 16;
// A few references to each other make as many branches as one likes.
const mostMerged = 100_000;

function membersOf(schema: Schema, merge: Merge, depth: number): Members {
  if (depth > deepestNesting) {
    throw new TypeError("inputSchema nests its alternatives too deeply");
  }
  const branches = (keyword: string) =>
    listOf(schema[keyword]).map((branch) =>
      membersOf(resolve(branch, merge.root), merge, depth + 1)
    );
  const own: Members = {
    properties: new Map(
      Object.entries(Object(schema.properties)).map((
        [name, schema],
      ) => [name, [schema]]),
    ),
    required: new Set(listOf(schema.required).map(String)),
  };
  const every = [own, ...branches("allOf")];
  const choices = [branches("anyOf"), branches("oneOf")];
  const properties = new Map<string, unknown[]>();
  for (const members of [...every, ...choices.flat()]) {
    spend(merge, 1 + members.required.size);
    for (const [name, schemas] of members.properties) {
      spend(merge, schemas.length);
      const known = properties.get(name);
      if (known === undefined) properties.set(name, [...schemas]);
      else known.push(...schemas);
    }
  }
  const required = new Set(every.flatMap((members) => [...members.required]));
  for (const [first, ...others] of choices) {
    for (const name of first?.required ?? []) {
      if (others.every((other) => other.required.has(name))) required.add(name);
    }
  }
  return { properties, required };
}

function spend(merge: Merge, count: number): void {
  merge.leftCount -= count;
  if (merge.leftCount < 0) {
    throw new TypeError("inputSchema has too many alternatives");
  }
}

/** A branch itself, or what it refers to inside the document. */
function resolve(branch: unknown, root: Schema): Schema {
  const reference = isJsonObject(branch) ? branch.$ref : undefined;
  if (reference === undefined) return isJsonObject(branch) ? branch : {};
  const pointer = pointerIn(String(reference));
  let found: unknown = pointer === undefined ? undefined : root;
  for (const name of pointerTokens(pointer ?? "")) {
    const isThere = isJsonObject(found) && Object.hasOwn(found, name);
    found = isThere ? (found as Schema)[name] : undefined;
  }
  if (isJsonObject(found)) return found;
  throw new TypeError("inputSchema refers to an alternative that is not there");
}

/** The JSON Pointer of a reference into the same document. */
function pointerIn(reference: string): string | undefined {
  if (!reference.startsWith("#/")) return undefined;
  try {
    return decodeURIComponent(reference.slice(1));
  } catch {
    return undefined;
  }
}

/** Every schema once: the same one may have come along many ways. */
function anyOfThese(schemas: readonly unknown[]): unknown {
  const different = new Map(
    [...new Set(schemas)].map((schema) => [JSON.stringify(schema), schema]),
  );
  return different.size === 1 ? schemas[0] : { anyOf: [...different.values()] };
}

/** The same schema with `items` in every array that lacks it. */
function withItems(root: Schema): Schema {
  return mapSchemas(
    root,
    (schema) =>
      schema.type === "array" && !saysWhatItHolds(schema)
        ? { ...schema, items: {} }
        : schema,
  );
}

function saysWhatItHolds(schema: Schema): boolean {
  return Object.hasOwn(schema, "items") || Object.hasOwn(schema, "prefixItems");
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
