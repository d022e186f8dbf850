import fc from "fast-check";
import { SessionSerializationError } from "../../src/session/errors.ts";
import { LineSplitter } from "../../src/session/lines.ts";
import { assertEquals, assertThrows } from "../support/assert.ts";
import { test } from "../support/suite.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

test(
  "only a line feed ends a line, and nothing is taken away",
  { case: "B67" },
  () => {
    const splitter = new LineSplitter();
    assertEquals(splitter.push(bytes("\ufeffa\r\nb\u2028c\rd\n\ntail")), [
      "\ufeffa\r",
      "b\u2028c\rd",
      "",
    ]);
    assertEquals(splitter.rest, bytes("tail"));
  },
);

test("bytes that were taken may be used again", () => {
  const splitter = new LineSplitter();
  const buffer = new Uint8Array(1);
  const lines: string[] = [];
  for (const byte of bytes("ab\ncd\n")) {
    buffer[0] = byte;
    lines.push(...splitter.push(buffer));
  }
  assertEquals(lines, ["ab", "cd"]);
});

test("however the bytes are cut, the lines are the same", () => {
  const text = fc.string({
    unit: fc.constantFrom("a", "界", "🚀", "\r", "\n", "\u0000"),
    maxLength: 40,
  });
  fc.assert(
    fc.property(
      text,
      fc.array(fc.nat(7), { maxLength: 60 }),
      (whole, sizes) => {
        const all = bytes(whole);
        const splitter = new LineSplitter();
        const lines: string[] = [];
        let at = 0;
        for (const size of [...sizes, all.length]) {
          lines.push(...splitter.push(all.subarray(at, at + size)));
          at += size;
        }
        const expected = whole.split("\n");
        assertEquals(splitter.rest, bytes(expected.pop()!));
        assertEquals(lines, expected);
      },
    ),
    { seed: 5, numRuns: 300 },
  );
});

test("a line that is no text is named by its number", () => {
  const damaged = Uint8Array.of(0x61, 10, 0x62, 10, 0xff, 10, 0x63, 10);
  const splitter = new LineSplitter(10);
  const error = assertThrows(
    () => splitter.push(damaged),
    SessionSerializationError,
    "UTF-8",
  );
  assertEquals(error.line, 13);
  const later = new LineSplitter();
  later.push(bytes("a\nb\nc"));
  const second = assertThrows(
    () => later.push(damaged),
    SessionSerializationError,
  );
  assertEquals(second.line, 5);
  assertEquals(new LineSplitter().push(Uint8Array.of(0x61, 10, 0xff)), ["a"]);
});
