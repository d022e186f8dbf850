// deno-lint-ignore-file require-yield -- some of these streams have a result and no events
import {
  AgentConfigurationError,
  AgentPipelineError,
  type Middleware,
  runResult,
} from "../../mod.ts";
import {
  block,
  deltas,
  fail,
  ManualClock,
  text,
} from "../../src/testing/mod.ts";
import {
  assertEquals,
  assertRejects,
  assertStrictEquals,
  assertStringIncludes,
  assertThrows,
} from "../support/assert.ts";
import { deferred } from "../support/deferred.ts";
import { test } from "../support/suite.ts";
import { agentWith, contentsOf } from "../agent/fixtures.ts";
import { kindsOf, tracing } from "./fixtures.ts";

test(
  "the first middleware is the outermost",
  { case: ["PL-A-01", "PL-A-02"] },
  async () => {
    const log: string[] = [];
    const { agent } = agentWith([text("hi")], {
      middleware: [tracing("A", log), tracing("B", log)],
    });
    assertStrictEquals(agent.use(tracing("C", log)), agent);
    assertEquals((await agent.run("t")).output, "hi");
    assertEquals(log.join(" "), "A>r B>r C>r C<r B<r A<r");
  },
);

test("running and streaming go the same way", { case: "PL-A-03" }, async () => {
  const counts: number[] = [];
  const excited: Middleware = {
    async *aroundRun(request, next) {
      let count = 0;
      const inner = next(request);
      for (;;) {
        const step = await inner.next();
        if (step.done) {
          counts.push(count);
          return runResult({ ...step.value, output: `${step.value.output}!` });
        }
        count += 1;
        yield step.value;
      }
    },
  };
  const ids = { next: () => "same" };
  const ran = await agentWith([text("hi")], { middleware: [excited], ids })
    .agent.run("t");
  const streamed = agentWith([text("hi")], { middleware: [excited], ids }).agent
    .stream("t");
  await kindsOf(streamed);
  assertEquals(await streamed.finalResult(), ran);
  assertEquals([ran.output, counts], ["hi!", [5, 5]]);
});

test(
  "code behind next runs after the core has settled",
  { case: "PL-A-04" },
  async () => {
    for (const way of ["run", "stream"] as const) {
      const log: string[] = [];
      const { agent } = agentWith([text("hi")], {
        middleware: [{
          async *aroundRun(request, next) {
            const result = yield* next(request);
            log.push("post");
            return result;
          },
        }],
        onEvent: async (event) => {
          if (event.kind !== "agent_finished") return;
          await new Promise((resolve) => setTimeout(resolve, 1));
          log.push("finished");
        },
      });
      if (way === "run") await agent.run("t");
      else await kindsOf(agent.stream("t"));
      assertEquals(log, ["finished", "post"]);
    }
  },
);

const cached: Middleware = {
  async *aroundRun() {
    await Promise.resolve();
    return runResult({ stopReason: "text_response", output: "cached" });
  },
};

test("an answer without next makes no run", { case: "PL-A-05" }, async () => {
  const { agent, sink, model } = agentWith([], { middleware: [cached] });
  assertEquals((await agent.run("t")).output, "cached");
  assertEquals([
    model.requests.length,
    sink.events.length,
    agent.messages.length,
  ], [0, 0, 1]);
  assertEquals([agent.canContinue, agent.continueRejectionReason], [
    false,
    "no_previous_run",
  ]);
});

test(
  "an answer without next leaves the last result alone",
  { case: "PL-A-06" },
  async () => {
    const once: Middleware = {
      async *aroundRun(request, next) {
        return request.task === "second"
          ? yield* cached.aroundRun!(request, next)
          : yield* next();
      },
    };
    const { agent } = agentWith([text("one")], { middleware: [once] });
    const first = await agent.run("first");
    await agent.run("second");
    assertStrictEquals(agent.state.lastRunResult, first);
  },
);

