import { compileJsonSchema } from "../../src/validation/compile.ts";
import { checkJsonSchema } from "../../src/validation/schema_check.ts";
import { JsonSchemaError } from "../../src/validation/schema_error.ts";
import { describeErrors } from "../../src/validation/messages.ts";
import { assertEquals, assertThrows } from "../support/assert.ts";
import { test } from "../support/suite.ts";

function places(schema: unknown, value: unknown): string[] {
  return describeErrors(compileJsonSchema(schema)(value))
    .map(({ path, keyword }) => `${path} ${keyword}`);
}

function brokenAt(schema: unknown, reason: string): string {
  return assertThrows(() => checkJsonSchema(schema), JsonSchemaError, reason)
    .pointer;
}

test("a definition is looked up", { case: "TL-125" }, () => {
  const schema = {
    $defs: { count: { type: "integer", minimum: 1 } },
    properties: { count: { $ref: "#/$defs/count" } },
  };
  assertEquals(places(schema, { count: 0 }), ["/count minimum"]);
  assertEquals(places(schema, { count: 2 }), []);
});

test("draft 7 ignores what stands beside a reference, later drafts do not", {
  case: "TL-126",
}, () => {
  const old = {
    $schema: "http://json-schema.org/draft-07/schema#",
    definitions: { c: { type: "integer" } },
    properties: { c: { $ref: "#/definitions/c", minimum: 5 } },
  };
  assertEquals(places(old, { c: 1 }), []);
  assertEquals(places(old, { c: "x" }), ["/c type"]);

  const current = {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    $defs: { c: { type: "integer" } },
    properties: { c: { $ref: "#/$defs/c", minimum: 5 } },
  };
  assertEquals(places(current, { c: 1 }), ["/c minimum"]);
});

test("a remote reference breaks the schema and nothing is fetched", {
  case: "TL-123",
}, () => {
  const { fetch } = globalThis;
  const fetched: unknown[] = [];
  globalThis.fetch = (input) => {
    fetched.push(input);
    return Promise.reject(new Error("no network"));
  };
  try {
    const schema = { $ref: "https://schemas.example.invalid/tool.json" };
    assertEquals(brokenAt(schema, "leads to no schema"), "/$ref");
    assertEquals(fetched, []);
  } finally {
    globalThis.fetch = fetch;
  }
});

/** A place for `{ type: "string" }` and a reference that leads there. */
const ways: readonly (readonly [string, Record<string, unknown>, string])[] = [
  ["a pointer", { $defs: { a: { type: "string" } } }, "#/$defs/a"],
  ["escapes", { $defs: { "a/b~c": { type: "string" } } }, "#/$defs/a~1b~0c"],
  [
    "percent escapes",
    { $defs: { "a%é b": { type: "string" } } },
    "#/$defs/a%25%C3%A9%20b",
  ],
  ["an anchor", { $defs: { a: { $anchor: "here", type: "string" } } }, "#here"],
  ["a dynamic anchor", {
    $defs: { a: { $dynamicAnchor: "d", type: "string" } },
  }, "#d"],
  [
    "an address",
    { $defs: { a: { $id: "item.json", type: "string" } } },
    "item.json",
  ],
  [
    "an address below that of the document",
    {
      $id: "https://example.com/dir/root.json",
      $defs: { a: { $id: "item", type: "string" } },
    },
    "/dir/item",
  ],
  [
    "a pointer behind an address",
    { $defs: { x: { $id: "x", $defs: { a: { type: "string" } } } } },
    "x#/$defs/a",
  ],
  [
    "an anchor behind an address",
    {
      $defs: {
        x: { $id: "x", $defs: { a: { $anchor: "y", type: "string" } } },
      },
    },
    "x#y",
  ],
  [
    "a name",
    { $id: "urn:example:root", $defs: { a: { type: "string" } } },
    "#/$defs/a",
  ],
  [
    "a list",
    { allOf: [{ properties: { a: { type: "string" } } }] },
    "#/allOf/0/properties/a",
  ],
  [
    "an unknown keyword",
    {
      components: {
        schemas: { A: { $ref: "#/components/B" } },
        B: { type: "string" },
      },
    },
    "#/components/schemas/A",
  ],
  ["the name __proto__", {
    $defs: JSON.parse('{"__proto__":{"type":"string"}}'),
  }, "#/$defs/__proto__"],
];

for (const [way, document, $ref] of ways) {
  test(`a reference by ${way}`, () => {
    const schema = { ...document, properties: { v: { $ref } } };
    assertEquals(places(schema, { v: "text" }), []);
    assertEquals(places(schema, { v: 1 }), ["/v type"]);
  });
}

test("references inside an embedded schema are relative to its address", () => {
  const schema = {
    $defs: {
      a: { type: "string" },
      inner: {
        $id: "inner",
        $defs: { a: { type: "integer" } },
        properties: { v: { $ref: "#/$defs/a" }, again: { $ref: "#" } },
      },
    },
    properties: { own: { $ref: "#/$defs/a" }, inner: { $ref: "inner" } },
  };
  const value = { own: 1, inner: { v: "x", again: { v: "x" } } };
  assertEquals(places(schema, value), [
    "/inner/again/v type",
    "/inner/v type",
    "/own type",
  ]);
});

