import { isJsonObject, type JsonObject } from "../base/json.ts";
import { setOwn } from "../base/freeze.ts";
import { checkJsonSchema } from "../validation/schema_check.ts";
import { holdingOf } from "../validation/sub_schemas.ts";

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
  const { properties, required } = membersOf(root, root, 0);
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

const deepestNesting = 16;

function membersOf(schema: Schema, root: Schema, depth: number): Members {
  if (depth > deepestNesting) {
    throw new TypeError("inputSchema nests its alternatives too deeply");
  }
  const branches = (keyword: string) =>
    listOf(schema[keyword]).map((branch) =>
      membersOf(resolve(branch, root), root, depth + 1)
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
    for (const [name, schemas] of members.properties) {
      properties.set(name, [...properties.get(name) ?? [], ...schemas]);
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

/** A branch itself, or what it refers to inside the document. */
function resolve(branch: unknown, root: Schema): Schema {
  const reference = isJsonObject(branch) ? branch.$ref : undefined;
  if (reference === undefined) return isJsonObject(branch) ? branch : {};
  let found: unknown = root;
  for (const part of String(reference).split("/").slice(1)) {
    const name = part.replaceAll("~1", "/").replaceAll("~0", "~");
    found = isJsonObject(found) ? found[name] : undefined;
  }
  if (String(reference).startsWith("#/") && isJsonObject(found)) return found;
  throw new TypeError("inputSchema refers to an alternative that is not there");
}

function anyOfThese(schemas: readonly unknown[]): unknown {
  const different = new Map(
    schemas.map((schema) => [JSON.stringify(schema), schema]),
  );
  return different.size === 1 ? schemas[0] : { anyOf: [...different.values()] };
}

/** The same schema with `items` in every array that lacks it. */
function withItems(schema: Schema): Schema {
  const result: Schema = {};
  let changed = false;
  for (const [keyword, held] of Object.entries(schema)) {
    const mapped = mapHeld(keyword, held);
    changed ||= mapped !== held;
    setOwn(result, keyword, mapped);
  }
  if (schema.type === "array" && !saysWhatItHolds(schema)) {
    return { ...result, items: {} };
  }
  return changed ? result : schema;
}

function mapHeld(keyword: string, held: unknown): unknown {
  const holding = holdingOf(keyword);
  if (holding === undefined) return held;
  if (Array.isArray(held)) return mapList(held);
  if (!isJsonObject(held)) return held;
  if (holding !== "named") return withItems(held);
  const names = Object.keys(held);
  const mapped = mapList(Object.values(held));
  if (mapped.every((schema, index) => schema === held[names[index]!])) {
    return held;
  }
  const result: Schema = {};
  names.forEach((name, index) => setOwn(result, name, mapped[index]));
  return result;
}

function mapList(schemas: readonly unknown[]): readonly unknown[] {
  const mapped = schemas.map((schema) =>
    isJsonObject(schema) ? withItems(schema) : schema
  );
  return mapped.every((schema, index) => schema === schemas[index])
    ? schemas
    : mapped;
}

function saysWhatItHolds(schema: Schema): boolean {
  return Object.hasOwn(schema, "items") || Object.hasOwn(schema, "prefixItems");
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
