/** A schema and values with the verdict that is due; the form of the JSON Schema Test Suite. */
export interface Group {
  readonly description: string;
  readonly schema: unknown;
  readonly tests: readonly {
    readonly description: string;
    readonly data: unknown;
    readonly valid: boolean;
  }[];
}

function group(
  description: string,
  schema: unknown,
  verdicts: { readonly valid: unknown[]; readonly invalid: unknown[] },
): Group {
  const tests = (["valid", "invalid"] as const).flatMap((verdict) =>
    verdicts[verdict].map((data) => ({
      description: `${verdict}: ${JSON.stringify(data)}`,
      data,
      valid: verdict === "valid",
    }))
  );
  return { description, schema, tests };
}

const ofBoth: readonly Group[] = [
  group("dependentRequired", { dependentRequired: { a: ["b"] } }, {
    valid: [{}, { b: 1 }, { a: 1, b: 1 }, "text"],
    invalid: [{ a: 1 }],
  }),
  group("dependentSchemas", {
    dependentSchemas: { a: { required: ["b"] }, c: false },
  }, {
    valid: [{}, { b: 1 }, { a: 1, b: 1 }],
    invalid: [{ a: 1 }, { c: 1 }],
  }),
  group("minContains", { contains: { const: 1 }, minContains: 2 }, {
    valid: [[1, 1], [1, 2, 1]],
    invalid: [[], [1], [1, 2]],
  }),
  group("minContains 0", { contains: { const: 1 }, minContains: 0 }, {
    valid: [[], [2], [1]],
    invalid: [],
  }),
  group("maxContains", { contains: { const: 1 }, maxContains: 1 }, {
    valid: [[1], [1, 2]],
    invalid: [[], [2], [1, 1]],
  }),
  group("counts of matches without contains", {
    minContains: 2,
    maxContains: 2,
  }, { valid: [[], [1]], invalid: [] }),
  group("what stands beside a reference", {
    $ref: "#/$defs/a",
    maxLength: 2,
    $defs: { a: { type: "string" } },
  }, { valid: ["ab"], invalid: ["abc", 1] }),
  group("unevaluatedProperties beside properties and allOf", {
    properties: { a: true },
    patternProperties: { "^x": true },
    allOf: [{ properties: { b: true } }],
    unevaluatedProperties: false,
  }, {
    valid: [{}, { a: 1, b: 1, x1: 1 }],
    invalid: [{ c: 1 }, { a: 1, c: 1 }],
  }),
  group("unevaluatedProperties and a reference", {
    $ref: "#/$defs/a",
    unevaluatedProperties: false,
    $defs: { a: { properties: { a: true } } },
  }, { valid: [{ a: 1 }], invalid: [{ b: 1 }] }),
  group("unevaluatedProperties and alternatives", {
    anyOf: [
      { properties: { a: { const: 1 } }, required: ["a"] },
      { properties: { b: { const: 1 } }, required: ["b"] },
    ],
    unevaluatedProperties: false,
  }, {
    valid: [{ a: 1 }, { b: 1 }, { a: 1, b: 1 }],
    invalid: [{ a: 1, b: 2 }, { a: 1, c: 1 }],
  }),
  group("unevaluatedProperties and a condition", {
    if: { properties: { kind: { const: "x" } }, required: ["kind"] },
    then: { properties: { a: true } },
    else: { properties: { b: true } },
    unevaluatedProperties: false,
  }, {
    valid: [{ kind: "x", a: 1 }, { b: 1 }],
    invalid: [{ kind: "x", b: 1 }, { kind: "y" }, { a: 1 }],
  }),
  group("unevaluatedProperties and what must not be", {
    not: { not: { properties: { a: true } } },
    unevaluatedProperties: false,
  }, { valid: [{}], invalid: [{ a: 1 }] }),
  group("unevaluatedProperties and dependentSchemas", {
    properties: { a: true },
    dependentSchemas: { a: { properties: { b: true } } },
    unevaluatedProperties: false,
  }, { valid: [{ a: 1, b: 1 }], invalid: [{ b: 1 }] }),
  group("unevaluatedProperties with a schema", {
    properties: { a: { type: "string" } },
    unevaluatedProperties: { type: "integer" },
  }, { valid: [{ a: "x", b: 1 }], invalid: [{ a: "x", b: "x" }, { a: 1 }] }),
  group("unevaluatedProperties beside additionalProperties", {
    additionalProperties: true,
    unevaluatedProperties: false,
  }, { valid: [{ a: 1 }], invalid: [] }),
  group("an address inside the document", {
    $id: "https://example.com/root",
    properties: { v: { $ref: "item" } },
    $defs: {
      item: {
        $id: "item",
        $ref: "#/$defs/text",
        $defs: { text: { type: "string" } },
      },
    },
  }, { valid: [{ v: "x" }], invalid: [{ v: 1 }] }),
  group("an anchor", {
    properties: { v: { $ref: "#text" } },
    $defs: { a: { $anchor: "text", type: "string" } },
  }, { valid: [{ v: "x" }], invalid: [{ v: 1 }] }),
];