test("older drafts write anchors as addresses", () => {
  const draft4 = {
    $schema: "http://json-schema.org/draft-04/schema",
    definitions: { a: { id: "#a", type: "string" } },
    properties: { v: { $ref: "#a" } },
  };
  assertEquals(places(draft4, { v: 1 }), ["/v type"]);
  const draft7 = {
    $schema: "http://json-schema.org/draft-07/schema",
    definitions: { a: { $id: "#a", type: "string" } },
    properties: { v: { $ref: "#a" } },
  };
  assertEquals(places(draft7, { v: 1 }), ["/v type"]);
});

test("a schema may contain itself where that looks deeper into the value", () => {
  const tree = {
    properties: {
      name: { type: "string" },
      children: { items: { $ref: "#" } },
    },
    required: ["name"],
  };
  const value = { name: "a", children: [{ name: "b", children: [{}] }] };
  assertEquals(places(tree, value), ["/children/0/children/0/name required"]);
  checkJsonSchema({ propertyNames: { $ref: "#" } });
});

test("$recursiveRef leads to the nearest schema, or to the root that is open", () => {
  const $schema = "https://json-schema.org/draft/2019-09/schema";
  const inner = {
    $id: "inner",
    properties: { next: { $recursiveRef: "#" }, v: { type: "integer" } },
  };
  const document = {
    $schema,
    allOf: [inner],
    properties: { v: { maximum: 5 } },
  };
  const value = { v: 1, next: { v: 9, next: { v: "x" } } };
  assertEquals(places(document, value), ["/next/next/v type"]);

  const open = {
    ...document,
    $recursiveAnchor: true,
    allOf: [{ ...inner, $recursiveAnchor: true }],
  };
  assertEquals(places(open, value), [
    "/next/next/v type",
    "/next/v maximum",
  ]);
  const halfOpen = { ...open, $recursiveAnchor: false };
  assertEquals(
    brokenAt(halfOpen, "at the root as well"),
    "/allOf/0/properties/next/$recursiveRef",
  );
});

test("a reference that leads nowhere is told where it stands", () => {
  for (
    const $ref of [
      "#/$defs/nowhere",
      "#nowhere",
      "other.json",
      "#/$defs/list/0",
      "#/$defs/text",
      "#/$defs/%",
      "http://[",
      "#/toString",
    ]
  ) {
    const schema = {
      $defs: { list: { enum: [1] } },
      "x-text": "x",
      properties: { v: { items: { $ref } } },
    };
    assertEquals(
      brokenAt(schema, "leads to no schema"),
      "/properties/v/items/$ref",
    );
  }
});

test("a target below an unknown keyword must be a proper schema too", () => {
  const schema = {
    $ref: "#/components/a",
    components: { a: { properties: { v: { type: "nope" } } } },
  };
  assertEquals(brokenAt(schema, "type"), "/components/a/properties/v/type");
});

test("two schemas of one address break the document", () => {
  const schema = { $defs: { a: { $id: "x" }, b: { $id: "x" } } };
  assertEquals(brokenAt(schema, "address of another schema"), "/$defs/b");
  const anchors = { $defs: { a: { $anchor: "x" }, b: { $anchor: "x" } } };
  assertEquals(brokenAt(anchors, "address of another schema"), "/$defs/b");
});

test("circles that never look deeper into the value are refused", () => {
  const x = { $ref: "#/$defs/x" };
  for (
    const circle of [
      x,
      { allOf: [x] },
      { anyOf: [true, x] },
      { oneOf: [x] },
      { not: x },
      { if: x },
      { if: true, then: x },
      { if: true, else: x },
      { dependentSchemas: { a: x } },
      { dependencies: { a: x } },
      { allOf: [{ anyOf: [{ $ref: "#/$defs/y" }] }] },
    ]
  ) {
    const schema = { $defs: { x: circle, y: { not: x } } };
    brokenAt(schema, "circle");
  }
  brokenAt({ $ref: "#" }, "circle");
  brokenAt({
    $schema: "https://json-schema.org/draft/2019-09/schema",
    allOf: [{ $recursiveRef: "#" }],
  }, "circle");
});

test("many references to one schema are no circle", () => {
  const a = { $ref: "#/$defs/a" };
  const schema = {
    $defs: { a: { type: "string" }, b: { allOf: [a, a] } },
    anyOf: [a, { $ref: "#/$defs/b" }],
  };
  assertEquals(places(schema, "x"), []);
});

test("a check that follows references without end is given up", () => {
  const layers = 40;
  const $defs: Record<string, unknown> = { [`a${layers}`]: {} };
  for (let layer = 0; layer < layers; layer++) {
    const next = { $ref: `#/$defs/a${layer + 1}` };
    $defs[`a${layer}`] = { allOf: [next, next] };
  }
  const schema = (first: number) => ({
    $defs,
    allOf: [{ $ref: `#/$defs/a${first}` }],
  });
  assertEquals(places(schema(layers - 8), {}), []);
  assertEquals(places(schema(0), {}), [" schema"]);
});