test("next may run again after its stream has ended", async () => {
  const again: Middleware = {
    async *aroundRun(request, next) {
      yield* next(request);
      return yield* next(request);
    },
  };
  const { agent, sink } = agentWith([text("one"), text("two")], {
    middleware: [again],
  });
  assertEquals((await agent.run("t")).output, "two");
  assertEquals(new Set(sink.events.map((event) => event.runId)).size, 2);
});

test("two open streams of next are refused", { case: "PL-A-08" }, async () => {
  let greedy = true;
  const { agent } = agentWith([text("one"), text("fine")], {
    middleware: [{
      async *aroundRun(request, next) {
        if (!greedy) return yield* next(request);
        const [first, second] = [next(request), next(request)];
        await first.next();
        await second.next();
        return runResult({ stopReason: "text_response" });
      },
    }],
  });
  await assertRejects(() => agent.run("t"), AgentPipelineError, "next()");
  greedy = false;
  assertEquals((await agent.run("again")).status, "completed");
});

test(
  "what middleware throws before next rejects the call",
  { case: "PL-A-09" },
  async () => {
    const failure = new TypeError("mw");
    let failing = true;
    const { agent, sink } = agentWith([text("fine")], {
      middleware: [{
        async *aroundRun(request, next) {
          if (failing) throw failure;
          return yield* next(request);
        },
      }],
    });
    assertStrictEquals(await assertRejects(() => agent.run("t")), failure);
    assertEquals(sink.events.length, 0);
    failing = false;
    assertEquals((await agent.run("t")).output, "fine");
    await agent.waitForIdle();
  },
);

test("what middleware throws after next leaves the run as it ended", {
  case: "PL-A-10",
}, async () => {
  const { agent, sink } = agentWith([text("hi")], {
    middleware: [{
      async *aroundRun(request, next) {
        yield* next(request);
        throw new Error("afterthought");
      },
    }],
  });
  await assertRejects(() => agent.run("t"), Error, "afterthought");
  assertEquals(sink.ofKind("agent_finished")[0]?.result.status, "completed");
  assertEquals(agent.state.status, "completed");
});

test("middleware sees failures as results", { case: "PL-A-11" }, async () => {
  let seen: string | undefined;
  const { agent } = agentWith([fail(new Error("nope"))], {
    middleware: [{
      async *aroundRun(request, next) {
        const result = yield* next(request);
        seen = result.status;
        return result;
      },
    }],
  });
  const result = await agent.run("t");
  assertEquals([seen, result.stopReason], ["failed", "runtime_error"]);
  assertStringIncludes(result.error ?? "", "nope");
});

test("middleware may change the task", { case: "PL-A-12" }, async () => {
  const { agent, sink } = agentWith([text("hi")], {
    middleware: [{
      aroundRun: (request, next) =>
        next({ ...request, task: String(request.task).toUpperCase() }),
    }],
  });
  await agent.run("t");
  assertEquals(contentsOf(agent.messages), ["P", "T", "hi"]);
  assertEquals(sink.ofKind("agent_started")[0]?.task, "T");
});

test("a narrower signal cancels the core run", async () => {
  const controller = new AbortController();
  const gate = block();
  const { agent } = agentWith([gate], {
    middleware: [{
      aroundRun: (request, next) =>
        next({ ...request, signal: controller.signal }),
    }],
  });
  const run = agent.run("t");
  await gate.entered;
  controller.abort(new Error("out of time"));
  const result = await run;
  assertEquals([result.stopReason, result.error], [
    "external_abort",
    "out of time",
  ]);
});

test(
  "middleware may not change what a run is",
  { case: "PL-A-14" },
  async () => {
    const { agent, model } = agentWith([], {
      middleware: [{
        aroundRun: (request, next) => next({ ...request, kind: "continue" }),
      }],
    });
    await assertRejects(() => agent.run("t"), AgentPipelineError, "kind");
    assertEquals(model.requests.length, 0);
  },
);

