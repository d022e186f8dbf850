import { compileJsonSchema } from "../../src/validation/compile.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { test } from "../support/suite.ts";

const draft7 = { $schema: "http://json-schema.org/draft-07/schema#" };

/** Schemas with patterns, values that fit them or only lack a pattern, and one that never fits. */
const lenient: readonly (readonly [object, readonly unknown[], unknown])[] = [
  [{ type: "string", pattern: "^a$" }, ["a", "b"], 1],
  [{ properties: { a: { pattern: "^a$", maxLength: 2 } } }, [{ a: "b" }], {
    a: "too long",
  }],
  [
    {
      type: "object",
      patternProperties: { "^a$": { type: "string" } },
      additionalProperties: false,
    },
    [{ a: "" }, { a: 1 }, { b: 1 }],
    1,
  ],
  [
    {
      type: "object",
      allOf: [{ patternProperties: { "^a$": true } }],
      unevaluatedProperties: false,
    },
    [{ a: 1 }, { b: 1 }],
    1,
  ],
  [{ type: "string", not: { pattern: "^a$" } }, ["a", "b"], 1],
  [{ oneOf: [{ pattern: "^a" }, { maxLength: 1 }] }, ["ab", "a", "b"], null],
  [
    { type: "string", if: { pattern: "^a$" }, then: { maxLength: 0 } },
    ["a", "b"],
    1,
  ],
  [
    { type: "array", contains: { pattern: "^a$" }, maxContains: 1 },
    [["a"], ["a", "b"], ["b", "b"]],
    [],
  ],
  [{ propertyNames: { pattern: "^a$", maxLength: 1 } }, [{ b: 1 }], { bb: 1 }],
  [
    {
      ...draft7,
      definitions: { word: { type: "string", pattern: "^a$" } },
      properties: { a: { $ref: "#/definitions/word" } },
    },
    [{ a: "b" }],
    { a: 1 },
  ],
];

for (const [schema, accepted, refused] of lenient) {
  test(`patterns can be left out of ${JSON.stringify(schema)}`, () => {
    const validate = compileJsonSchema(schema, { patterns: "ignore" });
    for (const value of accepted) assertEquals(validate(value), []);
    if (refused !== null) assert(validate(refused).length > 0);
  });
}

test("without patterns nothing is left out", () => {
  const schema = {
    properties: { pattern: { type: "string" } },
    additionalProperties: false,
    not: { required: ["a", "b"] },
    oneOf: [{ required: ["a"] }, { required: ["b"] }, { required: ["c"] }],
  };
  const validate = compileJsonSchema(schema, { patterns: "ignore" });
  const strict = compileJsonSchema(schema);
  for (const value of [{ pattern: 1 }, { a: 1, b: 1 }, { c: 1 }, { d: 1 }]) {
    assertEquals(validate(value), strict(value));
  }
});

test("patterns are applied unless told otherwise", () => {
  const validate = compileJsonSchema({ pattern: "^a$" });
  assertEquals(validate("b"), [{ path: "", keyword: "pattern" }]);
});
