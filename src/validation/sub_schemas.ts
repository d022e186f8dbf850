import { isJsonObject } from "../base/json.ts";
import type { JsonSchemaDraft } from "./draft.ts";
import { isKnownIn } from "./keyword_drafts.ts";
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
 * are no schemas and left out, like all that is below keywords of later versions.
 */
export function subSchemas(
  schema: Record<string, unknown>,
  pointer: string,
  draft: JsonSchemaDraft,
): SubSchema[] {
  const keywords = Object.keys(schema)
    .filter((keyword) => isKnownIn(draft, keyword));
  return keywords.flatMap((keyword) => {
    const held = schema[keyword];
    const at = pointerTo(pointer, keyword);
    return membersOf(keyword, held)
      .map(([name, schema]) => ({
        keyword,
        schema,
        pointer: name === undefined ? at : pointerTo(at, name),
      }));
  });
}

/** The schemas that a keyword holds, with their names or numbers; one alone has neither. */
function membersOf(
  keyword: string,
  held: unknown,
): readonly (readonly [string | undefined, unknown])[] {
  const holding = holdingOf(keyword);
  if (holding === undefined) return [];
  if (holding === "list" && Array.isArray(held)) return Object.entries(held);
  if (holding !== "named") return [[undefined, held]];
  if (!isJsonObject(held)) return [];
  const members = Object.entries(held);
  return keyword === "dependencies"
    ? members.filter(([, member]) => !Array.isArray(member))
    : members;
}
