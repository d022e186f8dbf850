import { ToolCallAssembler } from "../../src/chat/tool_calls.ts";
import { ObjectScanner } from "../../src/chat/object_scanner.ts";
import { countingIds } from "../../src/testing/ports.ts";
import { assertEquals } from "../support/assert.ts";
import { test } from "../support/suite.ts";

/** Entries of one delta. */
type Entries = readonly Record<string, unknown>[];

test("without index and id, entries of one delta are calls by position", {
  case: "B16",
}, () => {
  assertEquals(
    callsIn([fn("f", '{"a"'), fn("g", '{"b"')], [fn("", ":1}"), fn("", ":2}")]),
    [["call_id-1", "f", '{"a":1}'], ["call_id-2", "g", '{"b":2}']],
  );
});

test("without index and id, a single entry continues the last call", {
  case: "B16",
}, () => {
  assertEquals(callsIn([fn("f", '{"a"')], [fn("", ":1}")]), [[
    "call_id-1",
    "f",
    '{"a":1}',
  ]]);
});

test("without index and id, a named entry follows a whole call", {
  case: ["B16", "B17"],
}, () => {
  const expected = [["call_id-1", "f", '{"a":1}'], [
    "call_id-2",
    "g",
    '{"b":2}',
  ]];
  assertEquals(callsIn([fn("f", '{"a":1}')], [fn("g", '{"b":2}')]), expected);
  const first = { index: 0, ...fn("f", '{"a":1}') };
  assertEquals(
    callsIn([first], [{ index: 0, ...fn("g", '{"b":2}') }]),
    expected,
  );
  assertEquals(
    callsIn([fn("f", '{"a":1}')], [fn("f", '{"a":1}')]),
    expected.slice(0, 1),
  );
});

test("without index, ids tell the calls apart", { case: "B16" }, () => {
  assertEquals(
    callsIn(
      [{ id: "a", ...fn("f", '{"a"') }, { id: "b", ...fn("g", '{"b"') }],
      [{ id: "a", ...fn("", ":1}") }],
      [{ id: "b", ...fn("", ":2}") }],
    ),
    [["a", "f", '{"a":1}'], ["b", "g", '{"b":2}']],
  );
});

test(
  "an index that is no whole number from zero up is none",
  { case: "B16" },
  () => {
    for (const index of [null, -1, 1.5, "0", {}]) {
      assertEquals(
        callsIn([{ index, id: "a", ...fn("f", '{"a"') }], [{
          index,
          ...fn("", ":1}"),
        }]),
        [["a", "f", '{"a":1}']],
      );
    }
  },
);

test("an index may be written as a text", () => {
  assertEquals(
    callsIn(
      [{ index: "0", id: "a", ...fn("f", "") }],
      [{ index: "1", id: "b", ...fn("g", "") }],
      [{ index: "0", ...fn("", '{"a":1}') }],
      [{ index: 1, ...fn("", '{"b":2}') }],
    ),
    [["a", "f", '{"a":1}'], ["b", "g", '{"b":2}']],
  );
});

test("calls come out in the order of their index", () => {
  const entry = (index: number) => ({
    index,
    id: `c${index}`,
    ...fn(`f${index}`, "{}"),
  });
  assertEquals(
    callsIn([entry(2)], [entry(0)], [entry(1)]).map(([id]) => id),
    ["c0", "c1", "c2"],
  );
});

test(
  "another id begins another call if it is named or the call before is whole",
  { case: "B17" },
  () => {
    assertEquals(
      callsIn([{ index: 0, id: "a", ...fn("f", "") }], [{
        index: 0,
        id: "b",
        ...fn("g", ""),
      }]),
      [["a", "f", "{}"], ["b", "g", "{}"]],
    );
    assertEquals(
      callsIn(
        [{ index: 0, id: "a", ...fn("f", '{"x":1}') }],
        [{ index: 0, id: "b", ...fn("", '{"x":2}') }],
        [{ index: 0, ...fn("g", "") }],
      ),
      [["a", "f", '{"x":1}'], ["b", "g", '{"x":2}']],
    );
  },
);

test(
  "a longer name takes the place of its beginning",
  { case: ["B20", "B21"] },
  () => {
    assertEquals(
      callsIn([{ id: "a", ...fn("re", "") }], [fn("read", "")], [
        fn("read", '{"p":1}'),
      ], [fn("read", " ")]),
      [["a", "read", '{"p":1} ']],
    );
  },
);