test("middleware may rewrite what the reader sees, not what is kept", {
  case: "PL-A-15",
}, async () => {
  const { agent, sink } = agentWith([deltas(["he", "llo"])], {
    middleware: [{
      async *aroundRun(request, next) {
        const inner = next(request);
        for (;;) {
          const step = await inner.next();
          if (step.done) return step.value;
          const event = step.value;
          if (event.kind === "assistant_text_delta") {
            yield { ...event, delta: event.delta.toUpperCase() };
          }
        }
      },
    }],
  });
  const seen: unknown[] = [];
  for await (const event of agent.stream("t")) {
    seen.push("delta" in event ? event.delta : event.kind);
  }
  assertEquals(seen, ["HE", "LLO"]);
  assertEquals(
    sink.ofKind("assistant_text_delta").map((event) => event.delta),
    ["he", "llo"],
  );
  assertEquals(agent.messages.at(-1)?.content, "hello");
});

test(
  "the outermost result decides about follow-ups",
  { case: "PL-A-16" },
  async () => {
    const gate = block(text(null));
    const { agent } = agentWith([gate, text("1"), text("2")], {
      middleware: [{
        async *aroundRun(request, next) {
          const result = yield* next(request);
          return runResult({
            ...result,
            stopReason: "text_response",
            error: null,
          });
        },
      }],
    });
    const run = agent.run("t");
    await gate.entered;
    const handles = [agent.followUp("a"), agent.followUp("b")];
    gate.release();
    assertEquals((await run).status, "completed");
    assertEquals(
      await Promise.all(
        handles.map(async (handle) => (await handle.wait()).output),
      ),
      [
        "1",
        "2",
      ],
    );
  },
);

test("middleware must return a result", { case: "PL-A-17" }, async () => {
  const { agent } = agentWith([text("hi")], {
    middleware: [{
      async *aroundRun(request, next) {
        yield* next(request);
        return undefined as never;
      },
    }],
  });
  await assertRejects(() => agent.run("t"), AgentPipelineError, "runResult()");
});

test("a layer that is no generator is told how to become one", async () => {
  const late = { aroundRun: () => Promise.resolve() } as unknown as Middleware;
  const { agent } = agentWith([], { middleware: [late] });
  await assertRejects(
    () => agent.run("t"),
    TypeError,
    "What async *aroundRun() returns must have a function next()",
  );
});

test(
  "a follow-up goes through the middleware again",
  { case: "PL-A-18" },
  async () => {
    const log: string[] = [];
    const { agent } = agentWith([text("1"), text("2")], {
      middleware: [tracing("A", log)],
    });
    const run = agent.run("t");
    const handle = agent.followUp("u");
    assertEquals([(await run).output, (await handle.wait()).output], [
      "1",
      "2",
    ]);
    assertEquals(log.join(" "), "A>r A<r A>r A<r");
  },
);

test(
  "a continue goes through the middleware",
  { case: "PL-A-19" },
  async () => {
    const seen: unknown[] = [];
    const { agent } = agentWith([text("1"), text("2")], {
      middleware: [{
        aroundRun(request, next) {
          seen.push([request.kind, request.task]);
          return next();
        },
      }],
    });
    await agent.run("t");
    await agent.continueRun();
    assertEquals(seen, [["task", "t"], ["continue", undefined]]);
  },
);

test(
  "middleware that waits is part of the run",
  { case: "PL-A-20" },
  async () => {
    const entered = deferred();
    const held = deferred();
    const log: string[] = [];
    const { agent, model } = agentWith([], {
      middleware: [{
        async *aroundRun(request, next) {
          entered.resolve();
          await held.promise;
          return yield* next(request);
        },
      }],
      policy: { abortGraceMs: 1_000_000 },
      clock: new ManualClock(),
      history: {
        sourceId: "H",
        load: () => {
          log.push("load");
          return Promise.resolve(null);
        },
      },
      contextProviders: [{
        sourceId: "p",
        beforeRun: () => void log.push("before"),
      }],
    });
    const stream = agent.stream("t");
    const reading = kindsOf(stream);
    await entered.promise;
    assertEquals(agent.steer("x").status, "accepted");
    assertEquals(agent.abort("stop"), true);
    assertEquals(agent.steer("y").status, "run_closing");
    held.resolve();
    assertEquals(await reading, [
      "agent_started",
      "steering_discarded",
      "agent_finished",
    ]);
    assertEquals((await stream.finalResult()).stopReason, "external_abort");
    assertEquals([log, model.requests.length], [[], 0]);
  },
);

