import { isJsonObject } from "../base/json.ts";
import type { JsonSchema, JsonSchemaDraft } from "./draft.ts";
import { isKnownIn } from "./keyword_drafts.ts";
import { pointerTo, pointerTokens } from "./pointer.ts";
import { JsonSchemaError } from "./schema_error.ts";
import { appliesInPlace, subSchemas } from "./sub_schemas.ts";

/** A schema and where it stands in its document. */
export interface PlacedSchema {
  /** The schema. */
  readonly schema: JsonSchema;
  /** JSON Pointer of the schema. */
  readonly pointer: string;
}

/** Where the references of a document lead. */
export interface References {
  /** Targets by the JSON Pointer of the `$ref` or `$recursiveRef` that leads there. */
  readonly targets: ReadonlyMap<string, PlacedSchema>;
  /** Targets where no schema is expected, for example below an unknown keyword. */
  readonly outside: readonly PlacedSchema[];
}

/**
 * Finds the target of every reference of a document.
 *
 * Understands `#`, pointers, anchors, and addresses relative to the `$id` of the
 * document or of schemas inside it. Nothing is fetched.
 *
 * @param document A schema whose keywords have the right shapes.
 * @throws {JsonSchemaError} If a reference leads nowhere, out of the document, or
 * round in a circle that never looks into the value.
 */
export function resolveReferences(
  document: JsonSchema,
  draft: JsonSchemaDraft,
): References {
  const map: SchemaMap = { draft, places: new Map(), addressed: new Map() };
  const root = { schema: document, pointer: "", base: homeAddress };
  map.addressed.set(homeAddress, root);
  addPlaces(map, root);

  const targets = new Map<string, PlacedSchema>();
  const outside: PlacedSchema[] = [];
  // Targets outside bring places of their own, which this very loop reaches.
  for (const place of map.places.values()) {
    for (const { keyword, at } of referencesIn(place, map.draft)) {
      const target = keyword === "$ref"
        ? follow(map, place)
        : followRecursive(map, place, at);
      if (target === undefined || !isSchema(target.schema)) {
        throw new JsonSchemaError(at, "leads to no schema of this document");
      }
      targets.set(at, target);
      if (!map.places.has(target.pointer)) {
        outside.push(target);
        addPlaces(map, target);
      }
    }
  }
  refuseCircles(map, targets);
  return { targets, outside };
}

/** True if the reference makes validation ignore the keywords beside it. */
export function hidesSiblings(
  schema: Record<string, unknown>,
  draft: JsonSchemaDraft,
): boolean {
  return (draft === "4" || draft === "7") && Object.hasOwn(schema, "$ref");
}

/** Address of a document that gives itself none. @see RFC 2606, section 2 */
const homeAddress = "https://schema.invalid/";

interface Place extends PlacedSchema {
  /** Address that the references in this schema are relative to. */
  readonly base: string;
}

interface SchemaMap {
  readonly draft: JsonSchemaDraft;
  /** Every schema by its pointer. */
  readonly places: Map<string, Place>;
  /** Schemas that have an address or an anchor by their whole address. */
  readonly addressed: Map<string, Place>;
}

function addPlaces(map: SchemaMap, found: Place): void {
  const { schema, pointer } = found;
  if (!isJsonObject(schema)) {
    map.places.set(pointer, found);
    return;
  }
  const base = baseOf(map, schema, found);
  const place = { ...found, base };
  map.places.set(pointer, place);
  if (base !== found.base) addAddress(map, base, place);
  for (const keyword of ["$anchor", "$dynamicAnchor"]) {
    const name = schema[keyword];
    if (typeof name === "string") addAddress(map, `${base}#${name}`, place);
  }
  for (const sub of subSchemas(schema, pointer, map.draft)) {
    if (isSchema(sub.schema)) {
      addPlaces(map, { schema: sub.schema, pointer: sub.pointer, base });
    }
  }
}

/** The address that a schema gives itself; one that is a mere anchor changes nothing but is noted. */
function baseOf(
  map: SchemaMap,
  schema: Record<string, unknown>,
  found: Place,
): string {
  const keyword = map.draft === "4" ? "id" : "$id";
  const id = schema[keyword];
  if (typeof id !== "string" || hidesSiblings(schema, map.draft)) {
    return found.base;
  }
  const address = parseAddress(id, found.base);
  if (address === undefined) {
    throw new JsonSchemaError(
      pointerTo(found.pointer, keyword),
      "must be an address",
    );
  }
  if (address.hash !== "") {
    addAddress(map, address.href, found);
    return found.base;
  }
  address.hash = "";
  return address.href;
}

