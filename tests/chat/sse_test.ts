import fc from "fast-check";
import type { Operation } from "../../src/chat/errors.ts";
import { parsePayload, PayloadReader } from "../../src/chat/payloads.ts";
import { EventSplitter } from "../../src/base/sse.ts";
import { ModelProviderError } from "../../src/model/errors.ts";
import {
  assert,
  assertEquals,
  assertInstanceOf,
  assertThrows,
} from "../support/assert.ts";
import { test } from "../support/suite.ts";
import { bytesOf } from "./bodies.ts";

test("each form of line end separates lines", () => {
  for (const end of ["\n", "\r", "\r\n"]) {
    const text = ["data: a", "data: b", "", "data: c", "", ""].join(end);
    assertEquals(eventsIn([text]), ["a\nb", "c"]);
  }
});

test("one space after the colon belongs to the format, more to the data", () => {
  assertEquals(eventsIn(["data:a\n\ndata: b\n\ndata:  c\n\n"]), [
    "a",
    "b",
    " c",
  ]);
});

test("other fields and comments are passed over", () => {
  const text =
    "id: 7\nevent: x\nretry: 3\n: note\ndatabase: no\ndata: a\ndata\n\nid: 8\n\n";
  assertEquals(eventsIn([text]), ["a\n"]);
});

test("a last event counts without its blank line", () => {
  assertEquals(eventsIn(["data: a\n\ndata: b\ndata: c"]), ["a", "b\nc"]);
  assertEquals(eventsIn(["data: a\n"]), ["a"]);
});

test("events do not depend on where the stream is cut", { case: "B33" }, () => {
  fc.assert(
    fc.property(streams, cuts, (text, sizes) => {
      assertEquals(eventsIn(piecesOf(text, sizes)), expectedEvents(text));
    }),
    { seed: 11, numRuns: 400 },
  );
});

test("bytes give the same texts wherever they are cut", {
  case: ["B33", "B34"],
}, () => {
  fc.assert(
    fc.property(streams, cuts, (text, sizes) => {
      const bytes = bytesOf(text);
      const cut = payloadsIn(piecesOf(bytes, sizes));
      assertEquals(cut, payloadsIn([bytes]));
      assertEquals(cut, payloadsIn(piecesOf(bytes, [1])));
    }),
    { seed: 12, numRuns: 400 },
  );
});

test("keep-alives are no payloads and nothing counts behind the end", () => {
  const reader = new PayloadReader(operation);
  const alive =
    "data:\n\ndata: \n\ndata:   \n\ndata: : ping\n\nevent: ping\ndata: ping\n\n";
  const text = `${alive}data: {"a":1}\n\ndata: [DONE] \n\ndata: {"b":1}\n\n`;
  assertEquals(reader.push(bytesOf(text)), ['{"a":1}']);
  assert(reader.done);
  assertEquals(reader.push(undefined), []);
  for (const space of ["", "  ", "\t"]) {
    const reader = new PayloadReader(operation);
    reader.push(bytesOf(`data:${space}[DONE]\n\n`));
    assert(reader.done);
  }
});

test("a body that begins with a brace is one document", () => {
  const reader = new PayloadReader(operation);
  assertEquals(reader.push(bytesOf('\ufeff \n{"a":')), []);
  assertEquals(reader.push(bytesOf("1}")), []);
  assertEquals(reader.push(undefined), ['{"a":1}']);
  assert(reader.isDocument && !reader.isEmpty);
});

test("a web page is refused at its first character", () => {
  const reader = new PayloadReader(operation);
  reader.push(bytesOf("\r\n  "));
  assert(reader.isEmpty);
  const error = assertThrows(
    () => reader.push(bytesOf("<!doctype html>")),
    ModelProviderError,
  );
  assert(error.message.includes("http://model.test/v1"));
});

