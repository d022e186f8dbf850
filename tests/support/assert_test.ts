import { test } from "./suite.ts";
import {
  assert,
  assertEquals,
  assertInstanceOf,
  AssertionError,
  assertMatch,
  assertNotEquals,
  assertRejects,
  assertStrictEquals,
  assertStringIncludes,
  assertThrows,
} from "./assert.ts";

class Secret {
  readonly #word = "secret";

  get length(): number {
    return this.#word.length;
  }
}

const differing: readonly (readonly [string, unknown, unknown])[] = [
  ["numbers", 1, 2],
  ["zero and minus zero", 0, -0],
  ["a missing and an undefined member", {}, { a: undefined }],
  ["nested items", { a: [1, { b: 2 }] }, { a: [1, { b: 3 }] }],
  ["the order of items", [1, 2], [2, 1]],
  ["a hole and undefined", new Array(1), [undefined]],
  ["classes", new Error("x"), new TypeError("x")],
  ["messages", new Error("x"), new Error("y")],
  ["causes", new Error("x", { cause: 1 }), new Error("x", { cause: 2 })],
  ["bytes", new Uint8Array([1, 2]), new Uint8Array([1, 3])],
  ["set members", new Set([1, 2]), new Set([1, 3])],
  ["map values", new Map([["a", 1]]), new Map([["a", 2]])],
  ["dates", new Date(1), new Date(2)],
  ["functions", () => 1, () => 1],
  ["promises", Promise.resolve(1), Promise.resolve(1)],
  ["objects that show nothing", new Secret(), new Secret()],
];

for (const [what, left, right] of differing) {
  test(`equality sees the difference of ${what}`, () => {
    assertThrows(() => assertEquals(left, right), AssertionError);
    assertNotEquals(left, right);
  });
}

test("equality looks at structure", () => {
  const cycle = (): unknown => {
    const value: Record<string, unknown> = { name: "loop" };
    value.self = value;
    return value;
  };
  assertEquals(Object.freeze({ b: 1, a: [NaN] }), { a: [NaN], b: 1 });
  assertEquals(Object.assign(Object.create(null), { a: 1 }), { a: 1 });
  assertEquals(new Set([{ a: 1 }, { b: 2 }]), new Set([{ b: 2 }, { a: 1 }]));
  assertEquals(new TypeError("x"), new TypeError("x"));
  assertEquals(cycle(), cycle());
});

test("a failed comparison shows the differing lines", () => {
  const error = assertThrows(
    () =>
      assertEquals(
        { name: "a", items: [1, 2] },
        { name: "a", items: [1, 3] },
        "The order",
      ),
  );
  assertEquals(
    error.message,
    [
      "The order (- expected, + actual)",
      "  {",
      "    items: [",
      "      1,",
      "-     3,",
      "+     2,",
      "    ],",
      '    name: "a",',
      "  }",
    ].join("\n"),
  );
});

test("identity is told from equality", () => {
  const value = { a: 1 };
  assertStrictEquals(value, value);
  assertThrows(
    () => assertStrictEquals(value, { a: 1 }),
    AssertionError,
    "two objects",
  );
});

test("assertThrows returns the error and checks its class and text", () => {
  const thrown = new RangeError("Out of range");
  const raise = () => {
    throw thrown;
  };
  assertStrictEquals(assertThrows(raise, RangeError, "range"), thrown);
  assertThrows(
    () => assertThrows(raise, TypeError),
    AssertionError,
    "TypeError",
  );
  assertThrows(
    () => assertThrows(raise, RangeError, "nothing"),
    AssertionError,
    "nothing",
  );
  assertThrows(() => assertThrows(() => {}), AssertionError, "to be thrown");
});

test("assertRejects wants a promise that rejects, not a call that throws", async () => {
  const thrown = new RangeError("Out of range");
  assertStrictEquals(
    await assertRejects(() => Promise.reject(thrown), RangeError),
    thrown,
  );
  await assertRejects(
    () => assertRejects(() => Promise.resolve()),
    AssertionError,
    "rejection",
  );
  await assertRejects(
    () =>
      assertRejects(() => {
        throw thrown;
      }),
    AssertionError,
    "the call threw",
  );
});

test("the small assertions fail when they should", () => {
  assertThrows(() => assert(0), AssertionError, "truthy");
  assertThrows(() => assertMatch("abc", /d/), AssertionError, "abc");
  assertThrows(() => assertStringIncludes("abc", "d"), AssertionError, "abc");
  assertThrows(() => assertInstanceOf({}, Map), AssertionError, "Map");
  assertThrows(() => assertNotEquals({ a: 1 }, { a: 1 }), AssertionError);
});
