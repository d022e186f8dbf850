import {
  AgentRunError,
  type AgentRunResult,
  BaseHandler,
  ModelAuthenticationError,
  ModelRateLimitError,
  resultToWire,
  runFailure,
  runResult,
  throwIfNotCompleted,
} from "../../mod.ts";
import {
  calls,
  countingIds,
  fail,
  ManualClock,
  text,
} from "../../src/testing/mod.ts";
import {
  assert,
  assertEquals,
  assertNotEquals,
  assertRejects,
  assertStrictEquals,
  assertStringIncludes,
  assertThrows,
} from "../support/assert.ts";
import { test } from "../support/suite.ts";
import {
  agentWith,
  can,
  contentsOf,
  done,
  echo,
  rej,
  shapeOf,
} from "./fixtures.ts";

test(
  "a plain run has five events and a complete result",
  { case: "X-024" },
  async () => {
    const { agent, sink } = agentWith([text("done")]);
    const result = await agent.run("complete");
    assertEquals(sink.trace(), "AS TS1 MC TC1 AF(completed/text_response)");
    assertEquals(sink.events.map((event) => event.sequence), [1, 2, 3, 4, 5]);
    assertEquals(
      new Set(sink.events.map((event) => event.runId)),
      new Set([result.runId]),
    );
    assertEquals(sink.ofKind("agent_started")[0]?.task, "complete");
    const { output, turns, error, usage, status, stopReason, failure } = result;
    assertEquals({ output, turns, error, status, stopReason, failure }, {
      output: "done",
      turns: 1,
      error: null,
      status: "completed",
      stopReason: "text_response",
      failure: null,
    });
    assertEquals([
      usage.requestCount,
      usage.reportedRequestCount,
      usage.complete,
    ], [1, 0, false]);
  },
);

test("objects in events are shared and frozen", { case: "X-025" }, async () => {
  const { agent, sink, model } = agentWith([text("done")]);
  const result = await agent.run("complete");
  const completed = sink.ofKind("message_completed")[0];
  assert(completed !== undefined);
  assertStrictEquals(sink.ofKind("agent_finished")[0]?.result, result);
  assertStrictEquals(agent.state.lastRunResult, result);
  assert(Object.isFrozen(completed) && Object.isFrozen(completed.message));
  assert(Object.isFrozen(result) && Object.isFrozen(result.usage));
  assertThrows(() => {
    (result as { output: string }).output = "other";
  }, TypeError);
  assertEquals(model.requests.length, 1);
});

test("every run has its own id and sequence", { case: "X-026" }, async () => {
  const { agent, sink } = agentWith([text("1"), text("2")]);
  const [first, second] = [await agent.run("one"), await agent.run("two")];
  assertNotEquals(first.runId, second.runId);
  assertEquals(sink.events.map((event) => event.sequence), [
    1,
    2,
    3,
    4,
    5,
    1,
    2,
    3,
    4,
    5,
  ]);
});

test("the second run sees the first", { case: "X-027" }, async () => {
  const { agent, model } = agentWith([text("one"), text("two")]);
  await agent.run("first task");
  await agent.run("second task");
  assertEquals(contentsOf(model.contexts[1]?.llmMessages ?? []), [
    "P",
    "first task",
    "one",
    "second task",
  ]);
});

test(
  "runText returns the text or throws the result",
  { case: "X-028" },
  async () => {
    const { agent } = agentWith([text("hello"), text(null), calls(["rej"])], {
      tools: [rej],
    });
    assertEquals(await agent.runText("one"), "hello");
    const empty = await assertRejects(
      () => agent.runText("two"),
      AgentRunError,
    );
    assertEquals(empty.result.stopReason, "empty_response");
    assertEquals(empty.message, empty.result.error);
    const rejected = await assertRejects(
      () => agent.runText("three"),
      AgentRunError,
    );
    assertEquals(rejected.result.status, "rejected");
  },
);

