import { SessionSerializationError } from "../../src/session/errors.ts";
import type { JournalFileReader } from "../../src/session/journal_files.ts";
import {
  checkpointOfMain,
  countLines,
  decodeLines,
  endsRun,
  firstLines,
  isTornFirstRecord,
  journalFileName,
  lastLine,
  recordIdOf,
  wholeLines,
} from "../../src/session/jsonl.ts";
import { assertEquals, assertThrows } from "../support/assert.ts";
import { test } from "../support/suite.ts";

const encode = (text: string) => new TextEncoder().encode(text);
const decode = (bytes: Uint8Array) => new TextDecoder().decode(bytes);

test("the file of a session is named by the digest of its id", {
  case: "SE-K-01",
}, async () => {
  assertEquals(
    await journalFileName("S"),
    "8de0b3c47f112c59745f717a626932264c422a7563954872e237b223af4ad643.jsonl",
  );
  const composed = await journalFileName("\u00e9");
  const decomposed = await journalFileName("e\u0301");
  assertEquals(composed === decomposed, false);
  const outside = await journalFileName("../../outside");
  assertEquals(/^[0-9a-f]{64}\.jsonl$/.test(outside), true);
});

/** A file of a text that notes where it was read. */
function fileOf(text: string) {
  const bytes = encode(text);
  const reads: number[] = [];
  const file: JournalFileReader = {
    read(into, position) {
      const found = bytes.subarray(position).subarray(0, into.length);
      into.set(found);
      reads.push(position);
      return found.length;
    },
    close() {},
  };
  return { file, reads, size: bytes.length };
}

async function chunks(
  file: JournalFileReader,
  from: number,
  to: number,
): Promise<string[]> {
  const found: string[] = [];
  for await (const bytes of wholeLines(file, from, to)) {
    found.push(decode(bytes));
  }
  return found;
}

test("reading gives whole lines up to the last line feed", async () => {
  for (
    const [text, expected] of [
      ["", []],
      ["a\n", ["a\n"]],
      ["a\nb\ntorn", ["a\nb\n"]],
      ["torn", []],
      ["\n\n", ["\n\n"]],
      ["a\r\nb\r", ["a\r\n"]],
    ] as const
  ) {
    const { file, size } = fileOf(text);
    assertEquals(await chunks(file, 0, size), [...expected], text);
  }
});

test("reading begins and ends where told", async () => {
  const { file } = fileOf("a\nb\nc\nd\n");
  assertEquals(await chunks(file, 2, 6), ["b\nc\n"]);
  assertEquals(await chunks(file, 2, 5), ["b\n"]);
  assertEquals(await chunks(file, 8, 8), []);
});

test("a file that is shorter than told is read to its end", async () => {
  const { file } = fileOf("a\nb");
  assertEquals(await chunks(file, 0, 99), ["a\n"]);
});

test("lines longer than a chunk are read again from their start", async () => {
  const long = "x".repeat(700_000);
  const { file, reads, size } = fileOf(`a\n${long}\nb\n${long}\ntorn`);
  const found = await chunks(file, 0, size);
  assertEquals(found.join("") === `a\n${long}\nb\n${long}\n`, true);
  assertEquals(reads.slice(0, 4), [0, 2, 2, 2]);
});

test("lines are counted and cut at line feeds alone", () => {
  const lines = encode('{"a":1}\r\n{"b":"\u2028"}\n');
  assertEquals(countLines(lines), 2);
  assertEquals(countLines(encode("")), 0);
  assertEquals(decode(firstLines(lines, 1)), '{"a":1}\r\n');
  assertEquals(decode(firstLines(lines, 9)), decode(lines));
  assertEquals(lastLine(lines), '{"b":"\u2028"}');
  assertEquals(lastLine(encode("only\n")), "only");
  assertEquals(lastLine(new Uint8Array([0x7b, 0xff, 0x0a])), "");
  assertEquals(decodeLines(lines, { line: 1, offset: 0 }), [
    '{"a":1}\r',
    '{"b":"\u2028"}',
  ]);
});

test("damage names the line and the byte at which it begins", {
  case: "B64",
}, () => {
  const good = '{"a":"é"}\n';
  const zeros = "\0".repeat(300) + "\n";
  const place = { line: 5, offset: 1000 };
  const broken: [string, Uint8Array][] = [
    ["zero bytes", encode(good + good + zeros + good)],
    ["a blank line", encode(good + good + "\n" + good)],
    ["a byte-order mark", encode(good + good + "\ufeff" + good)],
    ["an array", encode(good + good + "[]\n")],
    [
      "no UTF-8",
      new Uint8Array([...encode(good + good), 0x7b, 0xff, 0x0a]),
    ],
  ];
  for (const [name, bytes] of broken) {
    const { line, offset, message } = assertThrows(
      () => decodeLines(bytes, place),
      SessionSerializationError,
    );
    assertEquals([line, offset], [7, 1022], name);
    assertEquals(message.endsWith("(line 7, byte 1022)"), true, message);
  }
});

test("white space before an object is no damage", () => {
  assertEquals(decodeLines(encode(" \t{}\n"), { line: 1, offset: 0 }), [
    " \t{}",
  ]);
});

test("a torn first record is told from a foreign file", {
  case: "SE-I-06",
}, () => {
  for (
    const own of ["", "{", '{"agent', '{"agent_id":', '{"agent_id":"A","b']
  ) {
    assertEquals(isTornFirstRecord(encode(own)), true, own);
  }
  for (const foreign of ["hello", '{"a":1', ' {"agent_id":', "\ufeff{", "\0"]) {
    assertEquals(isTornFirstRecord(encode(foreign)), false, foreign);
  }
});

test("the record id and the end of a run are read off a line", () => {
  assertEquals(recordIdOf('{ "record_id" : "r1" }'), "r1");
  for (const line of ['{"record_id":1}', "{}", "null", "no JSON", ""]) {
    assertEquals(recordIdOf(line), null, line);
  }
  assertEquals(endsRun('{"sequence":4,"type":"run_finished"}'), true);
  assertEquals(endsRun('{"sequence":4,"type":"run_started"}'), false);
});

test("a checkpoint of main is told from all other lines", () => {
  const members = {
    branch_id: "main",
    record_id: "r1",
    revision: 7,
    type: "checkpoint",
  };
  const positionIn = (changes: object) =>
    checkpointOfMain(JSON.stringify({ ...members, ...changes }));
  assertEquals(positionIn({}), { revision: 7, recordId: "r1" });
  assertEquals(positionIn({ branch_id: "idea" }), null);
  assertEquals(positionIn({ type: "run_started" }), null);
  assertEquals(positionIn({ revision: "7" }), null);
  assertEquals(positionIn({ record_id: null }), null);
  assertEquals(checkpointOfMain('{"type":"checkpoint"}x'), null);
});
