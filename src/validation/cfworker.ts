import { type Schema, validate } from "@cfworker/json-schema";
import type {
  JsonSchemaCompileOptions,
  JsonSchemaCompiler,
  SchemaValidator,
} from "./compiler.ts";
import type { JsonSchema } from "./draft.ts";
import { leafErrors } from "./leaf_errors.ts";
import { lowerSchema, repetitionAddress, shortItemCount } from "./lower.ts";
import { arraysWithRepetition } from "./repeated_items.ts";
import { withinStack } from "./schema_check.ts";

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
    const { root, definitions } = withinStack(() =>
      lowerSchema(schema, options)
    );
    return (value) => {
      const { valid, errors } = validate(
        value,
        root,
        options.draft,
        lookups(definitions, value),
        false,
      );
      return valid ? [] : leafErrors(errors);
    };
  },
});

const mostLookups = 100_000;

/**
 * The same definitions, which can be looked up only so often, and the one that depends
 * on the value.
 */
function lookups<T>(
  definitions: Record<string, T>,
  value: unknown,
): Record<string, T | Schema> {
  let leftCount = mostLookups;
  let repetition: Schema | undefined;
  return new Proxy<Record<string, T | Schema>>(definitions, {
    get(target, address) {
      if (address === repetitionAddress) {
        return repetition ??= {
          enum: oneOf(arraysWithRepetition(value, shortItemCount)),
        };
      }
      leftCount -= 1;
      if (leftCount < 0) throw new RangeError("The check takes too long");
      return target[String(address)];
    },
  });
}

/** The validator puts the whole list into a text whenever a value is not in it. */
function oneOf(values: unknown[]): unknown[] {
  return Object.assign(values, { toJSON: () => "" });
}
