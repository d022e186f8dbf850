import { Validator } from "@cfworker/json-schema";
import fc from "fast-check";
import { compileJsonSchema } from "../../src/validation/compile.ts";
import { describeErrors } from "../../src/validation/messages.ts";
import { JsonSchemaError } from "../../src/validation/schema_error.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { test } from "../support/suite.ts";

/** Part of every text and number that a value or a schema holds, and of no name or keyword. */
const secrets = ["s3cret", "4711"];

const names = fc.constantFrom("a", "b", "c", "0", "10", "x/y", "x~y", "é %#");
const scalars: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom("s3cret", "s3cret-longer", 4711, -4711, 4711.5, 47110),
  fc.boolean(),
  fc.constant(null),
);
const { value: values } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    scalars,
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(names, tie("value"), { maxKeys: 4 }),
  ),
}));

const { schema: schemas } = fc.letrec((tie) => {
  const schema = tie("schema");
  const list = fc.array(schema, { minLength: 1, maxLength: 3 });
  const named = fc.dictionary(names, schema, { maxKeys: 3 });
  const nameList = fc.uniqueArray(names, { maxLength: 3 });
  const count = fc.nat(3);
  const keywords: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
    type: fc.constantFrom("string", "number", "integer", "object", "array"),
    enum: fc.array(values, { maxLength: 3 }),
    const: values,
    minimum: fc.constantFrom(-4711, 4711, 47110),
    exclusiveMaximum: fc.constantFrom(-4711, 4711, 47110),
    multipleOf: fc.constantFrom(4711, 0.5),
    minLength: fc.constantFrom(6, 7, 20),
    pattern: fc.constantFrom("^s3cret$", "longer", "^4711"),
    format: fc.constantFrom("email", "uuid", "unknown"),
    required: nameList,
    minProperties: count,
    maxProperties: count,
    dependentRequired: fc.dictionary(names, nameList, { maxKeys: 2 }),
    dependencies: fc.dictionary(names, fc.oneof(schema, nameList)),
    dependentSchemas: named,
    properties: named,
    patternProperties: fc.dictionary(fc.constantFrom("^[ab]$", "x"), schema),
    additionalProperties: schema,
    unevaluatedProperties: schema,
    propertyNames: fc.constantFrom({ maxLength: 1 }, false, { enum: ["a"] }),
    prefixItems: list,
    items: schema,
    unevaluatedItems: schema,
    contains: schema,
    minContains: count,
    maxContains: count,
    minItems: count,
    maxItems: count,
    uniqueItems: fc.boolean(),
    allOf: list,
    anyOf: list,
    oneOf: list,
    not: schema,
    if: schema,
    then: schema,
    else: schema,
    $ref: fc.constantFrom("#", "#/$defs/a", "#/$defs/b"),
  };
  const single = Object.entries(keywords)
    .map(([keyword, value]) => value.map((given) => [keyword, given] as const));
  const several = fc.array(fc.oneof(...single), { maxLength: 4 });
  return {
    schema: fc.oneof(
      { maxDepth: 4 },
      fc.boolean(),
      several.map((members) => Object.fromEntries(members)),
    ),
  };
});

const documents = fc.tuple(schemas, schemas, schemas)
  .map(([root, a, b]) =>
    typeof root === "object" && root !== null
      ? { ...root, $defs: { a, b } }
      : root
  );

test("random schemas and values never throw, never repeat a value, and agree with the bare engine", () => {
  let refused = 0;
  let compared = 0;
  fc.assert(
    fc.property(documents, values, (schema, value) => {
      let errors;
      try {
        errors = compileJsonSchema(schema)(value);
      } catch (error) {
        assert(error instanceof JsonSchemaError);
        return;
      }
      if (errors.length > 0) refused++;
      const text = JSON.stringify(describeErrors(errors));
      for (const secret of secrets) assert(!text.includes(secret), text);

      const expected = bareVerdict(schema, value);
      if (expected === undefined) return;
      assertEquals(errors.length === 0, expected);
      compared++;
    }),
    { numRuns: 5_000, seed: 20_260_101 },
  );
  assert(compared > 3_000, `compared ${compared}`);
  assert(refused > 1_000, `refused ${refused}`);
});

/** What the engine says of the schema as it stands, less the formats; undefined if it cannot say anything. */
function bareVerdict(schema: unknown, value: unknown): boolean | undefined {
  try {
    const copy = JSON.parse(
      JSON.stringify(schema),
      (key, member) => key === "format" ? undefined : member,
    );
    return new Validator(copy, "2020-12", false).validate(value).valid;
  } catch {
    return undefined;
  }
}
