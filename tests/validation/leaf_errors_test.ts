import { compileJsonSchema } from "../../src/validation/compile.ts";
import { leafErrors } from "../../src/validation/leaf_errors.ts";
import { describeErrors } from "../../src/validation/messages.ts";
import { assertEquals } from "../support/assert.ts";
import { test } from "../support/suite.ts";

function places(schema: unknown, value: unknown): string[] {
  return describeErrors(compileJsonSchema(schema)(value))
    .map(({ path, keyword }) => `${path} ${keyword}`);
}

/** Keyword by keyword: a schema, a value that fails it, and what is told. */
const told: readonly (readonly [unknown, unknown, ...string[]])[] = [
  [{ type: "string" }, 1, " type"],
  [{ type: ["string", "null"] }, 1, " type"],
  [{ const: 1 }, 2, " const"],
  [{ enum: [1, { a: 1 }] }, 2, " enum"],
  [{ enum: [] }, 2, " enum"],
  [{ pattern: "^a" }, "b", " pattern"],
  [{ minLength: 2 }, "b", " minLength"],
  [{ maxLength: 0 }, "b", " maxLength"],
  [{ minimum: 2 }, 1, " minimum"],
  [{ maximum: 2 }, 3, " maximum"],
  [{ exclusiveMinimum: 2 }, 2, " exclusiveMinimum"],
  [{ exclusiveMaximum: 2 }, 2, " exclusiveMaximum"],
  [{ multipleOf: 2 }, 3, " multipleOf"],
  [{ minItems: 1 }, [], " minItems"],
  [{ maxItems: 0 }, [1], " maxItems"],
  [{ uniqueItems: true }, [1, 1, 2, 2], " uniqueItems"],
  [{ minProperties: 1 }, {}, " minProperties"],
  [{ maxProperties: 0 }, { a: 1 }, " maxProperties"],
  [{ required: ["b", "a"] }, {}, "/b required", "/a required"],
  [{ required: ['a"b', "c/d"] }, {}, '/a"b required', "/c~1d required"],
  [
    { dependentRequired: { a: ["b", 'c".'] } },
    { a: 1 },
    "/b dependentRequired",
    '/c". dependentRequired',
  ],
  [{ dependencies: { a: ["b"] } }, { a: 1 }, "/b dependencies"],
  [{ dependencies: { a: { required: ["b"] } } }, { a: 1 }, "/b required"],
  [{ dependencies: { a: false, id: ["b"] } }, { a: 1 }, " schema"],
  [
    { dependentSchemas: { a: { maxProperties: 0 } } },
    { a: 1 },
    " maxProperties",
  ],
  [{ properties: { a: { type: "string" } } }, { a: 1 }, "/a type"],
  [{ properties: { a: false } }, { a: 1 }, "/a schema"],
  [{ patternProperties: { "^a": { type: "string" } } }, { ab: 1 }, "/ab type"],
  [{ patternProperties: { "^a": false } }, { ab: 1 }, "/ab schema"],
  [{ additionalProperties: false }, { a: 1, b: 2 }, " additionalProperties"],
  [{ additionalProperties: { type: "string" } }, { a: 1 }, "/a type"],
  [{ unevaluatedProperties: false }, { a: 1, b: 1 }, " unevaluatedProperties"],
  [{ unevaluatedProperties: { type: "string" } }, { a: 1 }, "/a type"],
  [{ propertyNames: { maxLength: 1 } }, { aa: 1, bb: 1 }, " propertyNames"],
  [{ propertyNames: false }, { a: 1 }, " propertyNames"],
  [
    { prefixItems: [{ type: "string" }, false] },
    [1, 2],
    "/0 type",
    "/1 schema",
  ],
  [{ items: { type: "string" } }, ["a", 1], "/1 type"],
  [{ items: false }, [1, 2], " items"],
  [{ prefixItems: [true], items: false }, [1, 2], " items"],
  [{ unevaluatedItems: false }, [1, 2], " unevaluatedItems"],
  [{ contains: { type: "string" } }, [1, 2], " contains"],
  [{ contains: false }, [1], " contains"],
  [{ contains: { type: "string" } }, [], " contains"],
  [
    { contains: { type: "string" }, minContains: 2 },
    ["a", 1, 2],
    " minContains",
  ],
  [{ contains: false, minContains: 1 }, [1, 2], " minContains"],
  [
    { contains: { type: "string" }, maxContains: 1 },
    ["a", "b"],
    " maxContains",
  ],
  [{ allOf: [{ type: "string" }, { minimum: 2 }] }, 1, " minimum", " type"],
  [{ allOf: [true, false] }, 1, " schema"],
  [{ anyOf: [{ type: "string" }, { minimum: 2 }] }, 1, " anyOf"],
  [{ anyOf: [false, { properties: { a: false } }] }, { a: 1 }, " anyOf"],
  [{ oneOf: [{ type: "string" }, { minimum: 2 }] }, 1, " oneOf"],
  [{ oneOf: [true, { minimum: 0 }] }, 1, " oneOf"],
  [{ not: { type: "number" } }, 1, " not"],
  [{ not: true }, 1, " not"],
  [{ if: true, then: { minimum: 2 }, else: { maximum: 0 } }, 1, " minimum"],
  [{ if: false, then: { minimum: 2 }, else: { maximum: 0 } }, 1, " maximum"],
  [{ if: true, then: false }, 1, " schema"],
  [{ $ref: "#/$defs/a", $defs: { a: { minimum: 2 } } }, 1, " minimum"],
  [{ $ref: "#/$defs/a", $defs: { a: false } }, 1, " schema"],
  [false, 1, " schema"],
];

