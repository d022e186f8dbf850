import { cfworkerCompiler } from "./cfworker.ts";
import type {
  JsonSchemaCompiler,
  SchemaFormats,
  SchemaPatterns,
  SchemaValidator,
} from "./compiler.ts";
import { chooseDraft } from "./draft.ts";
import { checkJsonSchema } from "./schema_check.ts";

/** How a schema becomes a validator. */
export interface CompileJsonSchemaOptions {
  /** What happens with `format`. @default {"ignore"} */
  readonly formats?: SchemaFormats | undefined;
  /**
   * What happens with patterns: one that somebody else has chosen can keep a single
   * comparison busy for years.
   *
   * @default {"apply"}
   */
  readonly patterns?: SchemaPatterns | undefined;
  /** The engine. @default {cfworkerCompiler} */
  readonly compiler?: JsonSchemaCompiler | undefined;
}

/**
 * Checks a schema and prepares the check of values against it.
 *
 * The version is read from `$schema`; without one, or with one that is unknown, it
 * is 2020-12.
 *
 * @returns A function that says what is wrong with a value. It never throws: a
 * value that the engine cannot cope with, because it is too deep or too large, is
 * refused as a whole.
 * @throws {JsonSchemaError} If the schema is broken, or deeper than this runtime can follow.
 *
 * @example Check a value
 * ```ts
 * import { compileJsonSchema } from "@ejagent/core/validation";
 * import { deepEqual } from "node:assert/strict";
 *
 * const validate = compileJsonSchema({
 *   properties: { count: { type: "integer" } },
 *   required: ["name"],
 * });
 * deepEqual(validate({ name: "a", count: 1 }), []);
 * deepEqual(validate({ count: "many" }), [
 *   { path: "", keyword: "required", missing: "name" },
 *   { path: "/count", keyword: "type" },
 * ]);
 * ```
 */
export function compileJsonSchema(
  schema: unknown,
  options: CompileJsonSchemaOptions = {},
): SchemaValidator {
  const {
    formats = "ignore",
    patterns = "apply",
    compiler = cfworkerCompiler,
  } = options;
  const { draft } = chooseDraft(schema);
  checkJsonSchema(schema, draft);
  const validate = compiler.compile(schema, { draft, formats, patterns });
  return (value) => {
    try {
      return validate(value);
    } catch {
      return [{ path: "", keyword: "schema" }];
    }
  };
}
