import { chooseDraft } from "../../src/validation/draft.ts";
import { checkJsonSchema } from "../../src/validation/schema_check.ts";
import { JsonSchemaError } from "../../src/validation/schema_error.ts";
import { compileJsonSchema } from "../../src/validation/compile.ts";
import { assertEquals, assertThrows } from "../support/assert.ts";
import { test } from "../support/suite.ts";

const draft4 = { $schema: "http://json-schema.org/draft-04/schema#" };
const draft7 = { $schema: "http://json-schema.org/draft-07/schema#" };
const draft2019 = { $schema: "https://json-schema.org/draft/2019-09/schema" };

/** Schemas that are broken, and where. */
const broken: readonly (readonly [unknown, string])[] = [
  [null, ""],
  [[], ""],
  ["string", ""],
  [{ type: "not-a-json-schema-type" }, "/type"],
  [{ type: [] }, "/type"],
  [{ type: ["string", "string"] }, "/type"],
  [{ type: "constructor" }, "/type"],
  [{ properties: { a: 1 } }, "/properties/a"],
  [{ properties: [] }, "/properties"],
  [{ properties: { a: [] } }, "/properties/a"],
  [
    { properties: { "a/b": { "m~n": 1, minItems: -1 } } },
    "/properties/a~1b/minItems",
  ],
  [{ required: "a" }, "/required"],
  [{ required: [1] }, "/required"],
  [{ required: ["a", "a"] }, "/required"],
  [{ minLength: -1 }, "/minLength"],
  [{ minLength: 1.5 }, "/minLength"],
  [{ maxContains: "1" }, "/maxContains"],
  [{ minimum: "1" }, "/minimum"],
  [{ multipleOf: 0 }, "/multipleOf"],
  [{ exclusiveMinimum: true }, "/exclusiveMinimum"],
  [{ uniqueItems: 1 }, "/uniqueItems"],
  [{ enum: "a" }, "/enum"],
  [{ examples: {} }, "/examples"],
  [{ anyOf: [] }, "/anyOf"],
  [{ allOf: {} }, "/allOf"],
  [{ oneOf: [1] }, "/oneOf/0"],
  [{ prefixItems: [] }, "/prefixItems"],
  [{ items: [{}] }, "/items"],
  [{ not: null }, "/not"],
  [{ pattern: "[" }, "/pattern"],
  [{ patternProperties: { "[": true } }, "/patternProperties"],
  [{ dependentRequired: { a: "b" } }, "/dependentRequired"],
  [{ dependentSchemas: { a: ["b"] } }, "/dependentSchemas/a"],
  [{ dependencies: { a: [1] } }, "/dependencies"],
  [{ dependencies: { a: 1 } }, "/dependencies/a"],
  [{ $defs: { a: { type: "nope" } } }, "/$defs/a/type"],
  [{ definitions: { a: { type: "nope" } } }, "/definitions/a/type"],
  [{ title: null }, "/title"],
  [{ $ref: 1 }, "/$ref"],
  [{ $dynamicRef: "#a" }, "/$dynamicRef"],
  [{ $recursiveRef: "#/a" }, "/$recursiveRef"],
  [{ $schema: 7 }, "/$schema"],
  [{ $schema: "http://json-schema.org/draft-03/schema#" }, "/$schema"],
  [{ $id: "http://[" }, "/$id"],
  [{ ...draft4, properties: { a: true } }, "/properties/a"],
  [
    { ...draft4, properties: { additionalItems: true } },
    "/properties/additionalItems",
  ],
  [{ ...draft4, required: [] }, "/required"],
  [{ ...draft4, enum: [] }, "/enum"],
  [{ ...draft4, exclusiveMinimum: true }, "/exclusiveMinimum"],
  [{ ...draft4, exclusiveMinimum: 1, minimum: 1 }, "/exclusiveMinimum"],
  [{ ...draft4, id: 1 }, "/id"],
  [{ ...draft7, items: [] }, "/items"],
];

for (const [schema, pointer] of broken) {
  test(`${JSON.stringify(schema)} is broken at "${pointer}"`, () => {
    const error = assertThrows(() => checkJsonSchema(schema), JsonSchemaError);
    assertEquals(error.pointer, pointer);
  });
}

/** Schemas that are odd but fine. */
const fine: readonly unknown[] = [
  true,
  false,
  {},
  { properties: { a: true } },
  { enum: [] },
  { enum: [1, 1] },
  { required: [] },
  { minLength: 1.0 },
  { default: { x: 1 } },
  { const: { type: "nope", $ref: "#/nowhere" } },
  { unknownKeyword: { type: "nope", $ref: "#/nowhere", $id: "http://[" } },
  { nullable: true },
  { "x-a": { $id: "same" }, "x-b": { $id: "same" } },
  { properties: { $ref: { type: "string" }, id: {}, $id: {}, type: {} } },
  { id: 1 },
  { ...draft4, additionalProperties: false, additionalItems: true },
  { ...draft4, minimum: 1, exclusiveMinimum: true },
  { ...draft7, items: [{}, true] },
  { ...draft2019, items: [{}], $recursiveAnchor: true },
  JSON.parse('{"properties":{"__proto__":{"type":"string"}}}'),
];

for (const schema of fine) {
  test(`${JSON.stringify(schema)} is fine`, () => {
    checkJsonSchema(schema);
    compileJsonSchema(schema, { formats: "assert" });
  });
}

test("patterns must be regular expressions under the u flag", {
  case: "TL-132",
}, () => {
  for (const pattern of ["^\\_x$", "(?i)x"]) {
    const error = assertThrows(
      () => checkJsonSchema({ properties: { a: { pattern } } }),
      JsonSchemaError,
      "regular expression",
    );
    assertEquals(error.pointer, "/properties/a/pattern");
  }
  assertThrows(
    () => checkJsonSchema({ patternProperties: { "[": {} } }),
    JsonSchemaError,
    "regular expression",
  );
  checkJsonSchema({ pattern: "^[\\w-]+$" });
});

test("a message names the place and no value of the schema", () => {
  const schema = { properties: { a: { pattern: "s3cret(" } } };
  const error = assertThrows(() => checkJsonSchema(schema), JsonSchemaError);
  assertEquals(
    error.message,
    'Invalid JSON Schema at "/properties/a/pattern": must be a regular expression that ECMAScript accepts with the u flag',
  );
  assertEquals(error.code, "json_schema");
});

test("the version is read from $schema, however it is written", () => {
  const draftOf = ($schema: unknown) => chooseDraft({ $schema });
  const read = [
    "http://json-schema.org/draft-04/schema#",
    "http://json-schema.org/draft-06/schema#",
    "https://json-schema.org/draft-07/schema",
    "https://json-schema.org/draft/2019-09/schema#",
    "http://json-schema.org/draft/2020-12/schema",
    undefined,
  ].map((address) => draftOf(address).draft);
  assertEquals(read, ["4", "7", "7", "2019-09", "2020-12", "2020-12"]);
  assertEquals(draftOf("https://example.com/constructor"), {
    draft: "2020-12",
    known: false,
  });
  assertEquals(chooseDraft(true), { draft: "2020-12", known: true });
});

test("a schema that is too deep to look through is a broken schema", () => {
  let schema: object = { type: "string" };
  for (let depth = 0; depth < 100_000; depth++) {
    schema = { properties: { a: schema } };
  }
  for (const read of [checkJsonSchema, compileJsonSchema]) {
    const error = assertThrows(() => read(schema), JsonSchemaError);
    assertEquals(error.pointer, "");
    assertEquals(error.reason, "is nested too deeply");
  }
});