test("plain text is refused at its end, a stream that broke off is not", () => {
  const end = (text: string) => {
    const reader = new PayloadReader(operation);
    for (const byte of bytesOf(text)) reader.push(Uint8Array.of(byte));
    return reader.push(undefined);
  };
  for (const text of ["no such page", "ok", "[{}]", '"no"', "error: x\n\n"]) {
    const error = assertThrows(() => end(text), ModelProviderError);
    assert(error.message.includes("got plain text"), error.message);
    assert(error.message.includes("http://model.test/v1"), error.message);
    assertEquals(error.retryable, false);
  }
  const begun = [
    "da",
    "event: mes",
    ": ping\n\n",
    "id: 7\n",
    "x\n\ndata: 1\n\n",
  ];
  for (const text of begun) {
    assertEquals(end(text), []);
  }
});

test("what a body broke off in is incomplete, what is whole is malformed", () => {
  const parse = (text: string, isLast: boolean) =>
    assertThrows(
      () => parsePayload(text, operation, isLast),
      ModelProviderError,
    );
  for (const text of ['{"choices":[{"del', '{"a":"}', '{"a":{}', "[DO"]) {
    assert(parse(text, true).message.includes("broke off"), text);
    assertEquals(parse(text, true).retryable, true);
    assert(parse(text, false).message.includes("not JSON"), text);
  }
  for (const text of ["{ 12 }", "oops", "{}{", "[DOM"]) {
    const error = parse(text, true);
    assert(error.message.includes("not JSON"), text);
    assertEquals(error.retryable, false);
    assertInstanceOf(error.cause, SyntaxError);
  }
});

test("a line in a hundred thousand pieces takes time in proportion", {
  case: "B73",
}, () => {
  const splitter = new EventSplitter();
  const events: string[] = [];
  events.push(...splitter.push("data: "));
  for (let index = 0; index < 100_000; index++) {
    events.push(...splitter.push("x"));
  }
  events.push(...splitter.push("\n\n"));
  assertEquals(events.map((event) => event.length), [100_000]);
});

const operation: Operation = {
  name: "Chat completion stream",
  baseUrl: "http://model.test/v1",
  model: "m",
  timeoutMs: 1,
  secrets: [],
  emptyBodyMeansOverflow: false,
};

const lineStarts = [
  "data:",
  "data: ",
  "data",
  ":",
  ": ",
  "id: ",
  "event:",
  "x",
  "",
];

const streams = fc.array(
  fc.tuple(
    fc.constantFrom(...lineStarts),
    fc.constantFrom("", "a", " b", "é🌍", "[DONE]", "{}", ":"),
    fc.constantFrom("\n", "\r", "\r\n", "\n\n", "\r\n\r\n"),
  ),
  { maxLength: 12 },
).map((lines) => "data: begin\n\n" + lines.flat().join(""));

const cuts = fc.array(fc.integer({ min: 1, max: 9 }), {
  minLength: 1,
  maxLength: 8,
});

function eventsIn(pieces: readonly string[]): readonly string[] {
  const splitter = new EventSplitter();
  return [
    ...pieces.flatMap((piece) => splitter.push(piece)),
    ...splitter.end(),
  ];
}

function payloadsIn(pieces: readonly Uint8Array[]): readonly string[] {
  const reader = new PayloadReader(operation);
  return [
    ...pieces.flatMap((piece) => reader.push(piece)),
    ...reader.push(undefined),
  ];
}

/** What the format says, in the plainest words: all lines first, then all events. */
function expectedEvents(text: string): readonly string[] {
  const lines = text.split(/\r\n|\n|\r/);
  const events: string[] = [];
  let data: string[] = [];
  for (const line of [...lines, "", ""]) {
    if (line === "") {
      if (data.length > 0) events.push(data.join("\n"));
      data = [];
    } else if (line === "data") data.push("");
    else if (line.startsWith("data:")) {
      data.push(line.slice(5).replace(/^ /, ""));
    }
  }
  return events;
}

/** Cuts into pieces of these sizes, over and over. */
function piecesOf<T extends string | Uint8Array>(
  whole: T,
  sizes: readonly number[],
): T[] {
  const pieces: T[] = [];
  for (let from = 0, turn = 0; from < whole.length; turn++) {
    const to = from + sizes[turn % sizes.length]!;
    pieces.push(whole.slice(from, to) as T);
    from = to;
  }
  return pieces;
}
