import { RecordingLogger } from "../../src/testing/ports.ts";
import { defineTool } from "../../src/tools/define_tool.ts";
import type { ToolLayer } from "../../src/tools/middleware.ts";
import { complete, reject } from "../../src/tools/outcome.ts";
import { RuleBasedToolPolicy } from "../../src/tools/policy.ts";
import { ToolPolicyMiddleware } from "../../src/tools/policy_middleware.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { type Deferred, deferred } from "../support/deferred.ts";
import { settle as macrotask } from "../support/fake_time.ts";
import { test } from "../support/suite.ts";
import { call, openCancellation, settle, started } from "./tool_kit.ts";

/** Tools `read` and `write` whose calls the test lets go one by one. */
class Gate {
  readonly entered: string[] = [];
  active = 0;
  mostActive = 0;
  readonly #gates = new Map<string, Deferred<unknown>>();

  readonly tools = (["read", "write"] as const).map((name) =>
    defineTool({
      name,
      effect: name === "read" ? "read_only" : "side_effecting",
      execute: async (_args, { toolCallId, signal }) => {
        this.entered.push(toolCallId!);
        this.mostActive = Math.max(this.mostActive, ++this.active);
        const gate = this.#gateOf(toolCallId!);
        signal.addEventListener("abort", () => gate.reject(signal.reason));
        try {
          return await gate.promise;
        } finally {
          this.active--;
        }
      },
    })
  );

  /** Lets a call go, before or after it was entered, and gives it time to. */
  async release(id: string, value: unknown = id): Promise<void> {
    this.#gateOf(id).resolve(value);
    await macrotask();
  }

  async fail(id: string, error: Error): Promise<void> {
    this.#gateOf(id).reject(error);
    await macrotask();
  }

  #gateOf(id: string): Deferred<unknown> {
    let gate = this.#gates.get(id);
    if (gate === undefined) this.#gates.set(id, gate = deferred<unknown>());
    return gate;
  }
}

const read = (id: string) => call(id, "read", { id });
const write = (id: string) => call(id, "write", { id });

test("reads run side by side and are committed in source order", {
  case: ["TL-78", "X-056"],
}, async () => {
  const gate = new Gate();
  const runtime = await started(gate.tools, { parallelToolCalls: true });
  const settling = settle(runtime, [read("slow"), read("fast")]);
  await macrotask();
  assertEquals(gate.active, 2);
  await gate.release("fast");
  await gate.release("slow");
  const { trace, contents } = await settling;
  assertEquals(trace, [
    "started:slow",
    "started:fast",
    "completed:slow",
    "completed:fast",
  ]);
  assertEquals(contents, { slow: "slow", fast: "fast" });
});

test("by default never two calls run side by side", {
  case: ["TL-77", "X-057"],
}, async () => {
  const gate = new Gate();
  const runtime = await started(gate.tools);
  const settling = settle(runtime, [read("1"), read("2")]);
  await macrotask();
  assertEquals(gate.entered, ["1"]);
  await gate.release("1");
  assertEquals(gate.entered, ["1", "2"]);
  await gate.release("2");
  assertEquals((await settling).trace, [
    "started:1",
    "completed:1",
    "started:2",
    "completed:2",
  ]);
});

test("a write waits for the reads before it and holds back those behind it", {
  case: ["TL-79", "X-058"],
}, async () => {
  const gate = new Gate();
  const runtime = await started(gate.tools, { parallelToolCalls: true });
  const settling = settle(runtime, [
    read("r1"),
    read("r2"),
    write("w"),
    read("r3"),
    read("r4"),
  ]);
  await macrotask();
  await gate.release("r2");
  assertEquals(gate.entered, ["r1", "r2"]);
  await gate.release("r1");
  assertEquals(gate.entered, ["r1", "r2", "w"]);
  await gate.release("w");
  assertEquals(gate.entered, ["r1", "r2", "w", "r3", "r4"]);
  await gate.release("r3");
  await gate.release("r4");
  await settling;
  assertEquals(gate.mostActive, 2);
});

test("a full chunk is committed before the next one starts", {
  case: ["TL-80", "X-058"],
}, async () => {
  const gate = new Gate();
  const runtime = await started(gate.tools, {
    parallelToolCalls: true,
    maxParallelToolCalls: 2,
  });
  const settling = settle(runtime, [read("1"), read("2"), read("3")]);
  await macrotask();
  await gate.release("2");
  await macrotask();
  assertEquals(gate.entered, ["1", "2"], "no sliding window");
  await gate.release("1");
  assertEquals(gate.entered, ["1", "2", "3"]);
  await gate.release("3");
  assertEquals((await settling).trace, [
    "started:1",
    "started:2",
    "completed:1",
    "completed:2",
    "started:3",
    "completed:3",
  ]);
});

