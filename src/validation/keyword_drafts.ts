import type { JsonSchemaDraft } from "./draft.ts";

/**
 * True if a version of JSON Schema gives the keyword a meaning; every version
 * ignores what only later ones know.
 *
 * Keywords that a later version replaced keep their meaning. Definitions count as
 * known everywhere, since references lead to them whatever they are called.
 */
export function isKnownIn(draft: JsonSchemaDraft, keyword: string): boolean {
  if (!Object.hasOwn(additions, keyword)) return true;
  return drafts.indexOf(draft) >= drafts.indexOf(additions[keyword]!);
}

const drafts: readonly JsonSchemaDraft[] = ["4", "7", "2019-09", "2020-12"];

/** Keywords that draft 4 does not have, and the version that brought them. */
const additions: Readonly<Record<string, JsonSchemaDraft>> = {
  $id: "7",
  $comment: "7",
  examples: "7",
  readOnly: "7",
  writeOnly: "7",
  contentEncoding: "7",
  contentMediaType: "7",
  const: "7",
  contains: "7",
  propertyNames: "7",
  if: "7",
  then: "7",
  else: "7",

  $anchor: "2019-09",
  $recursiveRef: "2019-09",
  $recursiveAnchor: "2019-09",
  deprecated: "2019-09",
  dependentRequired: "2019-09",
  dependentSchemas: "2019-09",
  minContains: "2019-09",
  maxContains: "2019-09",
  unevaluatedItems: "2019-09",
  unevaluatedProperties: "2019-09",

  $dynamicRef: "2020-12",
  prefixItems: "2020-12",
};
