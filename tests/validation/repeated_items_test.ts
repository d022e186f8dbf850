import { compileJsonSchema } from "../../src/validation/compile.ts";
import { arraysWithRepetition } from "../../src/validation/repeated_items.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { test } from "../support/suite.ts";

const distinct = compileJsonSchema({ uniqueItems: true });
const repeated = [{ path: "", keyword: "uniqueItems" }];

/** Adds distinct items: long lists are checked in another way. */
function long(list: readonly unknown[]): unknown[] {
  return [...Array.from({ length: 100 }, (_, index) => `-${index}`), ...list];
}

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
  for (const list of lists) {
    assertEquals(distinct(list), repeated);
    assertEquals(distinct(long(list)), repeated);
  }
});

test("items that only look alike are distinct", () => {
  const lists: readonly (readonly unknown[])[] = [
    [],
    [1, true, "1", [1], { 1: 1 }],
    [0, false, null, "", [], {}],
    [[], {}, "[]", "{}"],
    [{ a: 1 }, { b: 1 }, { a: "1" }, { a: [1] }],
    [["a,b"], ["a", "b"]],
    [[0], [[0]], [1, 0]],
    [{}, JSON.parse('{"__proto__":1}')],
  ];
  for (const list of lists) {
    assertEquals(distinct(list), []);
    assertEquals(distinct(long(list)), []);
  }
  assertEquals(distinct("aa"), []);
  assertEquals(distinct({ a: 1, b: 1 }), []);
});

test("only the arrays that the schema means must be distinct", () => {
  const validate = compileJsonSchema({
    properties: {
      tags: { type: "array", uniqueItems: true },
      rows: { items: { uniqueItems: false } },
    },
  });
  const rows = [[1, 1], long([2, 2])];
  assertEquals(validate({ rows, tags: [1, 2] }), []);
  assertEquals(validate({ rows, tags: long([1, 2]) }), []);
  for (const tags of [[1, 1], long([2, 2])]) {
    assertEquals(validate({ rows, tags }), [
      { path: "/tags", keyword: "uniqueItems" },
    ]);
  }
});

test("equal items decide about alternatives and opposites", () => {
  const list = { uniqueItems: true, minItems: 2 };
  for (const form of [(list: unknown[]) => list, long]) {
    assertEquals(compileJsonSchema({ not: list })(form([1, 1])), []);
    assertEquals(compileJsonSchema({ not: list })(form([1, 2])).length, 1);
    assertEquals(compileJsonSchema({ anyOf: [list] })(form([1, 1])), [
      { path: "", keyword: "anyOf" },
    ]);
  }
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
  const value = [[1, 1], [2], [1, 1], { a: [3, 3, 4] }];
  assertEquals(arraysWithRepetition(value, 0), [[1, 1], [3, 3, 4], value]);
  assertEquals(arraysWithRepetition(value, 2), [[3, 3, 4], value]);
});