function addAddress(map: SchemaMap, address: string, place: Place): void {
  if (map.addressed.has(address)) {
    throw new JsonSchemaError(
      place.pointer,
      "has the address of another schema",
    );
  }
  map.addressed.set(address, place);
}

function follow(map: SchemaMap, place: Place): Place | undefined {
  const { $ref } = place.schema as { $ref: string };
  const address = parseAddress($ref, place.base);
  const fragment = address && decodeFragment(address.hash);
  if (address === undefined || fragment === undefined) return undefined;
  if (fragment !== "" && !fragment.startsWith("/")) {
    return map.addressed.get(address.href);
  }
  address.hash = "";
  const start = map.addressed.get(address.href);
  return start && descend(map, start, pointerTokens(fragment));
}

function descend(
  map: SchemaMap,
  start: Place,
  tokens: readonly string[],
): Place | undefined {
  let value: unknown = start.schema;
  let pointer = start.pointer;
  for (const token of tokens) {
    if (typeof value !== "object" || value === null) return undefined;
    if (!Object.hasOwn(value, token)) return undefined;
    value = (value as Record<string, unknown>)[token];
    pointer = pointerTo(pointer, token);
  }
  return map.places.get(pointer) ??
    { schema: value as JsonSchema, pointer, base: start.base };
}

/**
 * Leads to the outermost schema that is open to extension by `$recursiveAnchor`.
 *
 * Every validation passes through the whole document first, so that one wins if
 * it is open. Which of several inner schemas is outermost depends on the way.
 */
function followRecursive(
  map: SchemaMap,
  place: Place,
  at: string,
): Place | undefined {
  const nearest = map.addressed.get(place.base);
  if (!isOpen(nearest)) return nearest;
  const root = map.places.get("");
  if (isOpen(root)) return root;
  throw new JsonSchemaError(at, "needs $recursiveAnchor at the root as well");
}

function isOpen(place: Place | undefined): boolean {
  return isJsonObject(place?.schema) && place.schema.$recursiveAnchor === true;
}

/** Validation along such a circle would never end: none of its steps looks deeper into the value. */
function refuseCircles(
  map: SchemaMap,
  targets: References["targets"],
): void {
  const done = new Set<string>();
  const open = new Set<string>();
  for (const pointer of map.places.keys()) visit(pointer, pointer);

  function visit(pointer: string, from: string): void {
    if (done.has(pointer)) return;
    if (open.has(pointer)) {
      throw new JsonSchemaError(from, "leads round in a circle");
    }
    open.add(pointer);
    const place = map.places.get(pointer);
    if (place !== undefined) {
      for (const { at } of referencesIn(place, map.draft)) {
        visit(targets.get(at)?.pointer ?? "", at);
      }
      for (const next of innerInPlace(place, map.draft)) visit(next, next);
    }
    open.delete(pointer);
    done.add(pointer);
  }
}

function innerInPlace({ schema, pointer }: Place, draft: JsonSchemaDraft) {
  if (!isJsonObject(schema) || hidesSiblings(schema, draft)) return [];
  return subSchemas(schema, pointer, draft)
    .filter(({ keyword }) => appliesInPlace(keyword))
    .map((sub) => sub.pointer);
}

function referencesIn(
  { schema, pointer }: PlacedSchema,
  draft: JsonSchemaDraft,
) {
  if (!isJsonObject(schema)) return [];
  return ["$ref", "$recursiveRef"]
    .filter((keyword) => isKnownIn(draft, keyword))
    .filter((keyword) => typeof schema[keyword] === "string")
    .map((keyword) => ({ keyword, at: pointerTo(pointer, keyword) }));
}

function isSchema(value: unknown): value is JsonSchema {
  return typeof value === "boolean" || isJsonObject(value);
}

function parseAddress(text: string, base: string): URL | undefined {
  try {
    return new URL(text, base);
  } catch {
    return undefined;
  }
}

function decodeFragment(hash: string): string | undefined {
  try {
    return decodeURIComponent(hash.slice(1));
  } catch {
    return undefined;
  }
}
