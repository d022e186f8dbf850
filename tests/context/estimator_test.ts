import fc from "fast-check";
import { frozenCopy } from "../../src/base/freeze.ts";
import { AgentContextBuilder } from "../../src/context/builder.ts";
import { HeuristicMessageTokenEstimator } from "../../src/context/estimator.ts";
import type { AgentMessage } from "../../src/messages/message.ts";
import { assertEquals, assertThrows } from "../support/assert.ts";
import { test } from "../support/suite.ts";
import { callEntry, calling, user, withUsage } from "./messages.ts";

const estimator = new HeuristicMessageTokenEstimator();
const asText = new HeuristicMessageTokenEstimator({
  inlineBinaryTokens: "text",
});

function tokensOf(message: object): number {
  return estimator.estimateMessage(message as AgentMessage);
}

function toolNamed(name: string) {
  return { type: "function" as const, function: { name } };
}

test("messages cost what the reference table says", { case: "SE-B-01" }, () => {
  const table: [object, number][] = [
    [{}, 5],
    [user(""), 11],
    [user("a".repeat(40)), 21],
    [user("你".repeat(40)), 51],
    [user("\u00e9"), 12],
    [user("e\u0301"), 13],
    [user("🚀"), 12],
    [user("👩‍👩‍👧‍👦"), 18],
    [user('\n"\\\t\u0001\u007f'), 15],
    [user("\u2028"), 12],
    [user("\ud83d"), 12],
    [
      withUsage({
        role: "assistant",
        content: null,
        tool_calls: [{
          id: "c",
          type: "function",
          function: { name: "f", arguments: '{"a":1}' },
        }],
      }, 9999),
      36,
    ],
    [
      {
        ...user("x"),
        _ejagent_summary: "gone",
        _simagentplg_z: 1,
        _ejagent: 1,
      },
      15,
    ],
    [{ ...user("x"), nested: { usage: { a: 1 }, _ejagent_x: 1 } }, 22],
  ];
  assertEquals(
    table.map(([message]) => tokensOf(message)),
    table.map(([, tokens]) => tokens),
  );
});

test("code points count, not UTF-16 units", { case: "SE-B-02" }, () => {
  assertEquals(tokensOf(user("👩‍👩‍👧‍👦")), 18);
  assertEquals(tokensOf(user("🚀")), 12);
  assertEquals(tokensOf(user("\ud83d")), 12);
  assertEquals(tokensOf(user("\udc00\ud83d")), 13);
  assertEquals(tokensOf(user("\ud83daaaaa")), 14);
});

test("what is never sent costs nothing", { case: "SE-B-03" }, () => {
  const plain = user("a".repeat(40));
  assertEquals(tokensOf(plain), 21);
  assertEquals(tokensOf(withUsage(plain, 19_998)), 21);
  assertEquals(
    tokensOf({ ...plain, _ejagent_summary: "b".repeat(5000) }),
    21,
  );
});

test("escapes cost what they take in JSON", { case: "SE-B-04" }, () => {
  assertEquals(tokensOf(user('\n"\\\t\u0001\u007f')), 15);
  assertEquals(tokensOf(user("\u2028")), 12);
});

test("tools cost their JSON and a little more", { case: "SE-B-05" }, () => {
  assertEquals(estimator.estimateTools([]), 0);
  assertEquals(estimator.estimateTools([toolNamed("f")]), 20);
  assertEquals(
    estimator.estimateTools([toolNamed("f"), toolNamed("查")]),
    31,
  );
});

test("an image costs a flat number of tokens, whatever its size", {
  case: "B94",
}, () => {
  const image = (url: string) => ({
    role: "user",
    content: [
      { type: "text", text: "Look" },
      { type: "image_url", image_url: { url } },
    ],
  });
  const large = image(`data:image/png;base64,${"A".repeat(3_000_000)}`);
  const small = image("data:image/png;base64,AAAA");

  assertEquals(tokensOf(large), tokensOf(small));
  assertEquals(
    tokensOf(large),
    1200 + tokensOf({ role: "user", content: [large.content[0]] }),
  );
  const flat = new HeuristicMessageTokenEstimator({ inlineBinaryTokens: 7 });
  assertEquals(
    tokensOf(small) - flat.estimateMessage(small as AgentMessage),
    1193,
  );
  assertEquals(asText.estimateMessage(large as AgentMessage) > 750_000, true);
});

test("sound and files cost the same as images", () => {
  const parts = [
    { type: "input_audio", input_audio: { data: "AAAA", format: "wav" } },
    { type: "file", file: { file_data: "data:application/pdf;base64,AAAA" } },
  ];
  assertEquals(tokensOf({ role: "user", content: parts }), 11 + 2400);
});

test("a long run of base64 in a text costs a token per character", {
  case: "B94",
}, () => {
  const encoded = "aB3/".repeat(250_000);
  assertEquals(tokensOf(user(encoded)), 1_000_011);
  assertEquals(tokensOf(user(`See ${encoded}, please`)), 1_000_014);
  assertEquals(
    asText.estimateMessage(user(encoded)),
    250_011,
  );
});

test("words, ruled lines and hexadecimal dumps are no base64", () => {
  const hexadecimal = "0123456789abcdef".repeat(256);
  for (const text of ["=".repeat(4096), "aB3/".repeat(255), hexadecimal]) {
    assertEquals(
      tokensOf(user(text)),
      asText.estimateMessage(user(text)),
      text.slice(0, 8),
    );
  }
  assertEquals(tokensOf(user("aB3/".repeat(256))), 11 + 1024);
});

test("the estimate is that of the JSON text", () => {
  fc.assert(fc.property(
    fc.jsonValue(),
    fc.string({ unit: "binary" }),
    (value, text) => {
      const message = { ...user(text), extra: value };
      const json = JSON.stringify(message);
      const ascii = [...json].filter((point) => point < "\u0080").length;
      const other = [...json].length - ascii;
      assertEquals(tokensOf(message), 4 + Math.ceil(ascii / 4 + other));
    },
  ));
});

test("members that are undefined do not count, what JSON cannot say is refused", () => {
  assertEquals(
    tokensOf({ ...user("x"), name: undefined }),
    tokensOf(user("x")),
  );
  assertThrows(() => tokensOf({ ...user("x"), n: 1n }), TypeError, "bigint");
  assertThrows(() => tokensOf({ ...user("x"), f() {} }), TypeError, "function");
});

test("a sent copy costs what its message costs, a renamed call what it is", () => {
  const kept = frozenCopy(withUsage(calling(["c"]), 50));
  const builder = new AgentContextBuilder();
  const { llmMessages } = builder.build({ messages: [kept, kept] });

  assertEquals(estimator.estimateMessage(llmMessages[0]!), tokensOf(kept));
  assertEquals(
    estimator.estimateMessage(llmMessages[2]!),
    tokensOf({ ...calling([]), tool_calls: [callEntry("c_2")] }),
  );
});

test("a message that may still change is measured again", () => {
  const message = { role: "user" as const, content: "short" };
  const before = estimator.estimateMessage(message);
  message.content = "rather longer than before";
  assertEquals(estimator.estimateMessage(message) > before, true);
});

test("the flat cost must be a number of tokens", () => {
  const make = (inlineBinaryTokens: unknown) => () =>
    new HeuristicMessageTokenEstimator(
      { inlineBinaryTokens } as { inlineBinaryTokens: number },
    );
  assertThrows(make(-1), RangeError, "inlineBinaryTokens");
  assertThrows(make(1.5), TypeError, "inlineBinaryTokens");
  assertThrows(make("none"), TypeError, "inlineBinaryTokens");
});
