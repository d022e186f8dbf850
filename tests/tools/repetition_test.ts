import { ComparableCall, RepetitionGuard } from "../../src/tools/repetition.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { test } from "../support/suite.ts";
import { call } from "./tool_kit.ts";

function same(left: string, right: string): boolean {
  return new ComparableCall(call("1", "t", left))
    .equals(new ComparableCall(call("2", "t", right)));
}

test("key order and white space do not make a call different", {
  case: ["TL-53", "X-053"],
}, () => {
  assert(same('{"x":1,"y":2}', '{ "y":2, "x":1 }'));
  assert(
    same(
      '{"a":1,"b":{"c":2,"d":3}}',
      '{ "b": {"d":3,"c":2}, "a": 1 }',
    ),
  );
  assert(!same('{"a":[1,2]}', '{"a":[2,1]}'));
  assert(
    !new ComparableCall(call("1", "a"))
      .equals(new ComparableCall(call("1", "b"))),
  );
});

test("blank arguments are the same as none", () => {
  assert(same("", "{}"));
  assert(same("  ", "{ }"));
});

test("text that is no JSON is compared as it is", { case: "X-053" }, () => {
  assert(same("{bad", "{bad"));
  assert(!same("{bad", "{ bad"));
});

test("numbers that a double cannot hold do not invent repetitions", () => {
  assert(!same('{"id":9007199254740993}', '{"id":9007199254740992}'));
  assert(same('{"id":9007199254740993}', '{"id":9007199254740993}'));
  assert(!same('{"v":0.1234567890123456}', '{"v":0.1234567890123457}'));
  assert(!same('{"v":1e400}', '{"v":2e400}'));
  assert(same('{"v":1.0}', '{"v":1}'));
  assert(same('{"v":123456789012345}', '{ "v": 123456789012345 }'));
});

test("arguments of many megabytes are compared", () => {
  const content = '\\"'.repeat(300_000);
  assert(
    same(`{"n":1,"content":"${content}"}`, `{"content":"${content}","n":1}`),
  );
  assert(
    !same(`{"n":1,"content":"${content}`, `{"n":1, "content":"${content}`),
  );
});

test("long digits inside texts are no numbers", () => {
  assert(
    same(
      '{"card":"4111111111111111 \\" 4111111111111111","n":1}',
      '{"n":1,"card":"4111111111111111 \\" 4111111111111111"}',
    ),
  );
});

test("the request that reaches the limit is refused", { case: "TL-52" }, () => {
  const guard = new RepetitionGuard(3);
  const echo = call("1", "echo", { text: "same" });
  assertEquals([1, 2, 3].map(() => guard.refuses(echo)), [false, false, true]);
});

test("another call in between, or a new run, starts the count again", {
  case: ["TL-54", "TL-57", "X-053"],
}, () => {
  const guard = new RepetitionGuard(3);
  const a = call("1", "echo", { n: 1 });
  const b = call("2", "echo", { n: 2 });
  assertEquals([a, a, b, a, a].map((c) => guard.refuses(c)), [
    false,
    false,
    false,
    false,
    false,
  ]);
  guard.reset();
  assertEquals([a, a].map((c) => guard.refuses(c)), [false, false]);
});

test("an infinite limit switches the guard off", { case: "TL-58" }, () => {
  const guard = new RepetitionGuard(Infinity);
  const echo = call("1", "echo");
  assert(!Array.from({ length: 10 }, () => guard.refuses(echo)).includes(true));
});

test("a group is counted whole or not at all", { case: "TL-59" }, () => {
  const guard = new RepetitionGuard(3);
  const one = call("1", "read", { x: 1 });
  const two = call("2", "read", { x: 2 });
  assert(guard.reserve([one, two, two]));
  assert(!guard.reserve([two]), "counted on from the group before");
  assert(!guard.reserve([one, two, two, two]));
  assert(guard.refuses(two), "a refused group counted nothing");
});