const of2019: readonly Group[] = [
  group("the list form of items", {
    items: [{ type: "string" }],
    additionalItems: { type: "integer" },
  }, { valid: [[], ["x"], ["x", 1]], invalid: [[1], ["x", "x"]] }),
  group("unevaluatedItems behind a list", {
    items: [true],
    allOf: [{ items: [true, { const: 1 }] }],
    unevaluatedItems: false,
  }, { valid: [[], [0], [0, 1]], invalid: [[0, 2], [0, 1, 2]] }),
  group("a tree that refers to itself", {
    $recursiveAnchor: true,
    properties: { children: { items: { $recursiveRef: "#" } } },
    required: ["name"],
  }, {
    valid: [{ name: "a", children: [{ name: "b" }] }],
    invalid: [{}, { name: "a", children: [{}] }],
  }),
  group("an embedded tree that is extended", {
    $id: "https://example.com/strict",
    $recursiveAnchor: true,
    $ref: "tree",
    unevaluatedProperties: false,
    $defs: {
      tree: {
        $id: "tree",
        $recursiveAnchor: true,
        properties: { name: true, next: { $recursiveRef: "#" } },
      },
    },
  }, {
    valid: [{ name: 1, next: { name: 2, next: {} } }],
    invalid: [{ x: 1 }, { next: { next: { x: 1 } } }],
  }),
];

const of2020: readonly Group[] = [
  group("prefixItems and items", {
    prefixItems: [{ type: "string" }],
    items: { type: "integer" },
  }, { valid: [[], ["x"], ["x", 1]], invalid: [[1], ["x", "x"]] }),
  group("unevaluatedItems behind prefixItems", {
    prefixItems: [true],
    allOf: [{ prefixItems: [true, { const: 1 }] }],
    unevaluatedItems: false,
  }, { valid: [[], [0], [0, 1]], invalid: [[0, 2], [0, 1, 2]] }),
  group("unevaluatedItems and contains", {
    contains: { const: 1 },
    unevaluatedItems: { const: 2 },
  }, { valid: [[1], [1, 2], [2, 1, 2]], invalid: [[2], [1, 3]] }),
  group("unevaluatedItems beside items", {
    items: true,
    unevaluatedItems: false,
  }, { valid: [[1]], invalid: [] }),
  group("a dynamic anchor that is referred to as any other", {
    properties: { v: { $ref: "#text" } },
    $defs: { a: { $dynamicAnchor: "text", type: "string" } },
  }, { valid: [{ v: "x" }], invalid: [{ v: 1 }] }),
];

/** Tests of what came after draft 7. */
export const newerDrafts: readonly {
  readonly draft: "2019-09" | "2020-12";
  readonly groups: readonly Group[];
}[] = [
  { draft: "2019-09", groups: [...ofBoth, ...of2019] },
  { draft: "2020-12", groups: [...ofBoth, ...of2020] },
];
