import { isJsonObject, type JsonObject } from "../base/json.ts";
import { pointerTo } from "./pointer.ts";

/** A schema inside another one. */
export interface SubSchema {
  /** The keyword that holds it. */
  readonly keyword: string;
  /** What stands there; a schema only if the document is well formed. */
  readonly schema: unknown;
  /** Where it stands in the document. */
  readonly pointer: string;
}

/** How a keyword holds schemas: one, one or a list, or one for each name. */
type Holding = "one" | "list" | "named";

const holdings: Readonly<Record<string, Holding>> = {
  $defs: "named",
  definitions: "named",
  properties: "named",
  patternProperties: "named",
  dependentSchemas: "named",
  dependencies: "named",
  allOf: "list",
  anyOf: "list",
  oneOf: "list",
  prefixItems: "list",
  items: "list",
  additionalItems: "one",
  additionalProperties: "one",
  unevaluatedItems: "one",
  unevaluatedProperties: "one",
  contains: "one",
  propertyNames: "one",
  not: "one",
  if: "one",
  then: "one",
  else: "one",
};

const inPlace: Readonly<Record<string, true>> = {
  allOf: true,
  anyOf: true,
  oneOf: true,
  not: true,
  if: true,
  then: true,
  else: true,
  dependentSchemas: true,
  dependencies: true,
};

/** How the keyword holds schemas; undefined if it holds none. */
export function holdingOf(keyword: string): Holding | undefined {
  return Object.hasOwn(holdings, keyword) ? holdings[keyword] : undefined;
}

/** True if the keyword applies its schemas to the very value that its own schema is applied to. */
export function appliesInPlace(keyword: string): boolean {
  return Object.hasOwn(inPlace, keyword);
}

/**
 * The schemas directly inside a schema, in the order in which they are written.
 *
 * Makes no demands on their shape. The lists of names that `dependencies` may hold
 * are no schemas and left out.
 */
export function subSchemas(schema: JsonObject, pointer: string): SubSchema[] {
  return Object.keys(schema).flatMap((keyword) => {
    const held = schema[keyword];
    const at = pointerTo(pointer, keyword);
    switch (holdingOf(keyword)) {
      case "one":
        return [{ keyword, schema: held, pointer: at }];
      case "list":
        return Array.isArray(held)
          ? held.map((item, index) => ({
            keyword,
            schema: item,
            pointer: pointerTo(at, index),
          }))
          : [{ keyword, schema: held, pointer: at }];
      case "named":
        return !isJsonObject(held) ? [] : Object.keys(held)
          .filter((name) => !Array.isArray(held[name]))
          .map((name) => ({
            keyword,
            schema: held[name],
            pointer: pointerTo(at, name),
          }));
      default:
        return [];
    }
  });
}