test("a failure disturbs nobody else", {
  case: ["TL-81", "X-060", "B57"],
}, async () => {
  const gate = new Gate();
  const runtime = await started(gate.tools, { parallelToolCalls: true });
  const settling = settle(runtime, [read("a"), read("bad"), read("c")]);
  await macrotask();
  await gate.fail("bad", new Error("failed bad"));
  await gate.release("c");
  await gate.release("a");
  const { outcome, contents, trace } = await settling;
  assertEquals(contents, {
    a: "a",
    bad: '{"status":"error","tool":"read","error":"failed bad"}',
    c: "c",
  });
  assertEquals(trace.slice(3), ["completed:a", "completed:bad", "completed:c"]);
  assertEquals(outcome, { kind: "continue" });
});

test("middleware that fails after one of several reads costs that read alone", {
  case: "B57",
}, async () => {
  const gate = new Gate();
  const failing: ToolLayer = {
    async aroundTool(context, next) {
      const outcome = await next();
      if (context.toolCallId === "2") throw new Error("after the tool");
      return outcome;
    },
  };
  const runtime = await started(gate.tools, {
    parallelToolCalls: true,
    layers: [failing],
  });
  const settling = settle(runtime, ["1", "2", "3"].map(read));
  await macrotask();
  for (const id of ["2", "3", "1"]) await gate.release(id);
  const { results } = await settling;
  assertEquals(
    results.map(({ messages, error }) => [messages[0]?.tool_call_id, error]),
    [["1", null], ["2", "after the tool"], ["3", null]],
  );
});

test(
  "the first terminal result in source order decides, the rest is answered",
  {
    case: "X-061",
  },
  async () => {
    const gate = new Gate();
    const runtime = await started(gate.tools, {
      parallelToolCalls: true,
      maxParallelToolCalls: 2,
    });
    const settling = settle(runtime, [
      read("finish"),
      read("peer"),
      read("late"),
      write("write"),
    ]);
    await macrotask();
    await gate.release("peer", reject("no"));
    await gate.release("finish", complete("done"));
    const { outcome, trace, results } = await settling;
    assert(outcome.kind === "terminal");
    assertEquals(outcome.result.output, "done");
    assertEquals(trace, [
      "started:finish",
      "started:peer",
      "decided",
      "completed:finish",
      "completed:peer",
      "started:late",
      "completed:late",
      "started:write",
      "completed:write",
    ]);
    assertEquals(results.map(({ cancelled }) => cancelled), [
      false,
      false,
      true,
      true,
    ]);
    assertEquals(gate.entered, ["finish", "peer"]);
  },
);

test("an abort settles the whole answer in source order", {
  case: ["TL-85", "X-062"],
}, async () => {
  const gate = new Gate();
  const runtime = await started(gate.tools, { parallelToolCalls: true });
  const cancellation = openCancellation();
  const settling = settle(runtime, [read("one"), read("two"), write("write")], {
    cancellation,
  });
  await macrotask();
  cancellation.abort("stop parallel calls");
  const { outcome, trace, results } = await settling;
  assertEquals(outcome, { kind: "cancelled" });
  const ids = (mark: string) =>
    trace.filter((entry) => entry.startsWith(mark))
      .map((entry) => entry.slice(mark.length));
  assertEquals(ids("started:"), ["one", "two", "write"]);
  assertEquals(ids("completed:"), ["one", "two", "write"]);
  assert(results.every(({ error }) => error === "stop parallel calls"));
  assertEquals(gate.entered, ["one", "two"]);
  cancellation.close();
});

test("a cancelled peer outweighs a terminal one", async () => {
  const cancellation = openCancellation();
  const gate = new Gate();
  const runtime = await started(gate.tools, { parallelToolCalls: true });
  const settling = settle(runtime, [read("finish"), read("stuck")], {
    cancellation,
  });
  await macrotask();
  await gate.release("finish", complete("done"));
  cancellation.abort("stop");
  const { outcome, trace, contents } = await settling;
  assertEquals(outcome, { kind: "cancelled" });
  assertEquals(contents.finish, "done", "its data are committed all the same");
  assert(!trace.includes("decided"));
  cancellation.close();
});

test("an abort while a chunk is announced executes none of it", async () => {
  const gate = new Gate();
  const cancellation = openCancellation();
  const runtime = await started(gate.tools, { parallelToolCalls: true });
  const { outcome, trace } = await settle(runtime, [read("1"), read("2")], {
    cancellation,
    on: (mark) => {
      if (mark === "started:1") cancellation.abort("stop");
    },
  });
  assertEquals(outcome, { kind: "cancelled" });
  assertEquals(trace, [
    "started:1",
    "started:2",
    "completed:1",
    "completed:2",
  ]);
  assertEquals(gate.entered, []);
  cancellation.close();
});

