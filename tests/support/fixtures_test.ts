import sample from "../fixtures/sample.json" with { type: "json" };
import { assertEquals } from "./assert.ts";
import { base64Bytes, fixture } from "./fixtures.ts";
import { test } from "./suite.ts";

interface Sample {
  greeting: string;
  readonly bytes: string;
  readonly list: number[];
}

test("a fixture is readable everywhere and nobody sees another's changes", () => {
  const first = fixture<Sample>(sample);
  first.greeting = "changed";
  first.list.push(4);
  assertEquals(fixture<Sample>(sample), {
    greeting: "Grüße",
    bytes: "/wD+",
    list: [1, 2, 3],
  });
});

test("bytes that are no text travel as base64", () => {
  assertEquals(
    base64Bytes(fixture<Sample>(sample).bytes),
    new Uint8Array([0xff, 0x00, 0xfe]),
  );
});