for (const [schema, value, ...expected] of told) {
  test(`${JSON.stringify(schema)} refuses ${JSON.stringify(value)}`, () => {
    assertEquals(places(schema, value), expected);
  });
}

test("draft 4 writes exclusive limits as flags", () => {
  const $schema = "http://json-schema.org/draft-04/schema#";
  const schema = { $schema, minimum: 1, exclusiveMinimum: true };
  assertEquals(places(schema, 1), [" minimum"]);
  const items = {
    $schema,
    items: [{ type: "string" }],
    additionalItems: false,
  };
  assertEquals(places(items, [1, 2]), [" additionalItems", "/0 type"]);
});

test("the names that dependencies demand are told", {
  case: "TL-135",
}, () => {
  const schema = { dependentRequired: { a: ["b", "c"] } };
  assertEquals(places(schema, { a: 1 }), [
    "/b dependentRequired",
    "/c dependentRequired",
  ]);
});

test("a false schema is told although alternatives failed before it", () => {
  const schema = { allOf: [{ anyOf: [{ type: "string" }] }, false] };
  assertEquals(places(schema, 1), [" anyOf", " schema"]);
});

test("alternatives deep inside hide what failed in them and nothing else", () => {
  const alternatives = { anyOf: [{ type: "string" }, { items: false }] };
  const schema = {
    properties: { a: alternatives, b: { type: "string" }, c: false },
    items: alternatives,
  };
  assertEquals(places(schema, { a: [1], b: 1, c: 1 }), [
    "/a anyOf",
    "/b type",
    "/c schema",
  ]);
  assertEquals(places(schema, [[1], [2], "x", []]), ["/0 anyOf", "/1 anyOf"]);
});

test("a member that fails its own schema is not told as unevaluated as well", () => {
  const schema = {
    properties: { a: { type: "string" }, l: { type: "array" } },
    unevaluatedProperties: false,
  };
  assertEquals(places(schema, { a: 1 }), ["/a type"]);
  assertEquals(places(schema, { a: 1, z: 1 }), [
    " unevaluatedProperties",
    "/a type",
  ]);
  const items = { allOf: [{ prefixItems: [{ type: "string" }] }] };
  assertEquals(places({ ...items, unevaluatedItems: false }, [1]), ["/0 type"]);
});

test("the same fault is told once", () => {
  const text = { type: "string" };
  const schema = { allOf: [text, { properties: { a: text } }, text] };
  assertEquals(places(schema, 1), [" type"]);
  const twice = { allOf: [{ required: ["a"] }, { required: ["a", "b"] }] };
  assertEquals(places(twice, {}), ["/a required", "/b required"]);
});

test("a failure without any reason still is one", () => {
  assertEquals(leafErrors([]), [{ path: "", keyword: "schema" }]);
});

test("the name of a missing property is left out if the text says something new", () => {
  const unit = {
    keyword: "required",
    keywordLocation: "#/required",
    instanceLocation: "#/a",
    error: "Something else.",
  };
  assertEquals(leafErrors([unit]), [{ path: "/a", keyword: "required" }]);
});