test("reads that are never begun are answered one by one", async () => {
  const gate = new Gate();
  const cancellation = openCancellation();
  cancellation.abort("stop");
  const runtime = await started(gate.tools, { parallelToolCalls: true });
  const { trace } = await settle(runtime, [read("1"), read("2")], {
    cancellation,
  });
  assertEquals(trace, [
    "started:1",
    "completed:1",
    "started:2",
    "completed:2",
  ]);
  cancellation.close();
});

test("all progress of a chunk comes before its first completion", {
  case: "TL-87",
}, async () => {
  const meet = deferred();
  let reported = 0;
  const reporting = defineTool({
    name: "report",
    effect: "read_only",
    execute: async (_args, { progress, toolCallId }) => {
      await progress.report(`${toolCallId} half`);
      if (++reported === 2) meet.resolve();
      await meet.promise;
      void progress.report(`${toolCallId} done`);
    },
  });
  const runtime = await started([reporting], { parallelToolCalls: true });
  const { trace } = await settle(runtime, [
    call("a", "report"),
    call("b", "report", { n: 2 }),
  ]);
  const firstCompletion = trace.indexOf("completed:a");
  assertEquals(firstCompletion, 6);
  assertEquals(
    trace.filter((mark) => mark.startsWith("progressed")).length,
    4,
  );
});

test("an unknown tool is a barrier", { case: "TL-88" }, async () => {
  const gate = new Gate();
  const runtime = await started(gate.tools, { parallelToolCalls: true });
  const settling = settle(runtime, [read("1"), call("x", "zz"), read("2")]);
  await macrotask();
  assertEquals(gate.entered, ["1"]);
  await gate.release("1");
  assertEquals(gate.entered, ["1", "2"]);
  await gate.release("2");
  const { trace, results } = await settling;
  assertEquals(trace, [
    "started:1",
    "completed:1",
    "started:x",
    "completed:x",
    "started:2",
    "completed:2",
  ]);
  assert(results[1]?.error?.startsWith("unknown tool"));
});

test("a group that would trip the guard runs one by one", {
  case: ["TL-59", "X-059"],
}, async () => {
  const seen: unknown[] = [];
  let active = 0;
  let mostActive = 0;
  const tool = defineTool({
    name: "read",
    effect: "read_only",
    execute: async ({ x }) => {
      mostActive = Math.max(mostActive, ++active);
      seen.push(x);
      await macrotask();
      active--;
    },
  });
  const runtime = await started([tool], { parallelToolCalls: true });
  const { outcome } = await settle(
    runtime,
    [1, 2, 2, 2].map((x, index) => call(String(index + 1), "read", { x })),
  );
  assert(outcome.kind === "repeated");
  assertEquals(outcome.call.id, "4");
  assertEquals(seen, [1, 2, 2]);
  assertEquals(mostActive, 1);
});

test("a limit of a rule holds for calls that run side by side", {
  case: "TL-104",
}, async () => {
  let executed = 0;
  const tool = defineTool({
    name: "read",
    effect: "read_only",
    execute: () => ++executed,
  });
  const policy = new RuleBasedToolPolicy([
    { ruleId: "read-budget", action: "allow", maxCallsPerRun: 2 },
  ]);
  const runtime = await started([tool], {
    parallelToolCalls: true,
    layers: [new ToolPolicyMiddleware(policy)],
  });
  const { outcome } = await settle(runtime, ["1", "2", "3", "4"].map(read));
  assertEquals(executed, 2);
  assert(outcome.kind === "terminal");
  assertEquals(outcome.result.control, "reject");
});

test("many reads side by side share one listener and leave none behind", async () => {
  const cancellation = openCancellation();
  let listeners = 0;
  const { signal } = cancellation;
  const add = signal.addEventListener.bind(signal);
  const remove = signal.removeEventListener.bind(signal);
  signal.addEventListener = (...args: Parameters<typeof add>) => {
    listeners++;
    add(...args);
  };
  signal.removeEventListener = (...args: Parameters<typeof remove>) => {
    listeners--;
    remove(...args);
  };
  let mostListeners = 0;
  const tool = defineTool({
    name: "read",
    effect: "read_only",
    execute: (_args, { signal }) => {
      assertEquals(signal.aborted, false);
      mostListeners = Math.max(mostListeners, listeners);
    },
  });
  const runtime = await started([tool], {
    parallelToolCalls: true,
    logger: new RecordingLogger(),
  });
  const reads = Array.from({ length: 64 }, (_, n) => read(String(n)));
  const { results } = await settle(runtime, reads, { cancellation });
  assertEquals(results.length, 64);
  assertEquals([mostListeners, listeners], [1, 0]);
});
