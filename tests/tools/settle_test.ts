import { defineTool } from "../../src/tools/define_tool.ts";
import { cancel, complete, proceed, reject } from "../../src/tools/outcome.ts";
import { assert, assertEquals, assertRejects } from "../support/assert.ts";
import { settle as macrotask } from "../support/fake_time.ts";
import { test } from "../support/suite.ts";
import { call, settle, started } from "./tool_kit.ts";

/** A tool that notes its arguments and returns what `answer` makes of them. */
function noting(
  name: string,
  answer: (args: Record<string, unknown>) => unknown = () => null,
) {
  const seen: unknown[] = [];
  const tool = defineTool({
    name,
    execute: (args) => {
      seen.push(args);
      return answer(args);
    },
  });
  return { tool, seen };
}

test("calls are settled one after the other, each with one message", {
  case: ["TL-77", "X-057"],
}, async () => {
  const { tool } = noting("echo", ({ text }) => ({ text }));
  const runtime = await started([tool]);
  const { outcome, trace, results } = await settle(runtime, [
    call("1", "echo", { text: "a" }),
    call("2", "echo", { text: "b" }),
  ]);
  assertEquals(trace, ["started:1", "completed:1", "started:2", "completed:2"]);
  assertEquals(outcome, { kind: "continue" });
  assertEquals(results[0], {
    messages: [{ role: "tool", tool_call_id: "1", content: '{"text":"a"}' }],
    control: "continue",
    output: null,
    error: null,
    cancelled: false,
  });
  assert(Object.isFrozen(results[0]) && Object.isFrozen(results[0]?.messages));
});

test("arguments that are no JSON object never reach the tool", {
  case: "TL-45",
}, async () => {
  const { tool, seen } = noting("echo");
  const runtime = await started([tool]);
  const texts = ["{oops", "[1]", "null", '"x"', "5"];
  const { results } = await settle(
    runtime,
    texts.map((text, index) => call(String(index), "echo", text)),
  );
  const noObject = "arguments must be a JSON object";
  assertEquals(results.map(({ error }) => error), [
    "arguments are not valid JSON",
    noObject,
    noObject,
    noObject,
    noObject,
  ]);
  assertEquals(seen, []);
});

test("arguments that cannot be decoded are not repeated to the model", {
  case: "TL-46",
}, async () => {
  const { tool } = noting("login");
  const runtime = await started([tool]);
  const { contents } = await settle(runtime, [
    call("1", "login", '{"password": hunter2}'),
  ]);
  assertEquals(
    contents["1"],
    '{"status":"error","tool":"login","error":"arguments are not valid JSON"}',
  );
});

test("blank arguments are none", { case: "TL-47" }, async () => {
  const { tool, seen } = noting("echo");
  const runtime = await started([tool]);
  await settle(runtime, [call("1", "echo", ""), call("2", "echo", "  ")]);
  assertEquals(seen, [{}, {}]);
});

test("a key __proto__ is an ordinary argument", async () => {
  const { tool, seen } = noting("echo");
  const runtime = await started([tool]);
  await settle(runtime, [
    call("1", "echo", '{"__proto__":{"admin":true},"a":1,"a":2}'),
  ]);
  const [args] = seen as [Record<string, unknown>];
  assert(Object.hasOwn(args, "__proto__"));
  assertEquals(args.admin, undefined);
  assertEquals(args.a, 2);
});

test("an unknown tool is an error that the model reads, quoted once", {
  case: "TL-49",
}, async () => {
  const runtime = await started([noting("b").tool, noting("a").tool]);
  const { outcome, contents } = await settle(runtime, [call("1", "zz")]);
  assertEquals(JSON.parse(contents["1"]!), {
    status: "error",
    tool: "zz",
    error: 'unknown tool "zz" (available: a, b)',
  });
  assertEquals(outcome, { kind: "continue" });
});

