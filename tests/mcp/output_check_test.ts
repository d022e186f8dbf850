import type { JsonObject } from "../../src/base/json.ts";
import { McpToolError } from "../../src/mcp/errors.ts";
import { outputCheck } from "../../src/mcp/output_check.ts";
import { assertEquals, assertThrows } from "../support/assert.ts";
import { test } from "../support/suite.ts";

const slow = { type: "string", pattern: "^(a+)+$" };

function prepared(schema: JsonObject) {
  const told: string[] = [];
  const check = outputCheck(schema, (message) => told.push(message));
  return { check, told };
}

test("patterns of a server are not applied to its own results, the rest is", () => {
  const { check, told } = prepared({
    type: "object",
    properties: { pattern: slow, list: { items: { $ref: "#/$defs/entry" } } },
    required: ["pattern"],
    $defs: { entry: slow },
  });
  const text = `${"a".repeat(60)}!`;
  check!({ structuredContent: { pattern: text, list: [text] } });
  assertThrows(() => check!({ structuredContent: {} }), McpToolError);
  assertThrows(
    () => check!({ structuredContent: { pattern: text, list: [1] } }),
    McpToolError,
  );
  assertEquals(told, [
    "The patterns of the output schema are not applied, the rest is",
  ]);
});

test("nothing is refused for want of a pattern", () => {
  const long = `${"a".repeat(60)}!`;
  const depending: readonly JsonObject[] = [
    { properties: { a: { not: slow } } },
    { properties: { a: { oneOf: [slow, { type: "string" }] } } },
    { patternProperties: { "^(a+)+$": {} }, additionalProperties: false },
    {
      properties: { a: { $ref: "#/components/text" } },
      components: { text: slow },
    },
  ];
  for (const schema of depending) {
    const { check, told } = prepared({ ...schema, required: ["a"] });
    check!({ structuredContent: { a: long } });
    assertThrows(
      () => check!({ structuredContent: { b: long } }),
      McpToolError,
    );
    assertEquals(told, [
      "The patterns of the output schema are not applied, the rest is",
    ]);
  }
});

test("a property may be called pattern", () => {
  const { check, told } = prepared({
    properties: { pattern: { oneOf: [{ type: "string" }] } },
  });
  check!({ structuredContent: { pattern: "a" } });
  assertThrows(
    () => check!({ structuredContent: { pattern: 1 } }),
    McpToolError,
  );
  assertEquals(told, []);
});
