import { setOwn } from "../base/freeze.ts";
import { isJsonObject } from "../base/json.ts";
import { holdingOf } from "../validation/sub_schemas.ts";

type Schema = Record<string, unknown>;

/**
 * Changes every schema of a document, inner ones first.
 *
 * @returns The same object if nothing changed.
 */
export function mapSchemas(
  schema: Schema,
  change: (schema: Schema) => Schema,
): Schema {
  const result: Schema = {};
  let changed = false;
  for (const [keyword, held] of Object.entries(schema)) {
    const mapped = mapHeld(keyword, held, change);
    changed ||= mapped !== held;
    setOwn(result, keyword, mapped);
  }
  return change(changed ? result : schema);
}

function mapHeld(
  keyword: string,
  held: unknown,
  change: (schema: Schema) => Schema,
): unknown {
  const holding = holdingOf(keyword);
  if (holding === undefined) return held;
  if (Array.isArray(held)) return mapList(held, change);
  if (!isJsonObject(held)) return held;
  if (holding !== "named") return mapSchemas(held, change);
  const names = Object.keys(held);
  const mapped = mapList(Object.values(held), change);
  if (mapped.every((schema, index) => schema === held[names[index]!])) {
    return held;
  }
  const result: Schema = {};
  names.forEach((name, index) => setOwn(result, name, mapped[index]));
  return result;
}

function mapList(
  schemas: readonly unknown[],
  change: (schema: Schema) => Schema,
): readonly unknown[] {
  const mapped = schemas.map((schema) =>
    isJsonObject(schema) ? mapSchemas(schema, change) : schema
  );
  return mapped.every((schema, index) => schema === schemas[index])
    ? schemas
    : mapped;
}