test("whatever a tool throws becomes its error result", {
  case: "TL-32",
}, async () => {
  const hostile = {
    toString() {
      throw new Error("secret");
    },
  };
  const thrown = [
    new Error(""),
    "boom",
    new RangeError("r", { cause: new Error("secret") }),
    undefined,
    hostile,
    Object.create(null),
  ];
  const { tool } = noting("t", ({ index }) => {
    throw thrown[Number(index)];
  });
  const runtime = await started([tool]);
  const { results, contents } = await settle(
    runtime,
    thrown.map((_, index) => call(String(index), "t", { index })),
  );
  assertEquals(results.map(({ error }) => error), [
    "Error",
    "boom",
    "r",
    "undefined",
    "unknown error",
    "unknown error",
  ]);
  assert(!JSON.stringify(contents).includes("secret"));
  assert(results.every(({ control }) => control === "continue"));
});

test(
  "a terminal outcome carries its text",
  { case: ["TL-30", "TL-31"] },
  async () => {
    const made = [
      complete({ status: "error" }),
      complete(""),
      reject({ why: "no" }),
      cancel(null),
    ];
    const { tool } = noting("end", ({ index }) => made[Number(index)]);
    const settled: unknown[] = [];
    for (const index of made.keys()) {
      const runtime = await started([tool]);
      const { outcome, trace } = await settle(runtime, [
        call("1", "end", { index }),
      ]);
      assertEquals(trace, ["started:1", "decided", "completed:1"]);
      assert(outcome.kind === "terminal");
      settled.push([
        outcome.result.control,
        outcome.result.output,
        outcome.call.id,
      ]);
    }
    assertEquals(settled, [
      ["complete", '{"status":"error"}', "1"],
      ["complete", "", "1"],
      ["reject", '{"why":"no"}', "1"],
      ["cancel", "null", "1"],
    ]);
  },
);

test("calls behind a terminal one are answered without being executed", async () => {
  const end = noting("end", () => complete("done"));
  const late = noting("late");
  const runtime = await started([end.tool, late.tool]);
  const { trace, results, contents } = await settle(runtime, [
    call("1", "end"),
    call("2", "late"),
    call("3", "late"),
  ]);
  assertEquals(trace, [
    "started:1",
    "decided",
    "completed:1",
    "started:2",
    "completed:2",
    "started:3",
    "completed:3",
  ]);
  assertEquals(JSON.parse(contents["2"]!), {
    status: "cancelled",
    tool: "late",
    error: "skipped because an earlier tool call ended the run",
  });
  assertEquals(results[2]?.cancelled, true);
  assertEquals(late.seen, []);
});

test("data are serialised once, when the call is settled", {
  case: "TL-34",
}, async () => {
  const data = { state: "first" };
  const { tool } = noting("t", () => {
    setTimeout(() => data.state = "changed", 0);
    return proceed(data);
  });
  const runtime = await started([tool]);
  const { contents } = await settle(runtime, [call("1", "t")]);
  await macrotask();
  assertEquals(data.state, "changed");
  assertEquals(contents["1"], '{"state":"first"}');
});

test("a result that cannot be serialised is an ordinary failure", {
  case: "B85",
}, async () => {
  const circular: { self?: unknown } = {};
  circular.self = circular;
  const values = [
    undefined,
    10n,
    new Map([["k", 1]]),
    circular,
    new Error("e"),
    "\ud800",
    complete(circular),
  ];
  const { tool } = noting("t", ({ index }) => values[Number(index)]);
  const runtime = await started([tool]);
  const { outcome, contents } = await settle(
    runtime,
    values.map((_, index) => call(String(index), "t", { index })),
  );
  const failed =
    '{"status":"error","tool":"t","error":"tool result cannot be serialised to JSON"}';
  assertEquals(Object.values(contents), [
    "null",
    "10",
    '{"k":1}',
    failed,
    '{"name":"Error","message":"e"}',
    "\ufffd",
    failed,
  ]);
  assertEquals(outcome, { kind: "continue" }, "a failure is never terminal");
});

