// deno-lint-ignore-file require-yield -- some of these streams have a result and no events
import {
  AgentPipelineError,
  assistantMessage,
  CompactionPolicy,
  ContextBudget,
  ContextOverflowError,
  type Middleware,
  type ModelDelta,
  type ModelMiddleware,
  type ModelNext,
  type ModelRequest,
  systemMessage,
} from "../../mod.ts";
import { calls, deltas, fail, text } from "../../src/testing/mod.ts";
import {
  assert,
  assertEquals,
  assertStringIncludes,
} from "../support/assert.ts";
import { test } from "../support/suite.ts";
import { agentWith, contentsOf, echo } from "../agent/fixtures.ts";
import { tracing } from "./fixtures.ts";

test("the model layer wraps every request", { case: "PL-D-01" }, async () => {
  const log: string[] = [];
  const seen: unknown[] = [];
  const { agent } = agentWith([calls(["echo"]), text("fin")], {
    tools: [echo],
    middleware: [tracing("M", log, "m"), {
      aroundModel(request, next) {
        seen.push([
          request.turn,
          request.attempt,
          request.target.provider,
          request.agent.agentId,
        ]);
        return next();
      },
    }],
  });
  await agent.run("t");
  assertEquals(log.join(" "), "M>m M<m M>m M<m");
  assertEquals(seen, [[1, 1, "scripted", "a"], [2, 1, "scripted", "a"]]);
});

const budget = new ContextBudget({
  contextWindow: 100_000,
  reserveTokens: 10,
  keepRecentTokens: 1,
});

function recovering(
  script: Parameters<typeof agentWith>[0],
  middleware: Middleware[],
) {
  return agentWith(script, {
    middleware,
    compactionPolicy: new CompactionPolicy({ budget }),
    autoCompactionPolicy: {},
    compactor: { compact: () => ({ content: "before", source: "test" }) },
  });
}

test("a recovered overflow is a second request of the turn", {
  case: "PL-D-02",
}, async () => {
  const attempts: number[][] = [];
  const { agent, sink } = recovering([
    text("one"),
    fail(new ContextOverflowError("too long")),
    text("two"),
  ], [{
    aroundModel(request, next) {
      attempts.push([request.turn, request.attempt]);
      return next();
    },
  }]);
  await agent.run("a");
  const result = await agent.run("b");
  assertEquals([
    result.output,
    result.usage.requestCount,
    result.usage.reportedRequestCount,
  ], [
    "two",
    2,
    1,
  ]);
  assertEquals(attempts, [[1, 1], [1, 1], [1, 2]]);
  assertEquals(sink.ofKind("compaction_completed").length, 1);
});

test(
  "what is added to a request is sent and not kept",
  { case: "PL-D-03" },
  async () => {
    const note = systemMessage("note");
    const { agent, model } = agentWith([text("hi")], {
      middleware: [{
        aroundModel: (request, next) =>
          next({
            ...request,
            context: {
              ...request.context,
              llmMessages: [...request.context.llmMessages, note],
            },
          }),
      }],
    });
    await agent.run("t");
    assertEquals(contentsOf(model.contexts[0]?.llmMessages ?? []), [
      "P",
      "t",
      "note",
    ]);
    assertEquals(contentsOf(agent.messages), ["P", "t", "hi"]);
  },
);

test(
  "what the layer returns is what is kept",
  { case: "PL-D-04" },
  async () => {
    const redacting: ModelMiddleware = {
      async *aroundModel(request, next) {
        const inner = next(request);
        for (;;) {
          const step = await inner.next();
          if (step.done) {
            return {
              ...step.value,
              message: assistantMessage("[redacted]"),
            };
          }
        }
      },
    };
    const { agent, sink } = agentWith([deltas(["sec", "ret"])], {
      middleware: [redacting],
    });
    const result = await agent.run("t");
    assertEquals(result.output, "[redacted]");
    assertEquals(
      JSON.stringify([agent.messages, sink.events]).includes("sec"),
      false,
    );
  },
);

const retrying: ModelMiddleware = {
  async *aroundModel(request, next) {
    try {
      return yield* next(request);
    } catch {
      return yield* next(request);
    }
  },
};

test("each request of a retry counts", { case: "PL-D-06" }, async () => {
  const usage = { inputTokens: 3, outputTokens: 2 };
  const { agent } = agentWith(
    [fail(new Error("flaky")), text("hi", { usage })],
    {
      middleware: [retrying],
    },
  );
  const result = await agent.run("t");
  assertEquals([
    result.output,
    result.usage.requestCount,
    result.usage.reportedRequestCount,
    result.usage.complete,
  ], ["hi", 2, 1, false]);
});