test(
  "arguments may be objects, and blank ones are empty",
  { case: "B23" },
  () => {
    assertEquals(
      callsIn([{ id: "a", function: { name: "f", arguments: { x: [1] } } }]),
      [
        ["a", "f", '{"x":[1]}'],
      ],
    );
    for (const blank of ["", "  \n", null, undefined, 5]) {
      assertEquals(
        callsIn([{ id: "a", function: { name: "f", arguments: blank } }]),
        [
          ["a", "f", "{}"],
        ],
      );
    }
  },
);

test("broken arguments stay broken", { case: "B23" }, () => {
  assertEquals(callsIn([{ id: "a", ...fn("f", '{"x": tru') }]), [[
    "a",
    "f",
    '{"x": tru',
  ]]);
});

test("a placeholder is followed by the arguments, a repetition is dropped", {
  case: "B24",
}, () => {
  const begun = { index: 0, id: "a", ...fn("f", "{}") };
  assertEquals(
    callsIn([begun], [{ index: 0, ...fn("f", '{"x"') }], [{
      index: 0,
      ...fn("f", ":1}"),
    }]),
    [
      ["a", "f", '{"x":1}'],
    ],
  );
  assertEquals(callsIn([begun], [begun]), [["a", "f", "{}"]]);
  const whole = { index: 0, id: "a", ...fn("f", '{"x":1}') };
  assertEquals(callsIn([whole], [whole], [whole]), [["a", "f", '{"x":1}']]);
});

test("a repetition under another id is dropped unless it is named", {
  case: "B17",
}, () => {
  const first = { index: 0, id: "a", ...fn("f", '{"x":1}') };
  assertEquals(
    callsIn([first], [{ index: 0, id: "b", ...fn("", '{"x":1}') }]),
    [["a", "f", '{"x":1}']],
  );
  assertEquals(
    callsIn([first], [{ ...first, id: "b" }]).map(([id]) => id),
    ["a", "b"],
  );
});

test("missing and repeated ids are replaced by new ones", {
  case: ["B09", "B19"],
}, () => {
  assertEquals(
    callsIn([
      { index: 0, id: "same", ...fn("f", "{}") },
      { index: 1, id: "same", ...fn("f", "{}") },
      { index: 2, ...fn("f", "{}") },
    ]).map(([id]) => id),
    ["same", "call_id-1", "call_id-2"],
  );
});

test("entries that say nothing and types that are no function are left out", () => {
  assertEquals(
    callsIn(
      [{ index: 0 }, { index: 1, id: "x" }],
      [{ index: 2, id: "c", type: "custom", ...fn("f", "{}") }],
      [{ index: 2, ...fn("", " ") }],
      [{ index: 3, id: "d", type: "function", ...fn("g", "{}") }],
    ),
    [["d", "g", "{}"]],
  );
});

test("a call that never gets a name is an error", () => {
  const assembler = new ToolCallAssembler();
  assembler.push([{ index: 0, id: "a", ...fn("", '{"x":1}') }]);
  assertEquals(assembler.finish(countingIds()), undefined);
});

test("a server that sends both forms of a call means one", () => {
  const call = { name: "f", arguments: '{"x":1}' };
  const both = new ToolCallAssembler();
  both.push([{ index: 0, id: "a", function: call }]);
  both.pushLegacy(call);
  assertEquals(both.finish(countingIds())?.calls.length, 1);
  const old = new ToolCallAssembler();
  old.pushLegacy({ name: "f", arguments: '{"x"' });
  old.pushLegacy({ arguments: ":1}" });
  assertEquals(old.finish(countingIds())?.calls, [{
    id: "call_id-1",
    ...call,
  }]);
});

test("an object is whole when its last bracket closes", () => {
  const whole = ['{"a":"}\\\\"}', '{"a":"\\"}"}', ' {"a":[{}]} \n', "{}"];
  const notWhole = [
    "",
    '{"a":"}',
    '{"a":"\\"}',
    "[]",
    "1",
    '{"a":1}x',
    '{"a":1}{}',
    "x{}",
  ];
  for (const text of [...whole, ...notWhole]) {
    const scanner = new ObjectScanner();
    for (const character of text) scanner.push(character);
    assertEquals(scanner.isWhole, whole.includes(text), text);
  }
});

function fn(name: string, text: string) {
  return { function: { name, arguments: text } };
}

/** What the deltas come to: id, name and arguments of each call. */
function callsIn(
  ...deltas: readonly Entries[]
): readonly (readonly string[])[] {
  const assembler = new ToolCallAssembler();
  for (const entries of deltas) assembler.push(entries);
  const { calls } = assembler.finish(countingIds())!;
  return calls.map((call) => [call.id, call.name, call.arguments]);
}
