import { AgentCancelledError } from "../../src/base/abort.ts";
import { ManualClock } from "../../src/testing/manual_clock.ts";
import { RecordingLogger } from "../../src/testing/ports.ts";
import { defineTool } from "../../src/tools/define_tool.ts";
import { standaloneContext } from "../../src/tools/execution_context.ts";
import type { ToolLayer } from "../../src/tools/middleware.ts";
import { complete } from "../../src/tools/outcome.ts";
import {
  assert,
  assertEquals,
  assertRejects,
  assertStrictEquals,
} from "../support/assert.ts";
import { deferred } from "../support/deferred.ts";
import { settle as macrotask } from "../support/fake_time.ts";
import { test } from "../support/suite.ts";
import { call, openCancellation, settle, started } from "./tool_kit.ts";

/** A tool that waits for its signal. */
function waiting(name = "wait") {
  const entered = deferred();
  const signals: AbortSignal[] = [];
  const tool = defineTool({
    name,
    effect: "read_only",
    execute: (_args, { signal }) => {
      signals.push(signal);
      entered.resolve();
      return new Promise((_resolve, reject) =>
        signal.addEventListener("abort", () => reject(signal.reason))
      );
    },
  });
  return { tool, entered, signals };
}

test("an abort ends the running call and every call behind it", {
  case: "TL-60",
}, async () => {
  const { tool, entered, signals } = waiting();
  const runtime = await started([tool]);
  const cancellation = openCancellation();
  const settling = settle(runtime, [call("1", "wait"), call("2", "wait")], {
    cancellation,
  });
  await entered.promise;
  assertEquals(cancellation.abort("stopped"), true);
  assertEquals(cancellation.abort("again"), false);
  const { outcome, trace, contents, results } = await settling;
  const content = '{"status":"cancelled","tool":"wait","error":"stopped"}';
  assertEquals(contents, { 1: content, 2: content });
  assertEquals(trace, ["started:1", "completed:1", "started:2", "completed:2"]);
  assertEquals(outcome, { kind: "cancelled" });
  assertEquals(signals.length, 1);
  assertEquals({ ...results[0], messages: [] }, {
    messages: [],
    control: "continue",
    output: null,
    error: "stopped",
    cancelled: true,
  });
  cancellation.close();
});

test("an abort before the first call leaves no call unanswered", async () => {
  const { tool, signals } = waiting();
  const runtime = await started([tool]);
  const cancellation = openCancellation();
  cancellation.abort(undefined);
  const { outcome, trace, results } = await settle(
    runtime,
    [call("1", "wait"), call("2", "wait")],
    { cancellation },
  );
  assertEquals(outcome, { kind: "cancelled" });
  assertEquals(trace, ["started:1", "completed:1", "started:2", "completed:2"]);
  assertEquals(results[1]?.error, "the run was aborted");
  assertEquals(signals, []);
  cancellation.close();
});

test("an abort while a call is announced keeps it from being executed", async () => {
  const { tool, signals } = waiting();
  const runtime = await started([tool]);
  const cancellation = openCancellation();
  const { outcome, trace } = await settle(runtime, [call("1", "wait")], {
    cancellation,
    on: (mark) => {
      if (mark === "started:1") cancellation.abort("not this one");
    },
  });
  assertEquals(outcome, { kind: "cancelled" });
  assertEquals(trace, ["started:1", "completed:1"]);
  assertEquals(signals, []);
  cancellation.close();
});

test("an abort between two calls stops before the second", async () => {
  let executed = 0;
  const tool = defineTool({ name: "count", execute: () => ++executed });
  const runtime = await started([tool]);
  const cancellation = openCancellation();
  const { outcome, results } = await settle(
    runtime,
    [call("1", "count"), call("2", "count")],
    {
      cancellation,
      on: (mark) => {
        if (mark === "completed:1") cancellation.abort("enough");
      },
    },
  );
  assertEquals(outcome, { kind: "cancelled" });
  assertEquals(results.map(({ error }) => error), [null, "enough"]);
  assertEquals(executed, 1);
  cancellation.close();
});

test("a tool that aborts the run itself and returns at once keeps its result", async () => {
  const cancellation = openCancellation();
  const tool = defineTool({
    name: "finish",
    execute: () => {
      cancellation.abort("by the tool");
      return complete("done");
    },
  });
  const runtime = await started([tool]);
  const { outcome } = await settle(runtime, [call("1", "finish")], {
    cancellation,
  });
  assert(outcome.kind === "terminal");
  assertEquals(outcome.result.output, "done");
  cancellation.close();
});

test("what a tool did before the abort stands while its progress is still delivered", async () => {
  for (const fails of [false, true]) {
    const cancellation = openCancellation();
    const tool = defineTool({
      name: "t",
      execute: (_args, { progress }) => {
        void progress.report("nearly there");
        if (fails) throw new Error("failed");
        return complete("done");
      },
    });
    const runtime = await started([tool]);
    const { results } = await settle(runtime, [call("1", "t")], {
      cancellation,
      on: async (mark) => {
        if (!mark.startsWith("progressed")) return;
        await macrotask();
        cancellation.abort("stop");
        await macrotask();
      },
    });
    const [result] = results;
    assertEquals(
      [result?.output, result?.error, result?.cancelled],
      fails ? [null, "failed", false] : ["done", null, false],
    );
    cancellation.close();
  }
});