test("the state after a run follows its end", { case: "X-029" }, async () => {
  const { agent } = agentWith([text("done"), text(null), calls(["rej"])], {
    tools: [rej],
  });
  const view = () => {
    const { status, result, error, task } = agent.state;
    return { status, result, error, task };
  };
  await agent.run("one");
  assertEquals(view(), {
    status: "completed",
    result: "done",
    error: null,
    task: "one",
  });
  const failed = await agent.run("two");
  assertEquals(view(), {
    status: "failed",
    result: null,
    error: failed.error,
    task: "two",
  });
  await agent.run("three");
  assertEquals(view(), {
    status: "rejected",
    result: '{"d":{}}',
    error: null,
    task: "three",
  });
});

test("a cancelled run leaves its reason in the last result only", {
  case: "X-029",
}, async () => {
  const { agent } = agentWith([text("never")], {
    onEvent: (event) => {
      if (event.kind === "turn_started") agent.abort("enough");
    },
  });
  await agent.run("go");
  assertEquals([agent.state.status, agent.state.result, agent.state.error], [
    "cancelled",
    null,
    null,
  ]);
  assertEquals(agent.state.lastRunResult?.error, "enough");
});

test("the state flips before the last event", { case: "X-030" }, async () => {
  const seen: unknown[] = [];
  const { agent } = agentWith([calls(["done"])], {
    tools: [done],
    onEvent: (event) => {
      if (event.kind === "message_completed") agent.steer("too late");
      if (
        event.kind === "steering_discarded" || event.kind === "agent_finished"
      ) {
        seen.push([
          event.kind,
          agent.state.status,
          agent.state.lastRunResult !== null,
        ]);
      }
    },
  });
  await agent.run("go");
  assertEquals(seen, [
    ["steering_discarded", "running", false],
    ["agent_finished", "completed", true],
  ]);
});

test(
  "a model that fails at once closes the turn",
  { case: "X-031" },
  async () => {
    const { agent, sink } = agentWith([
      fail(new Error("provider unavailable")),
    ]);
    const result = await agent.run("go");
    assertEquals(sink.trace(), "AS TS1 TC1 AF(failed/runtime_error)");
    assertStringIncludes(result.error ?? "", "provider unavailable");
    assertEquals([shapeOf(agent.messages), result.failure?.phase], [
      "u",
      "model",
    ]);
  },
);

test("a handler that cannot prepare fails the run before its first turn", {
  case: "X-032",
}, async () => {
  class Stubborn extends BaseHandler {
    readonly tools = [{ name: "x" }];
    override onTaskStart(): void {
      throw new Error("ots");
    }
    dispatch(): never {
      throw new Error("never called");
    }
  }
  const { agent, sink, model } = agentWith([], { tools: [new Stubborn()] });
  const result = await agent.run("go");
  assertEquals(sink.trace(), "AS AF(failed/runtime_error)");
  assertEquals([result.turns, shapeOf(agent.messages), model.requests.length], [
    0,
    "u",
    0,
  ]);
  assertStringIncludes(result.error ?? "", "ots");
  assertEquals(result.failure?.phase, "prepare");
});

test(
  "an answer without text is an empty response",
  { case: "X-033" },
  async () => {
    const { agent, sink } = agentWith([text(null)]);
    const result = await agent.run("go");
    assertEquals([result.stopReason, result.turns], ["empty_response", 1]);
    assertEquals(sink.trace(), "AS TS1 MC TC1 AF(failed/empty_response)");
    assert(agent.canContinue);
  },
);

test(
  "white space alone is no answer, but is kept",
  { case: "X-034" },
  async () => {
    const { agent } = agentWith([text("  \n")]);
    const result = await agent.run("go");
    assertEquals([result.status, result.stopReason], [
      "failed",
      "empty_response",
    ]);
    assertEquals(agent.messages.at(-1)?.content, "  \n");
  },
);

test("an error text is never empty", { case: "X-036" }, async () => {
  for (
    const [thrown, expected] of [[new Error(""), "Error"], ["bad", "bad"], [
      undefined,
      "undefined",
    ]]
  ) {
    const { agent } = agentWith([fail(thrown)]);
    assertEquals((await agent.run("go")).error, expected as string);
  }
});