test("middleware that ignores its signal is abandoned after the grace", async () => {
  const clock = new ManualClock();
  const entered = deferred();
  const { agent } = agentWith([text("never")], {
    clock,
    middleware: [{
      async *aroundRun(request, next) {
        entered.resolve();
        await new Promise(() => {});
        return yield* next(request);
      },
    }],
  });
  const run = agent.run("t");
  await entered.promise;
  agent.abort("enough");
  await clock.advanceAsync(20);
  const result = await run;
  assertEquals([result.status, result.error, result.runId], [
    "cancelled",
    "enough",
    null,
  ]);
  await agent.waitForIdle();
});

test("layers are not given up while the run inside them still stores its end", async () => {
  const clock = new ManualClock();
  const entered = deferred();
  const saving = deferred();
  const stored = deferred();
  const { agent } = agentWith([block()], {
    clock,
    middleware: [{ aroundRun: (request, next) => next(request) }],
    history: {
      sourceId: "H",
      load: () => Promise.resolve(null),
      async save() {
        saving.resolve();
        await stored.promise;
      },
    },
    onEvent: (event) => {
      if (event.kind === "turn_started") entered.resolve();
    },
  });
  const running = agent.run("t");
  await entered.promise;
  agent.abort("stop");
  await saving.promise;
  await clock.advanceAsync(1000);
  stored.resolve();
  const result = await running;
  assertEquals([result.status, result.turns], ["cancelled", 1]);
  assertEquals(agent.state.lastRunResult, result);
});

test("steering for a run that is never made is settled", async () => {
  const entered = deferred();
  const held = deferred();
  const { agent, sink } = agentWith([], {
    middleware: [{
      async *aroundRun() {
        entered.resolve();
        await held.promise;
        return runResult({ stopReason: "text_response" });
      },
    }],
  });
  const run = agent.run("t");
  await entered.promise;
  const receipt = agent.steer("x");
  held.resolve();
  await run;
  assertEquals(await receipt.outcome, {
    kind: "discarded",
    reason: "text_response",
  });
  assertEquals(sink.events.length, 0);
});

test("an abort reaches middleware that works after the run", async () => {
  const entered = deferred<AbortSignal>();
  const { agent } = agentWith([text("hi")], {
    middleware: [{
      async *aroundRun(request, next) {
        const result = yield* next(request);
        entered.resolve(request.signal);
        await new Promise<void>((resolve) =>
          request.signal.addEventListener("abort", () => resolve())
        );
        return result;
      },
    }],
  });
  const run = agent.run("t");
  await entered.promise;
  assertEquals(agent.abort("now"), true);
  assertEquals((await run).output, "hi");
  assertEquals(agent.abort("later"), false);
});

test(
  "middleware is fixed once an agent has started",
  { case: "PL-A-21" },
  async () => {
    const { agent } = agentWith([text("hi")]);
    await agent.run("t");
    assertThrows(
      () => agent.use(tracing("late", [])),
      AgentConfigurationError,
      "start-up",
    );
  },
);

test(
  "only objects that wrap something are middleware",
  { case: "PL-A-22" },
  () => {
    const { agent } = agentWith([]);
    assertThrows(() => agent.use({}), AgentConfigurationError);
    assertThrows(
      () => agent.use((() => {}) as unknown as Middleware),
      AgentConfigurationError,
    );
  },
);

test("a disabled middleware is left out of every layer", async () => {
  const log: string[] = [];
  const { agent } = agentWith([text("hi")], {
    middleware: [
      { ...tracing("off", log, "rm"), enabled: false },
      tracing("on", log, "rm"),
    ],
  });
  await agent.run("t");
  assertEquals(log.join(" "), "on>r on>m on<m on<r");
});
