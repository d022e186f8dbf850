/**
 * Checks the arguments of tool calls against JSON Schema.
 *
 * ```ts
 * import { ToolDefinition } from "@ejagent/core";
 * import { ToolSchemaValidationMiddleware } from "@ejagent/core/validation";
 *
 * const middleware = new ToolSchemaValidationMiddleware();
 * middleware.configureTools([
 *   new ToolDefinition({
 *     name: "transfer",
 *     parameters: { properties: { amount: { type: "number", minimum: 0 } } },
 *   }),
 * ]);
 * ```
 *
 * Choose this entry when tools describe their arguments by JSON Schema alone: tools of
 * servers, of catalogues, of other programs. Tools made by `defineTool` with a validating
 * schema library check their arguments by themselves.
 *
 * Nothing is fetched and no code is generated, so it runs in Workers as well.
 *
 * @module
 */
export { ToolSchemaConfigurationError } from "../tools/schema_error.ts";
export type { ToolSchemaErrorOptions } from "../tools/schema_error.ts";
export { cfworkerCompiler } from "./cfworker.ts";
export { compileJsonSchema } from "./compile.ts";
export type { CompileJsonSchemaOptions } from "./compile.ts";
export type {
  JsonSchemaCompileOptions,
  JsonSchemaCompiler,
  SchemaFormats,
  SchemaLeafError,
  SchemaPatterns,
  SchemaValidator,
} from "./compiler.ts";
export { chooseDraft } from "./draft.ts";
export type { DraftChoice, JsonSchema, JsonSchemaDraft } from "./draft.ts";
export { ToolSchemaValidationMiddleware } from "./middleware.ts";
export type { ToolSchemaValidationOptions } from "./middleware.ts";
export { checkJsonSchema } from "./schema_check.ts";
export { JsonSchemaError } from "./schema_error.ts";
