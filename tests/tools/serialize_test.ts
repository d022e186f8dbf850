import { serializeToolResult } from "../../src/tools/serialize.ts";
import { assert, assertEquals, assertThrows } from "../support/assert.ts";
import { test } from "../support/suite.ts";

test("texts stay as they are, nothing becomes null, the rest compact JSON", {
  case: "TL-27",
}, () => {
  const data: [unknown, string][] = [
    ["plain", "plain"],
    ["", ""],
    ['say "hi"', 'say "hi"'],
    [null, "null"],
    [undefined, "null"],
    [{ u: "é" }, '{"u":"é"}'],
    [[1, { a: true }], '[1,{"a":true}]'],
    [() => 1, "null"],
    [Symbol("s"), "null"],
  ];
  assertEquals(
    data.map(([value]) => serializeToolResult(value)),
    data.map(([, text]) => text),
  );
});

test("what JSON does not know is written as its nearest relative", {
  case: "TL-28",
}, () => {
  const text = serializeToolResult({
    d: new Date(0),
    b: 12345678901234567890n,
    s: new Set([1]),
    m: new Map([["k", 1]]),
    n: NaN,
    by: new Uint8Array([1, 2]),
    e: new TypeError("x"),
    f() {},
  });
  assertEquals(
    text,
    '{"d":"1970-01-01T00:00:00.000Z","b":"12345678901234567890","s":[1],' +
      '"m":{"k":1},"n":null,"by":"AQI=","e":{"name":"TypeError","message":"x"}}',
  );
});

test("relatives are found inside each other", () => {
  assertEquals(
    serializeToolResult(
      new Map<unknown, unknown>([[1n, new Set([new URL("https://a.test/")])]]),
    ),
    '[["1",["https://a.test/"]]]',
  );
  assertEquals(
    serializeToolResult({
      view: new DataView(new Uint8Array([0, 255, 7]).buffer, 1),
      buffer: new Uint8Array([255]).buffer,
      words: new Uint16Array([1]),
    }),
    '{"view":"/wc=","buffer":"/w==","words":"AQA="}',
  );
});

test("an error shows its name and message, never what its toJSON would spill", () => {
  class HttpError extends Error {
    override name = "HttpError";
    toJSON(): unknown {
      return { headers: { authorization: "hunter2" } };
    }
  }
  const error = new HttpError("refused", { cause: new Error("hunter2") });
  assertEquals(
    serializeToolResult({ error }),
    '{"error":{"name":"HttpError","message":"refused"}}',
  );
});

test("data that cannot be read give one fixed failure", { case: "B85" }, () => {
  const cycle: { self?: unknown } = {};
  cycle.self = cycle;
  const cyclicMap = new Map<string, unknown>();
  cyclicMap.set("self", cyclicMap);
  const hostile = [
    cycle,
    cyclicMap,
    {
      get secret(): string {
        throw new Error("hunter2");
      },
    },
    {
      toJSON() {
        throw new Error("hunter2");
      },
    },
  ];
  for (const data of hostile) {
    const error = assertThrows(() => serializeToolResult(data), TypeError);
    assertEquals(error.message, "tool result cannot be serialised to JSON");
  }
});

test("half a surrogate pair becomes the replacement character", {
  case: "B85",
}, () => {
  assertEquals(serializeToolResult("a\ud800b"), "a\ufffdb");
  assertEquals(serializeToolResult("😀"), "😀");
  assertEquals(serializeToolResult({ x: "\udc00" }), '{"x":"\\udc00"}');
});

test("a long text is passed on whole", { case: "B85" }, () => {
  const long = "x".repeat(5_000_000);
  assert(serializeToolResult(long) === long);
});
