import { compileJsonSchema } from "../../src/validation/compile.ts";
import { arraysWithRepetition } from "../../src/validation/repeated_items.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { test } from "../support/suite.ts";

const distinct = compileJsonSchema({ uniqueItems: true });
const repeated = [{ path: "", keyword: "uniqueItems" }];

test("items are equal as JSON Schema has it", () => {
  const lists: readonly (readonly unknown[])[] = [
    [1, 1.0],
    [0, -0],
    ["a", "b", "a"],
    [null, null],
    [[1, [2]], [1, [2]]],
    [{ a: 1, b: [2] }, 3, { b: [2], a: 1 }],
    [{}, {}],
    [JSON.parse('{"__proto__":1}'), JSON.parse('{"__proto__":1}')],
  ];
  for (const list of lists) assertEquals(distinct(list), repeated);
});

test("items that only look alike are distinct", () => {
  const lists: readonly unknown[] = [
    [],
    [1, true, "1", [1], { 1: 1 }],
    [0, false, null, "", [], {}],
    [[], {}, "[]", "{}"],
    [{ a: 1 }, { b: 1 }, { a: "1" }, { a: [1] }],
    [["a,b"], ["a", "b"]],
    [[0], [[0]], [1, 0]],
    [{}, JSON.parse('{"__proto__":1}')],
    "aa",
    { a: 1, b: 1 },
  ];
  for (const list of lists) assertEquals(distinct(list), []);
});

test("only the arrays that the schema means must be distinct", () => {
  const validate = compileJsonSchema({
    properties: {
      tags: { type: "array", uniqueItems: true },
      rows: { items: { uniqueItems: false } },
    },
  });
  const rows = [[1, 1], [2, 2]];
  assertEquals(validate({ rows, tags: [1, 2] }), []);
  assertEquals(validate({ rows, tags: [2, 2] }), [
    { path: "/tags", keyword: "uniqueItems" },
  ]);
});

test("equal items decide about alternatives and opposites", () => {
  const list = { uniqueItems: true, minItems: 2 };
  assertEquals(compileJsonSchema({ not: list })([1, 1]), []);
  assertEquals(compileJsonSchema({ not: list })([1, 2]).length, 1);
  assertEquals(compileJsonSchema({ anyOf: [list] })([1, 1]), [
    { path: "", keyword: "anyOf" },
  ]);
  assertEquals(compileJsonSchema(list)([1]), [
    { path: "", keyword: "minItems" },
  ]);
});

test("every item is read a few times, however many there are", () => {
  let readCount = 0;
  const items = Array.from({ length: 3000 }, (_, id) => ({
    get id() {
      readCount += 1;
      return id;
    },
  }));
  assertEquals(distinct(items), []);
  assert(readCount <= 2 * items.length, `${readCount} reads`);
});

test("of equal arrays one is found", () => {
  assertEquals(arraysWithRepetition([[1, 1], [2], [1, 1], { a: [3, 3] }]), [
    [1, 1],
    [3, 3],
    [[1, 1], [2], [1, 1], { a: [3, 3] }],
  ]);
});