test("an answer without next counts no request", async () => {
  const { agent, model } = agentWith([], {
    middleware: [{
      async *aroundModel() {
        yield { kind: "text_delta", delta: "cached" };
        return { kind: "completed", message: assistantMessage("cached") };
      },
    }],
  });
  const result = await agent.run("t");
  assertEquals([
    result.output,
    result.usage.requestCount,
    model.requests.length,
  ], ["cached", 0, 0]);
});

test(
  "nothing is asked again once a part was shown",
  { case: "PL-D-08" },
  async () => {
    const { agent } = agentWith([
      deltas(["par"], fail(new Error("cut"))),
      text("hi"),
    ], {
      middleware: [retrying],
    });
    const result = await agent.run("t");
    assertEquals(result.status, "failed");
    assertStringIncludes(result.error ?? "", "next()");
    assert(result.failure?.cause instanceof AgentPipelineError);
  },
);

test(
  "a layer that holds deltas back may ask again",
  { case: "PL-D-08" },
  async () => {
    const buffering: ModelMiddleware = {
      async *aroundModel(request, next) {
        for (let attempt = 1;; attempt++) {
          const held: ModelDelta[] = [];
          const inner = next(request);
          try {
            for (;;) {
              const step = await inner.next();
              if (!step.done) held.push(step.value);
              else {
                yield* held;
                return step.value;
              }
            }
          } catch (error) {
            if (attempt === 2) throw error;
          }
        }
      },
    };
    const { agent, sink } = agentWith(
      [deltas(["lost"], fail(new Error("cut"))), deltas(["ke", "pt"])],
      { middleware: [buffering] },
    );
    assertEquals((await agent.run("t")).output, "kept");
    assertEquals(
      sink.ofKind("assistant_text_delta").map((event) => event.delta),
      ["ke", "pt"],
    );
  },
);

test(
  "only an overflow that is thrown as one is recovered",
  { case: "PL-D-09" },
  async () => {
    const passing = (wrap: boolean): ModelMiddleware => ({
      async *aroundModel(request, next) {
        try {
          return yield* next(request);
        } catch (error) {
          throw wrap ? new Error("wrapped", { cause: error }) : error;
        }
      },
    });
    const run = async (wrap: boolean) => {
      const { agent } = recovering(
        [text("one"), fail(new ContextOverflowError("too long")), text("two")],
        [passing(wrap)],
      );
      await agent.run("a");
      return await agent.run("b");
    };
    assertEquals((await run(false)).output, "two");
    assertEquals((await run(true)).stopReason, "runtime_error");
  },
);

test("a layer that is no generator is told how to become one", async () => {
  const late = {
    // deno-lint-ignore require-await -- the mistake
    async aroundModel(_request: ModelRequest, next: ModelNext) {
      return next();
    },
  } as unknown as Middleware;
  for (const middleware of [[late], [{ aroundModel: passOn }, late]]) {
    const { agent } = agentWith([], { middleware });
    assertEquals(
      (await agent.run("t")).error,
      "What async *aroundModel() returns must have a function next()",
    );
  }
});

async function* passOn(_request: ModelRequest, next: ModelNext) {
  return yield* next();
}

test("a delta that says nothing is dropped", { case: "PL-D-10" }, async () => {
  const { agent, sink } = agentWith([deltas(["a"])], {
    middleware: [{
      async *aroundModel(request, next) {
        yield { kind: "text_delta", delta: "" };
        return yield* next(request);
      },
    }],
  });
  assertEquals((await agent.run("t")).status, "completed");
  assertEquals(sink.ofKind("assistant_text_delta").length, 1);
});

test(
  "hiding a tool from the model does not take it away",
  { case: "PL-D-11" },
  async () => {
    const { agent, model } = agentWith([calls(["echo"]), text("fin")], {
      tools: [echo],
      middleware: [{
        aroundModel: (request, next) =>
          next({
            ...request,
            context: { ...request.context, tools: [], toolDefinitions: [] },
          }),
      }],
    });
    assertEquals((await agent.run("t")).output, "fin");
    assertEquals(model.contexts[0]?.tools, []);
    assertEquals(agent.messages.at(-2)?.content, '{"e":{}}');
  },
);
