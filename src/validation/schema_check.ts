import { isJsonObject } from "../base/json.ts";
import { chooseDraft, type JsonSchema, type JsonSchemaDraft } from "./draft.ts";
import { keywordFault } from "./keyword_rules.ts";
import { pointerTo } from "./pointer.ts";
import { resolveReferences } from "./references.ts";
import { JsonSchemaError } from "./schema_error.ts";
import { subSchemas } from "./sub_schemas.ts";

/**
 * Checks that a value is a JSON Schema that can be applied: every keyword has the
 * shape it must have, every pattern compiles, every reference leads to a schema of
 * the same document, and no reference leads round in a circle.
 *
 * Keywords that this version of JSON Schema does not know are ignored. Nothing is
 * fetched.
 *
 * @param schema The whole document.
 * @param draft Version to check against; what `$schema` says if omitted.
 * @throws {JsonSchemaError} With the place of the first thing that is wrong.
 *
 * @example A broken schema names the place
 * ```ts
 * import { checkJsonSchema, JsonSchemaError } from "@ejagent/core/validation";
 * import { throws } from "node:assert/strict";
 *
 * checkJsonSchema({ properties: { host: { type: "string" } } });
 * throws(
 *   () => checkJsonSchema({ properties: { host: { minLength: -1 } } }),
 *   (error) =>
 *     error instanceof JsonSchemaError &&
 *     error.pointer === "/properties/host/minLength",
 * );
 * ```
 */
export function checkJsonSchema(
  schema: unknown,
  draft: JsonSchemaDraft = chooseDraft(schema).draft,
): asserts schema is JsonSchema {
  withinStack(() => {
    requireSchema(schema, "", draft);
    const { outside } = resolveReferences(schema, draft);
    for (const { schema, pointer } of outside) {
      requireSchema(schema, pointer, draft);
    }
  });
}

/**
 * Looks through a schema as deep as it goes.
 *
 * @throws {JsonSchemaError} If that is too deep for this runtime.
 */
export function withinStack<T>(look: () => T): T {
  try {
    return look();
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
    throw new JsonSchemaError("", "is nested too deeply", { cause });
  }
}

function requireSchema(
  schema: unknown,
  pointer: string,
  draft: JsonSchemaDraft,
  holder?: string,
): asserts schema is JsonSchema {
  if (typeof schema === "boolean" && allowsBoolean(draft, holder)) return;
  if (!isJsonObject(schema)) {
    const shape = draft === "4" ? "an object" : "an object or a boolean";
    throw new JsonSchemaError(pointer, `a schema must be ${shape}`);
  }
  for (const keyword of Object.keys(schema)) {
    const fault = keywordFault(keyword, schema, draft);
    if (fault !== undefined) {
      throw new JsonSchemaError(pointerTo(pointer, keyword), fault);
    }
  }
  for (const sub of subSchemas(schema, pointer, draft)) {
    requireSchema(sub.schema, sub.pointer, draft, sub.keyword);
  }
}

/** Draft 4 knows boolean schemas behind two keywords only. */
function allowsBoolean(draft: JsonSchemaDraft, holder: string | undefined) {
  return draft !== "4" || holder === "additionalItems" ||
    holder === "additionalProperties";
}
