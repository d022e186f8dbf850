import { compileJsonSchema } from "../../src/validation/compile.ts";
import { checkJsonSchema } from "../../src/validation/schema_check.ts";
import { assertEquals } from "../support/assert.ts";
import { test } from "../support/suite.ts";

const addressOf = {
  "4": "http://json-schema.org/draft-04/schema#",
  "7": "http://json-schema.org/draft-07/schema#",
  "2019-09": "https://json-schema.org/draft/2019-09/schema",
  "2020-12": "https://json-schema.org/draft/2020-12/schema",
};

/** A schema, a value that it refuses, and the versions that know why. */
const sinceDraft: readonly (readonly [object, unknown, string])[] = [
  [{ const: 1 }, 2, "7 2019-09 2020-12"],
  [{ contains: { type: "string" } }, [1], "7 2019-09 2020-12"],
  [{ propertyNames: { maxLength: 1 } }, { ab: 1 }, "7 2019-09 2020-12"],
  [
    { if: { type: "object" }, then: { required: ["x"] } },
    {},
    "7 2019-09 2020-12",
  ],
  [{ if: { type: "string" }, else: { minimum: 2 } }, 1, "7 2019-09 2020-12"],
  [{ contains: { const: 1 }, minContains: 2 }, [1], "2019-09 2020-12"],
  [{ contains: { const: 1 }, maxContains: 1 }, [1, 1], "2019-09 2020-12"],
  [{ dependentRequired: { a: ["b"] } }, { a: 1 }, "2019-09 2020-12"],
  [{ dependentSchemas: { a: false } }, { a: 1 }, "2019-09 2020-12"],
  [{ unevaluatedProperties: false }, { a: 1 }, "2019-09 2020-12"],
  [{ unevaluatedItems: false }, [1], "2019-09 2020-12"],
  [{ prefixItems: [{ type: "string" }] }, [1], "2020-12"],
  [{ dependencies: { a: ["b"] } }, { a: 1 }, "4 7 2019-09 2020-12"],
];

for (const [schema, value, versions] of sinceDraft) {
  const keywords = Object.keys(schema).join(" and ");
  test(`${keywords} is applied by ${versions}`, () => {
    const refusing = Object.entries(addressOf)
      .filter(([, $schema]) =>
        compileJsonSchema({ $schema, ...schema })(value).length > 0
      )
      .map(([draft]) => draft);
    assertEquals(refusing, versions.split(" "));
  });
}

test("an older version does not care what a later keyword holds", () => {
  checkJsonSchema({ $schema: addressOf["7"], prefixItems: "none" });
  checkJsonSchema({
    $schema: addressOf["7"],
    dependentSchemas: { a: { $ref: "#/nowhere" } },
  });
  checkJsonSchema({ $schema: addressOf["4"], if: true, const: 1 });
  checkJsonSchema({ $schema: addressOf["7"], $dynamicRef: "#node" });
  checkJsonSchema({ $schema: addressOf["7"], $recursiveRef: "#/a" });
});

test("a reference leads into $defs whatever the version is", () => {
  for (const $schema of Object.values(addressOf)) {
    const validate = compileJsonSchema({
      $schema,
      properties: { a: { $ref: "#/$defs/text" } },
      $defs: { text: { type: "string" } },
    });
    assertEquals(validate({ a: 1 }), [{ path: "/a", keyword: "type" }]);
  }
});