test("the third identical request in a row ends the run", {
  case: ["TL-52", "X-052"],
}, async () => {
  const { tool, seen } = noting("echo");
  const runtime = await started([tool]);
  const echo = call("1", "echo", { text: "same" });
  await settle(runtime, [echo]);
  await settle(runtime, [echo]);
  const { outcome, trace, contents } = await settle(runtime, [
    echo,
    call("2", "other"),
  ]);
  const error =
    'tool "echo" was requested 3 times in a row with identical arguments';
  assertEquals(outcome, { kind: "repeated", call: echo, error });
  assertEquals(trace, [
    "started:1",
    "decided",
    "completed:1",
    "started:2",
    "completed:2",
  ]);
  assertEquals(JSON.parse(contents["1"]!), {
    status: "error",
    tool: "echo",
    error,
  });
  assertEquals(JSON.parse(contents["2"]!), {
    status: "cancelled",
    tool: "other",
    error: "skipped because the run stopped on repeated tool calls",
  });
  assertEquals(seen.length, 2);
});

test("unknown tools and undecodable arguments count like any other call", {
  case: ["TL-56", "X-053"],
}, async () => {
  for (const repeated of [call("1", "zz"), call("1", "zz", "{bad")]) {
    const runtime = await started([noting("a").tool]);
    const { outcome, results } = await settle(runtime, [
      repeated,
      { ...repeated, id: "2" },
      { ...repeated, id: "3" },
    ]);
    assertEquals(outcome.kind, "repeated");
    assert(
      results[0]?.error?.startsWith(
        repeated.arguments === "{}" ? "unknown tool" : "arguments",
      ),
    );
    assertEquals(results[0]?.error, results[1]?.error);
  }
});

test("a new run starts the count again", { case: "TL-57" }, async () => {
  const { tool, seen } = noting("echo");
  const runtime = await started([tool]);
  const twice = [call("1", "echo"), call("2", "echo")];
  await settle(runtime, twice);
  await runtime.onTaskStart();
  assertEquals((await settle(runtime, twice)).outcome, { kind: "continue" });
  assertEquals(seen.length, 4);
});

test("calls of a cut off answer are refused and do not count", async () => {
  const { tool, seen } = noting("echo");
  const runtime = await started([tool], { parallelToolCalls: true });
  const refusal = "the answer was cut off";
  const echo = ["1", "2", "3", "4"].map((id) => call(id, "echo"));
  const { outcome, trace, results } = await settle(runtime, echo, { refusal });
  assertEquals(outcome, { kind: "continue" });
  assertEquals(trace.slice(0, 4), [
    "started:1",
    "completed:1",
    "started:2",
    "completed:2",
  ]);
  assertEquals(results.map(({ error, cancelled }) => [error, cancelled]), [
    [refusal, false],
    [refusal, false],
    [refusal, false],
    [refusal, false],
  ]);
  assertEquals(seen, []);
  const next = await settle(runtime, echo.slice(0, 2));
  assertEquals(next.outcome, { kind: "continue" });
});

test("a halted turn executes nothing more", async () => {
  const { tool, seen } = noting("echo", ({ n }) => n);
  const runtime = await started([tool]);
  let halted: string | null = null;
  const { outcome, trace, results } = await settle(
    runtime,
    [1, 2, 3].map((n) => call(String(n), "echo", { n })),
    {
      halted: () => halted,
      on: (mark) => {
        if (mark === "completed:1") halted = "the journal is full";
      },
    },
  );
  assertEquals(outcome, { kind: "halted" });
  assertEquals(seen, [{ n: 1 }]);
  assertEquals(trace.slice(2), [
    "started:2",
    "completed:2",
    "started:3",
    "completed:3",
  ]);
  assertEquals(results[2]?.error, "the journal is full");
});

test("a call whose start could not be recorded is not executed", async () => {
  const { tool, seen } = noting("echo");
  const runtime = await started([tool]);
  let halted: string | null = null;
  const { outcome, trace } = await settle(runtime, [call("1", "echo")], {
    halted: () => halted,
    on: (mark) => {
      if (mark === "started:1") halted = "the journal is full";
    },
  });
  assertEquals(outcome, { kind: "halted" });
  assertEquals(trace, ["started:1", "completed:1"]);
  assertEquals(seen, []);
});

test("a report that throws is the only thing that rejects", async () => {
  const runtime = await started([noting("echo").tool]);
  await assertRejects(
    () =>
      settle(runtime, [call("1", "echo")], {
        on: () => {
          throw new Error("the report is broken");
        },
      }),
    Error,
    "the report is broken",
  );
});