test("a tool that ignores its signal is given up after the grace", async () => {
  const clock = new ManualClock();
  const logger = new RecordingLogger();
  const cancellation = openCancellation({ clock, logger, graceMs: 1000 });
  const entered = deferred();
  const stuck = deferred();
  const tool = defineTool({
    name: "stuck",
    execute: async (_args, { progress }) => {
      entered.resolve();
      await stuck.promise;
      await progress.report("too late");
      throw new Error("nobody hears this");
    },
  });
  const runtime = await started([tool]);
  const settling = settle(runtime, [call("1", "stuck")], { cancellation });
  await entered.promise;
  cancellation.abort("stop");
  await macrotask();
  clock.advance(999);
  await macrotask();
  assertEquals(logger.warnings.length, 0);
  clock.advance(1);
  const { outcome, trace } = await settling;
  assertEquals(outcome, { kind: "cancelled" });
  assertEquals(trace, ["started:1", "completed:1"]);
  assertEquals(logger.warnings.length, 1);
  stuck.resolve();
  await macrotask();
  assertEquals(trace.length, 2);
  cancellation.close();
});

test("a tool that cleans up within the grace is waited for", async () => {
  const clock = new ManualClock();
  const cancellation = openCancellation({ clock });
  const entered = deferred();
  const cleaned = deferred();
  const tool = defineTool({
    name: "tidy",
    execute: async () => {
      entered.resolve();
      await cleaned.promise;
      return "cleaned up";
    },
  });
  const runtime = await started([tool]);
  let done = false;
  const settling = settle(runtime, [call("1", "tidy")], { cancellation })
    .finally(() => done = true);
  await entered.promise;
  cancellation.abort("stop");
  await macrotask();
  await macrotask();
  assertEquals(done, false);
  cleaned.resolve();
  const { results } = await settling;
  assertEquals(results[0]?.error, "stop", "its late value is dropped");
  cancellation.close();
});

test("a cancellation error without an abort is an ordinary failure", {
  case: "TL-66",
}, async () => {
  let executed = 0;
  const leaking = defineTool({
    name: "a",
    execute: () => {
      throw new AgentCancelledError("handler said stop");
    },
  });
  const next = defineTool({ name: "b", execute: () => ++executed });
  const runtime = await started([leaking, next]);
  const { outcome, contents } = await settle(runtime, [
    call("1", "a"),
    call("2", "b"),
  ]);
  assertEquals(
    contents["1"],
    '{"status":"error","tool":"a","error":"handler said stop"}',
  );
  assertEquals(outcome, { kind: "continue" });
  assertEquals(executed, 1);
});

test("a timeout of the tool's own request is an ordinary failure", async () => {
  const tool = defineTool({
    name: "fetch",
    execute: () => {
      throw new DOMException("The operation timed out", "TimeoutError");
    },
  });
  const runtime = await started([tool]);
  const { results } = await settle(runtime, [call("1", "fetch")]);
  assertEquals(results[0]?.error, "The operation timed out");
  assertEquals(results[0]?.cancelled, false);
});

test("every failure under an abort counts as the cancellation", async () => {
  const entered = deferred();
  const tool = defineTool({
    name: "fragile",
    execute: (_args, { signal }) => {
      entered.resolve();
      return new Promise((_resolve, reject) =>
        signal.addEventListener(
          "abort",
          () => reject(new Error("socket hang up")),
        )
      );
    },
  });
  const runtime = await started([tool]);
  const cancellation = openCancellation();
  const settling = settle(runtime, [call("1", "fragile")], { cancellation });
  await entered.promise;
  cancellation.abort("stop");
  assertEquals((await settling).results[0]?.error, "stop");
  cancellation.close();
});

test("the signal of a settled call stays silent", async () => {
  const signals: AbortSignal[] = [];
  const keeping = defineTool({
    name: "keep",
    execute: (_args, { signal }) => void signals.push(signal),
  });
  const { tool, entered } = waiting();
  const runtime = await started([keeping, tool]);
  const cancellation = openCancellation();
  const settling = settle(runtime, [call("1", "keep"), call("2", "wait")], {
    cancellation,
  });
  await entered.promise;
  cancellation.abort("stop");
  await settling;
  assertEquals(signals[0]?.aborted, false);
  cancellation.close();
});

test("each call has its own signal, and its reason is that of the abort", async () => {
  const { tool, entered, signals } = waiting();
  const seen: AbortSignal[] = [];
  const layer: ToolLayer = {
    aroundTool(context, next) {
      seen.push(context.signal);
      return next({ ...context, arguments: {} });
    },
  };
  const runtime = await started([tool], {
    layers: [layer],
    parallelToolCalls: true,
  });
  const cancellation = openCancellation();
  const settling = settle(
    runtime,
    [call("1", "wait"), call("2", "wait", { n: 2 })],
    { cancellation },
  );
  await entered.promise;
  await macrotask();
  cancellation.abort("stop");
  await settling;
  assertEquals(signals.length, 2);
  assertStrictEquals(seen[0], signals[0], "a copied context keeps the signal");
  assert(signals[0] !== signals[1]);
  assertStrictEquals(signals[0]?.reason, cancellation.reason);
  cancellation.close();
});

test("a dispatch is cancelled like a call of the model", async () => {
  const { tool, entered } = waiting();
  const runtime = await started([tool]);
  const cancellation = openCancellation();
  const { agent, state, scope } = standaloneContext("", {});
  const dispatching = runtime.dispatch({
    toolName: "wait",
    arguments: {},
    cancellation,
    agent,
    state,
    scope,
  });
  await entered.promise;
  cancellation.abort("stop");
  await assertRejects(() => dispatching, AgentCancelledError, "stop");
  cancellation.close();
});
