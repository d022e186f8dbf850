import { SessionSerializationError } from "../../src/session/errors.ts";
import { lossyNumbersOf } from "../../src/session/canonical.ts";
import type { SessionRecord } from "../../src/session/record.ts";
import {
  sessionRecordFromJson,
  sessionRecordToJson,
} from "../../src/session/record_codec.ts";
import { sessionToJson } from "../../src/session/session_codec.ts";
import { type Json, openFixture } from "../interop/python_journals.ts";
import { assert, assertEquals, assertThrows } from "../support/assert.ts";
import { test } from "../support/suite.ts";

/** A record with this data and everything else as it may be. */
function recordWith(
  data: unknown,
  createdAt: string | null = null,
): SessionRecord {
  return {
    recordId: "0123456789abcdef0123456789abcdef",
    parentId: null,
    branchId: "main",
    revision: 1,
    sessionId: "S",
    agentId: "A",
    sequence: 1,
    createdAt,
    kind: "run_started",
    data,
  } as unknown as SessionRecord;
}

function dataText(data: unknown): string {
  return /"data":(.*),"journal_schema_version"/s.exec(
    sessionRecordToJson(recordWith(data)),
  )![1]!;
}

test("a record is written byte for byte as every writer writes it", {
  case: "SE-H-01",
}, () => {
  const data = { task: "T", run_id: "R" };
  assertEquals(
    sessionRecordToJson(recordWith(data)),
    '{"agent_id":"A","branch_id":"main","data":{"run_id":"R","task":"T"},' +
      '"journal_schema_version":1,"parent_id":null,' +
      '"record_id":"0123456789abcdef0123456789abcdef","revision":1,"sequence":1,' +
      '"session_id":"S","type":"run_started"}',
  );
  assert(
    sessionRecordToJson(recordWith(data, "2026-01-02T03:04:05.678Z"))
      .startsWith(
        '{"agent_id":"A","branch_id":"main","created_at":"2026-01-02T03:04:05.678Z","data":{',
      ),
  );
});

test("keys stand in the order of their code points, at every level", () => {
  const inner = {
    "\ufffd": 1,
    "😀": 2,
    z: 3,
    é: 4,
    "10": 5,
    "9": 6,
    A: 7,
    "": 8,
  };
  const expected = '{"":8,"10":5,"9":6,"A":7,"z":3,"é":4,"\ufffd":1,"😀":2}';
  assertEquals(
    dataText({ b: inner, a: [inner] }),
    `{"a":[${expected}],"b":${expected}}`,
  );
  const polluting = JSON.parse('{"b":1,"__proto__":{"x":1},"a":2}');
  assertEquals(dataText(polluting), '{"__proto__":{"x":1},"a":2,"b":1}');
});

test("only what must be escaped is escaped, and a record is one line", {
  case: ["SE-H-03", "B67"],
}, () => {
  assertEquals(
    dataText({ text: '\n\t"\\\u0000\u0007\u007f\u2028\u2029\r\b\f/' }),
    '{"text":"\\n\\t\\"\\\\\\u0000\\u0007\u007f\u2028\u2029\\r\\b\\f/"}',
  );
});

test("half of a surrogate pair is written as an escape and comes back", {
  case: ["SE-H-04", "B68"],
}, async () => {
  const line = sessionRecordToJson(
    recordWith({ run_id: "R", task: "cut \ud83d" }),
  );
  assert(line.includes("cut \\ud83d"), line);
  const read = sessionRecordFromJson(
    new TextDecoder().decode(new TextEncoder().encode(line)),
  );
  assertEquals((read.data as Json).task, "cut \ud83d");

  const { expected, storage } = openFixture("lone-surrogate-escape");
  const contents = (await storage.load(expected.session_id))!.messages.map((
    { content },
  ) => content);
  assert(
    contents.some((content) =>
      typeof content === "string" && content.endsWith("\ud83d")
    ),
  );
});

test("numbers are written the way of JavaScript", () => {
  assertEquals(
    dataText([
      0,
      -0,
      1,
      1.0,
      0.1,
      1e16,
      1e21,
      1e-7,
      -7,
      2 ** 53,
      Number.MAX_VALUE,
    ]),
    "[0,0,1,1,0.1,10000000000000000,1e+21,1e-7,-7,9007199254740992,1.7976931348623157e+308]",
  );
});

test("data that is no JSON is refused", { case: "SE-H-05" }, () => {
  const cycle: Json = {};
  cycle.self = cycle;
  let deep: unknown = 1;
  for (let level = 0; level < 100_000; level++) deep = [deep];
  const hole = [1, , 2]; // deno-lint-ignore no-sparse-arrays
  for (
    const value of [
      NaN,
      -Infinity,
      () => {},
      Symbol("s"),
      1n,
      cycle,
      deep,
      hole,
      new Date(0),
    ]
  ) {
    assertThrows(
      () => sessionRecordToJson(recordWith({ value })),
      SessionSerializationError,
      "JSON",
    );
  }
  assertEquals(dataText({ a: undefined, b: 1 }), '{"b":1}');
});

