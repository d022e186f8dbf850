import type { OutputUnit } from "@cfworker/json-schema";
import type { SchemaLeafError } from "./compiler.ts";
import { closedKeywords } from "./lower.ts";

/**
 * Reads what is really wrong out of the validator's list of failures.
 *
 * The list is flat: a keyword that applies other schemas announces its failure by a
 * unit of its own, and what failed inside follows behind. Of alternatives only the
 * announcement is told, of everything else only what failed inside.
 *
 * @param units Output of the validator for an invalid value and a lowered schema.
 * @returns At least one error, in the order of the schema, none twice.
 */
export function leafErrors(units: readonly OutputUnit[]): SchemaLeafError[] {
  const report = new Report();
  const closed = new Set(units.filter(countsMatches).map(locationOfMatches));
  let hidden = false;
  let before: OutputUnit | undefined;
  for (const unit of units) {
    if (unit.keyword === "false") {
      if (!hidden) report.addForbidden(pathOf(unit), before);
      continue;
    }
    before = unit;
    hidden = isInside(unit.keywordLocation, closed);
    if (hidden || Object.hasOwn(openKeywords, unit.keyword)) continue;
    if (Object.hasOwn(closedKeywords, unit.keyword)) {
      closed.add(unit.keywordLocation);
    }
    report.add({
      path: pathOf(unit),
      keyword: keywordOf(unit),
      ...missingProperty(unit),
    });
  }
  return report.errors();
}

/** Keywords that fail because of something inside, which follows. */
const openKeywords: Readonly<Record<string, true>> = {
  properties: true,
  patternProperties: true,
  additionalProperties: true,
  unevaluatedProperties: true,
  prefixItems: true,
  items: true,
  additionalItems: true,
  unevaluatedItems: true,
  allOf: true,
  if: true,
  dependentSchemas: true,
  $ref: true,
};

/** Keywords whose `false` speaks of the object or array, not of the single member. */
const fencing: Readonly<Record<string, true>> = {
  additionalProperties: true,
  unevaluatedProperties: true,
  items: true,
  additionalItems: true,
  unevaluatedItems: true,
};

const unspecific: SchemaLeafError = { path: "", keyword: "schema" };

/** Collects errors in order, each once. */
class Report {
  readonly #errors = new Map<string, SchemaLeafError>();
  /** Members that `unevaluated…` complains about, by the key of its error. */
  readonly #unevaluated = new Map<string, string[]>();

  add(error: SchemaLeafError): string {
    const key = JSON.stringify([error.path, error.keyword, error.missing]);
    if (!this.#errors.has(key)) this.#errors.set(key, error);
    return key;
  }

  /** @param path The value that nothing allows. @param before The unit before, which allows nothing. */
  addForbidden(path: string, before: OutputUnit | undefined): void {
    if (before === undefined || !Object.hasOwn(fencing, before.keyword)) {
      this.add({ path, keyword: "schema" });
      return;
    }
    const key = this.add({ path: pathOf(before), keyword: before.keyword });
    if (!before.keyword.startsWith("unevaluated")) return;
    const members = this.#unevaluated.get(key);
    if (members === undefined) this.#unevaluated.set(key, [path]);
    else members.push(path);
  }

  errors(): SchemaLeafError[] {
    this.#dropConsequences();
    const errors = [...this.#errors.values()];
    return errors.length > 0 ? errors : [unspecific];
  }

  /** A member that fails its own schema counts as unevaluated too; that is told once. */
  #dropConsequences(): void {
    if (this.#unevaluated.size === 0) return;
    const faulty = new Set<string>();
    for (const { path } of this.#errors.values()) addWithParents(faulty, path);
    for (const [key, members] of this.#unevaluated) {
      if (members.every((path) => faulty.has(path))) this.#errors.delete(key);
    }
  }
}

function addWithParents(paths: Set<string>, path: string): void {
  let at = path;
  while (!paths.has(at)) {
    paths.add(at);
    if (at === "") return;
    at = at.slice(0, at.lastIndexOf("/"));
  }
}

function countsMatches(unit: OutputUnit): boolean {
  return unit.keyword === "minContains";
}

/** The items that do not match are listed before the `minContains` that they do not fulfil. */
function locationOfMatches({ keywordLocation }: OutputUnit): string {
  return keywordLocation.replace(/[^/]*$/, "contains");
}

function isInside(location: string, closed: ReadonlySet<string>): boolean {
  if (closed.size === 0) return false;
  let end = location.lastIndexOf("/");
  while (end > 0) {
    const parent = location.slice(0, end);
    if (closed.has(parent)) return true;
    end = parent.lastIndexOf("/");
  }
  return false;
}

/** Undoes the encoding of the validator, which writes pointers as fragments of an address. */
function pathOf({ instanceLocation }: OutputUnit): string {
  return decodeURIComponent(instanceLocation.slice(1));
}

/** Too short for any length is what lowered schemas make of equal items. */
function keywordOf({ keyword, error }: OutputUnit): string {
  return keyword === "minItems" && error.endsWith("< Infinity).")
    ? "uniqueItems"
    : keyword;
}

/** The name is told nowhere but in the text. */
const textsOfMissing: Readonly<Record<string, RegExp>> = {
  required: /^Instance does not have required property "(.*)"\.$/s,
  dependentRequired: /^Instance has ".*" but does not have "(.*)"\.$/s,
  dependencies: /^Instance has ".*" but does not have "(.*)"\.$/s,
};

function missingProperty(unit: OutputUnit): { missing?: string } {
  if (!Object.hasOwn(textsOfMissing, unit.keyword)) return {};
  const missing = textsOfMissing[unit.keyword]?.exec(unit.error)?.[1];
  return missing === undefined ? {} : { missing };
}
