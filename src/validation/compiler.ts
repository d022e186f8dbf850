import type { JsonSchema, JsonSchemaDraft } from "./draft.ts";

/** What happens with `format`: nothing, or a check of the formats that are known. */
export type SchemaFormats = "ignore" | "assert";

/**
 * What happens with `pattern` and `patternProperties`: they are applied, or left out
 * together with everything that would refuse more values without them.
 */
export type SchemaPatterns = "apply" | "ignore";

/** How a schema is compiled. */
export interface JsonSchemaCompileOptions {
  /** Version of JSON Schema. */
  readonly draft: JsonSchemaDraft;
  /** What happens with `format`. */
  readonly formats: SchemaFormats;
  /** What happens with patterns. @default {"apply"} */
  readonly patterns?: SchemaPatterns | undefined;
}

/** One thing that is wrong with a value; holds neither values nor texts of the schema. */
export interface SchemaLeafError {
  /** JSON Pointer of the value that is wrong; `""` is the whole value. */
  readonly path: string;
  /** The keyword that it fails; `"schema"` where nothing at all is allowed. */
  readonly keyword: string;
  /** Name of the property that the object at `path` lacks. */
  readonly missing?: string;
}

/**
 * Checks a value.
 *
 * @returns What is wrong, in the order of the schema; empty if nothing is.
 */
export type SchemaValidator = (value: unknown) => readonly SchemaLeafError[];

/**
 * An engine that checks values against a schema.
 *
 * Called once for each schema that passed `checkJsonSchema`, when the tools of an
 * agent are configured. May throw; the schema then counts as broken. The validator
 * that it returns may throw as well; the value is refused then.
 */
export interface JsonSchemaCompiler {
  /**
   * Prepares the check of values.
   *
   * @param schema Frozen or shared with others; must not be changed.
   */
  compile(
    schema: JsonSchema,
    options: JsonSchemaCompileOptions,
  ): SchemaValidator;
}
