import { formatToolCallPreview } from "../../src/tools/preview.ts";
import { assertEquals } from "../support/assert.ts";
import { test } from "../support/suite.ts";

function argumentsOf(args: unknown): string {
  return formatToolCallPreview("t", args).split("Arguments:\n")[1]!;
}

test("a preview shows tool, risk and sorted arguments", {
  case: "TL-114",
}, () => {
  const text = formatToolCallPreview(
    "t",
    { b: 1, a: { d: 1, c: 2 } },
    { risk: "r" },
  );
  assertEquals(text.split("\n"), [
    "Tool: t",
    "Review: r",
    "Arguments:",
    "{",
    '  "a": {',
    '    "c": 2,',
    '    "d": 1',
    "  },",
    '  "b": 1',
    "}",
  ]);
});

test("a review is shown instead of a risk, and neither if there is none", () => {
  const both = { review: "looks fine", risk: "r" };
  assertEquals(
    formatToolCallPreview("t", {}, both).split("\n")[1],
    "Review: looks fine",
  );
  assertEquals(
    formatToolCallPreview("t", {}, { review: "", risk: "" }),
    [
      "Tool: t",
      "Arguments:",
      "{}",
    ].join("\n"),
  );
});

test("what JSON does not know is shown as in results", () => {
  assertEquals(
    JSON.parse(argumentsOf({
      at: new Date(0),
      big: 10n,
      set: new Set([{ b: 1, a: 2 }]),
      error: new RangeError("r"),
    })),
    {
      at: "1970-01-01T00:00:00.000Z",
      big: "10",
      error: { name: "RangeError", message: "r" },
      set: [{ a: 2, b: 1 }],
    },
  );
});

test("a cycle or a hostile member does not break the preview", () => {
  const cycle: Record<string, unknown> = { n: 1 };
  cycle.self = cycle;
  assertEquals(JSON.parse(argumentsOf(cycle)), {
    n: 1,
    self: "[unserialisable]",
  });
  const hostile = {
    fine: true,
    bad: {
      get x(): never {
        throw new Error("no");
      },
    },
  };
  assertEquals(JSON.parse(argumentsOf(hostile)), {
    bad: "[unserialisable]",
    fine: true,
  });
  const shared = { a: 1 };
  assertEquals(JSON.parse(argumentsOf([shared, shared])), [shared, shared]);
  assertEquals(argumentsOf(undefined), "null");
});
