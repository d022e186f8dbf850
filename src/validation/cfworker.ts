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
 *
 * A value whose check would follow more than 100,000 references is refused: schemas of
 * a few lines can lead every reference to two others.
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
        countedLookups(definitions),
        false,
      );
      return valid ? [] : leafErrors(errors);
    };
  },
});

const mostLookups = 100_000;

/** The same definitions, which can be looked up only so often. */
function countedLookups<T>(definitions: Record<string, T>): Record<string, T> {
  let leftCount = mostLookups;
  return new Proxy(definitions, {
    get(target, address) {
      leftCount -= 1;
      if (leftCount < 0) throw new RangeError("The check takes too long");
      return target[String(address)];
    },
  });
}