test(
  "failures say where, what and whether to try again",
  { case: "X-037" },
  async () => {
    const failureOf = async (error: unknown) => {
      const { agent } = agentWith([fail(error)]);
      const result = await agent.run("go");
      assertEquals(result.stopReason, "runtime_error");
      const { phase, code, retryable } = result.failure ?? {};
      return { phase, code, retryable };
    };
    assertEquals(await failureOf(new ModelRateLimitError("slow down")), {
      phase: "model",
      code: "rate_limit",
      retryable: true,
    });
    assertEquals(await failureOf(new ModelAuthenticationError("who are you")), {
      phase: "model",
      code: "authentication",
      retryable: false,
    });
    assertEquals(await failureOf(new TypeError("oops")), {
      phase: "model",
      code: "provider_error",
      retryable: false,
    });
  },
);

test("the cause of a failure is at hand but never written", () => {
  const cause = new Error("secret");
  const failure = runFailure({
    phase: "model",
    code: "provider_error",
    message: "no",
    retryable: false,
    cause,
  });
  assertStrictEquals(failure.cause, cause);
  assertEquals(JSON.stringify(failure).includes("secret"), false);
});

test(
  "the turns of a run are limited",
  { case: ["X-038", "X-037"] },
  async () => {
    const { agent, sink } = agentWith([
      calls([{ name: "echo", arguments: { a: 1 } }]),
      calls([{ name: "echo", arguments: { a: 2 } }]),
    ], { tools: [echo], policy: { maxSteps: 2 } });
    const result = await agent.run("go");
    assertEquals(
      sink.trace(),
      "AS TS1 MC tS(c1) tC(c1) TC1 TS2 MC tS(c1) tC(c1) TC2 AF(failed/max_steps)",
    );
    assertEquals([result.turns, result.failure?.code], [2, "limit_exceeded"]);
    assertStringIncludes(result.error ?? "", '"a"');
    assertStringIncludes(result.error ?? "", "2");
    assertEquals(shapeOf(agent.messages), "u a+ t(c1) a+ t(c1)");
    assert(agent.canContinue);
  },
);

test(
  "results are written with the words of the journal",
  { case: "X-040" },
  async () => {
    const { agent } = agentWith([text("done"), fail(new Error("gone"))]);
    const completed = resultToWire(await agent.run("one"));
    assertEquals(completed, {
      status: "completed",
      stop_reason: "text_response",
      turns: 1,
      output: "done",
      error: null,
      usage: {
        input_tokens: 0,
        output_tokens: 0,
        total_tokens: 0,
        cache_read_tokens: null,
        cache_write_tokens: null,
        reasoning_tokens: null,
        request_count: 1,
        reported_request_count: 0,
      },
    });
    const failed = resultToWire(await agent.run("two"));
    assertEquals([failed.status, failed.stop_reason, failed.error], [
      "failed",
      "runtime_error",
      "gone",
    ]);
    assertEquals(failed.failure?.code, "provider_error");
  },
);

test(
  "a blank task is refused and nothing happens",
  { case: "X-019" },
  async () => {
    const { agent, sink, model } = agentWith([text("ok")]);
    for (
      const task of ["", "  \n", [], [{ type: "text", text: " " } as const]]
    ) {
      await assertRejects(() => agent.run(task), RangeError, "task");
    }
    await assertRejects(
      () => agent.run(5 as unknown as string),
      TypeError,
      "task",
    );
    assertThrows(() => agent.stream(""), RangeError);
    assertEquals([sink.events.length, agent.messages.length], [0, 1]);
    await agent.run(" x ");
    assertEquals(model.contexts[0]?.llmMessages.at(-1), {
      role: "user",
      content: " x ",
    });
  },
);