test("what is no JSON is named by its place", () => {
  const data = {
    document: { entries: [{ "a key": 1 }, { "a key": Infinity }] },
  };
  const error = assertThrows(
    () => sessionRecordToJson(recordWith(data)),
    SessionSerializationError,
  );
  assertEquals(
    error.message,
    "The data of a record must be JSON and holds a number that is not finite " +
      "at document.entries[1].a key",
  );
});

test("unknown members are no obstacle", { case: "SE-H-07" }, async () => {
  const { expected, journal, storage } = openFixture("extra-members");
  const session = (await storage.load(expected.session_id))!;
  const lines = new TextDecoder().decode(journal.bytes).trimEnd().split("\n");
  const bare = openFixture("extra-members");
  bare.journal.bytes = new TextEncoder().encode(
    lines.map(withoutExtras).join(""),
  );
  const plain = (await bare.storage.load(expected.session_id))!;
  const [mine, theirs] = [session, plain].map((one) =>
    structuredClone(sessionToJson(one)) as Json
  );
  assertEquals(mine.session.entries[1].message._ejagent_note, { k: 1 });
  delete mine.session.entries[1].message._ejagent_note;
  assertEquals(mine, theirs);
});

function withoutExtras(line: string): string {
  const record = JSON.parse(line);
  for (const key of ["x_ext", "created_at"]) delete record[key];
  for (const key of ["extra", "recovery"]) delete record.data[key];
  delete record.data.result?.extra;
  delete record.data.message?._ejagent_note;
  return `${JSON.stringify(record)}\n`;
}

test("a line that is no record says what is wrong", () => {
  const good = JSON.parse(
    sessionRecordToJson(recordWith({ run_id: "R", task: "T" })),
  );
  const refused: [string, unknown][] = [
    ["not JSON", undefined],
    ["must be an object", []],
    ["journal_schema_version must be an integer", {
      ...good,
      journal_schema_version: true,
    }],
    ["journal_schema_version must be an integer", {
      ...good,
      journal_schema_version: undefined,
    }],
    ["unsupported journal_schema_version 2; expected 1", {
      ...good,
      journal_schema_version: 2,
    }],
    ["record_id", { ...good, record_id: "" }],
    ["parent_id", { ...good, parent_id: 7 }],
    ["branch_id", { ...good, branch_id: " " }],
    ["revision", { ...good, revision: 0 }],
    ["revision", { ...good, revision: 1.5 }],
    ["session_id", { ...good, session_id: null }],
    ["agent_id", { ...good, agent_id: null }],
    ["agent_id", { ...good, agent_id: "\x1c" }],
    ["sequence", { ...good, sequence: -1 }],
    ["type", { ...good, type: "run_paused" }],
    ["data must be an object", { ...good, data: null }],
    ["data.task", { ...good, data: { run_id: "R" } }],
  ];
  for (const [message, value] of refused) {
    const line = value === undefined ? "{" : JSON.stringify(value);
    assertThrows(
      () => sessionRecordFromJson(line),
      SessionSerializationError,
      message,
    );
  }
  assertThrows(
    () => sessionRecordFromJson(`\ufeff${JSON.stringify(good)}`),
    SessionSerializationError,
  );
});

test("an id that may be written can be read", () => {
  const record = {
    ...recordWith({ run_id: "R", task: "T" }),
    agentId: "\ufeff",
  };
  const { agentId } = sessionRecordFromJson(sessionRecordToJson(record));
  assertEquals(agentId, "\ufeff");
});

test("a record that is read is frozen all the way down", () => {
  const line = sessionRecordToJson(
    recordWith({ run_id: "R", task: "T", more: { deep: [1] } }),
  );
  const { data } = sessionRecordFromJson(line) as Json;
  assert(
    Object.isFrozen(data) && Object.isFrozen(data.more) &&
      Object.isFrozen(data.more.deep),
  );
});

test("numbers that no number of ours holds are found, and nothing else is", () => {
  const text = JSON.stringify({ a: "9007199254740993", b: 1 }).replace(
    '"b":1',
    '"b":9007199254740993,"c":-12345678901234567890,"d":9007199254740992,' +
      '"e":1000000000000000000000000000000,"f":0.12345678901234567890,"g":"\\"12345678901234567"',
  );
  assertEquals(lossyNumbersOf(text), [
    "9007199254740993",
    "-12345678901234567890",
    "1000000000000000000000000000000",
  ]);
  assertEquals(lossyNumbersOf('{"id":"1234567890123456789012345678901a"}'), []);
  const huge = `-1${"0".repeat(400)}`;
  assertEquals(
    lossyNumbersOf(`[${huge},1e400, -2.5E+999,1e300,"1e400","a":1e-400]`),
    [huge, "1e400", "-2.5E+999"],
  );
});
