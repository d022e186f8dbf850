import { validate } from "@cfworker/json-schema";
import type {
  JsonSchemaCompileOptions,
  JsonSchemaCompiler,
  SchemaValidator,
} from "./compiler.ts";
import type { JsonSchema } from "./draft.ts";
import { leafErrors } from "./leaf_errors.ts";
import { lowerSchema } from "./lower.ts";

/**
 * The engine used by default. It interprets the schema and generates no code, so
 * it runs where `eval` is forbidden.
 *
 * `1.0` is an integer, text lengths count code points, and `multipleOf` compares
 * decimal numbers. Patterns are searched for, not matched against the whole text.
 */
export const cfworkerCompiler: JsonSchemaCompiler = Object.freeze({
  compile(
    schema: JsonSchema,
    options: JsonSchemaCompileOptions,
  ): SchemaValidator {
    const { root, definitions } = lowerSchema(schema, options);
    return (value) => {
      const { valid, errors } = validate(
        value,
        root,
        options.draft,
        definitions,
        false,
      );
      return valid ? [] : leafErrors(errors);
    };
  },
});