test("a task of parts is sent as parts and told as text", async () => {
  const { agent, sink, model } = agentWith([text("a cat")]);
  const image = {
    type: "image_url",
    image_url: { url: "data:image/png;base64,AA==" },
  } as const;
  await agent.run([{ type: "text", text: "What is this?" }, image]);
  assertEquals(model.contexts[0]?.llmMessages.at(-1)?.content, [
    { type: "text", text: "What is this?" },
    image,
  ]);
  const started = sink.ofKind("agent_started")[0];
  assertEquals([started?.task, started?.content?.length], ["What is this?", 2]);
  assertEquals(agent.state.task, "What is this?");
});

test("history cannot be changed from outside", { case: "X-018" }, async () => {
  const { agent, model } = agentWith([text("one"), text("two")]);
  await agent.run("go");
  const before = structuredClone(agent.messages);
  const loose = agent.messages as unknown as {
    role: string;
    content: string;
  }[];
  assertThrows(
    () => loose.push({ role: "user", content: "injected" }),
    TypeError,
  );
  assertThrows(() => {
    loose[1]!.content = "changed";
  }, TypeError);
  assertEquals(agent.messages, before);
  await agent.run("again");
  assertEquals(contentsOf(model.contexts[1]?.llmMessages ?? []), [
    "P",
    "go",
    "one",
    "again",
  ]);
});

test("a snapshot of the state is detached from it", async () => {
  const { agent } = agentWith([text("one"), text("two")]);
  await agent.run("first");
  const snapshot = agent.state.snapshot();
  await agent.run("second");
  assertEquals([snapshot.task, snapshot.messages.length], ["first", 3]);
  assertEquals([agent.state.task, agent.state.messages.length], ["second", 5]);
});

test("reset starts over", async () => {
  const { agent, model } = agentWith([text("one"), text("two")]);
  await agent.run("first");
  agent.reset();
  const { status, task, result, lastRunResult } = agent.state;
  assertEquals([status, task, result, lastRunResult], [
    "idle",
    null,
    null,
    null,
  ]);
  await agent.run("second");
  assertEquals(contentsOf(model.contexts[1]?.llmMessages ?? []), [
    "P",
    "second",
  ]);
});

test(
  "a tool ends the run in three ways",
  { case: ["X-047", "TL-30"] },
  async () => {
    const ends: [string, Partial<AgentRunResult>][] = [
      ["done", {
        status: "completed",
        stopReason: "tool_completion",
        error: null,
      }],
      ["rej", {
        status: "rejected",
        stopReason: "tool_rejected",
        error: "a tool call was rejected",
      }],
      ["can", {
        status: "cancelled",
        stopReason: "tool_cancelled",
        error: "a tool call was cancelled",
      }],
    ];
    for (const [name, expected] of ends) {
      const { agent, sink } = agentWith([calls([name])], {
        tools: [done, rej, can],
      });
      const { status, stopReason, error, output } = await agent.run("go");
      assertEquals({ status, stopReason, error }, expected);
      assertEquals(output, '{"d":{}}');
      const control = { done: "complete", rej: "reject", can: "cancel" }[name];
      assertEquals(
        sink.ofKind("tool_completed")[0]?.result.control,
        control as "complete",
      );
    }
  },
);

test("ids and time come from the ports", { case: "X-195" }, async () => {
  const clock = new ManualClock(1000);
  const { agent, sink } = agentWith([text("hi")], {
    clock,
    ids: countingIds(),
  });
  const result = await agent.run("go");
  assertEquals(result.runId, "id-1");
  assertEquals(
    sink.events.map((event) => [event.runId, event.timeMs]),
    Array(5).fill(["id-1", 1000]),
  );
  assertEquals(agent.steer("x").control.inputId, "id-2");
});

test("a result made by hand is checked and complete", () => {
  const result = runResult({ stopReason: "max_steps", error: "too long" });
  assertEquals([result.status, result.succeeded, result.runId], [
    "failed",
    false,
    null,
  ]);
  assertThrows(
    () => runResult({ stopReason: "because" as "max_steps" }),
    TypeError,
    "stopReason",
  );
  assertThrows(() => throwIfNotCompleted(result), AgentRunError, "too long");
});
