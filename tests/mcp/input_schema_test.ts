import { usableInputSchema } from "../../src/mcp/input_schema.ts";
import { JsonSchemaError } from "../../src/validation/schema_error.ts";
import {
  assertEquals,
  assertStrictEquals,
  assertThrows,
} from "../support/assert.ts";
import { test } from "../support/suite.ts";

test("a schema that is fine stays the same object, definitions and all", {
  case: "B81",
}, () => {
  const schema = {
    type: "object",
    properties: { tree: { $ref: "#/$defs/tree" } },
    required: ["tree"],
    $defs: {
      tree: {
        type: "object",
        properties: {
          kids: { type: "array", items: { $ref: "#/$defs/tree" } },
        },
      },
    },
  };
  assertStrictEquals(usableInputSchema(schema), schema);
});

test("arrays say what they hold, however deep they are", () => {
  const tuple = { type: "array", prefixItems: [{ type: "string" }] };
  const loose = { type: "array" };
  const nested = (list: object) => ({
    type: "object",
    properties: {
      tuple,
      choice: { anyOf: [{ type: "array", items: list }, { type: "null" }] },
    },
    $defs: { list },
  });
  const given = nested(loose);
  assertEquals<unknown>(
    usableInputSchema(given),
    nested({ type: "array", items: {} }),
  );
  assertEquals(given, nested({ type: "array" }));
});

test("what a member is called does not matter", () => {
  const schema = {
    type: "object",
    properties: { items: { type: "string" }, type: { const: "array" } },
    default: { type: "array" },
  };
  assertStrictEquals(usableInputSchema(schema), schema);
});

test("alternatives at the root become optional properties", () => {
  const text = { type: "string" };
  assertEquals<unknown>(
    usableInputSchema({
      description: "kept",
      properties: { always: text },
      required: ["always"],
      allOf: [{ properties: { also: text }, required: ["also"] }],
      oneOf: [
        { $ref: "#/$defs/byId" },
        { properties: { name: text }, required: ["name"] },
      ],
      anyOf: [{ required: ["also"] }, {
        anyOf: [{ properties: { deep: text } }],
      }],
      not: { required: ["never"] },
      $defs: { byId: { properties: { id: text }, required: ["id"] } },
    }),
    {
      description: "kept",
      type: "object",
      properties: {
        always: text,
        also: text,
        deep: text,
        id: text,
        name: text,
      },
      required: ["always", "also"],
      $defs: { byId: { properties: { id: text }, required: ["id"] } },
    },
  );
});

test("what cannot describe arguments is refused", () => {
  const refused: readonly (readonly [unknown, string])[] = [
    ["text", "inputSchema is no object"],
    [[], "inputSchema is no object"],
    [{ type: "array" }, "inputSchema does not describe an object"],
    [{ anyOf: [{ $ref: "#/$defs/gone" }] }, "refers to an alternative"],
    [{ anyOf: [{ $ref: "#" }] }, "refers to an alternative"],
    [
      {
        anyOf: [{ $ref: "#/$defs/a" }],
        $defs: { a: { anyOf: [{ $ref: "#/$defs/a" }] } },
      },
      "nests its alternatives too deeply",
    ],
  ];
  for (const [schema, text] of refused) {
    assertThrows(() => usableInputSchema(schema), TypeError, text);
  }
  assertThrows(
    () => usableInputSchema({ properties: { a: { pattern: "(" } } }),
    JsonSchemaError,
  );
  assertEquals<unknown>(
    usableInputSchema({ type: ["object", "null"] }),
    { type: "object", properties: {} },
  );
});

test("references that multiply their alternatives are refused at once", () => {
  const doubled = (layers: number) => {
    const $defs: Record<string, unknown> = {
      [`a${layers}`]: { properties: { x: { type: "string" } } },
    };
    for (let layer = 0; layer < layers; layer++) {
      const next = { $ref: `#/$defs/a${layer + 1}` };
      $defs[`a${layer}`] = { anyOf: Array(10).fill(next) };
    }
    return { $defs, anyOf: [{ $ref: "#/$defs/a0" }] };
  };
  assertEquals<unknown>(usableInputSchema(doubled(2)).properties, {
    x: { type: "string" },
  });
  assertThrows(
    () => usableInputSchema(doubled(12)),
    TypeError,
    "inputSchema has too many alternatives",
  );
});

test("a reference to an alternative may be escaped, but leads to own members only", () => {
  const { properties } = usableInputSchema({
    $defs: { "a b/c": { properties: { z: {} } } },
    anyOf: [{ $ref: "#/$defs/a%20b~1c" }],
  });
  assertEquals<unknown>(properties, { z: {} });
  for (const $ref of ["#/constructor", "#/__proto__", "#/%"]) {
    assertThrows(
      () => usableInputSchema({ anyOf: [{ $ref }] }),
      TypeError,
      "refers to an alternative that is not there",
    );
  }
});
