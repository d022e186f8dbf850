import {
  modelUsage,
  runUsage,
  TOOL_COMPLETION_RETRY_PROMPT,
  usageToWire,
} from "../../mod.ts";
import { calls, text } from "../../src/testing/mod.ts";
import {
  assert,
  assertEquals,
  assertStringIncludes,
  assertThrows,
} from "../support/assert.ts";
import { test } from "../support/suite.ts";
import { agentWith, done, echo, shapeOf } from "./fixtures.ts";

const explicit = { requireExplicitFinish: true };

test(
  "a plain answer is corrected when a tool must finish",
  { case: "X-065" },
  async () => {
    const { agent, model } = agentWith([text("premature"), calls(["done"])], {
      tools: [done],
      policy: explicit,
    });
    const result = await agent.run("go");
    assertEquals([result.stopReason, result.turns], ["tool_completion", 2]);
    assertEquals(model.contexts[1]?.llmMessages.at(-1), {
      role: "system",
      content: TOOL_COMPLETION_RETRY_PROMPT,
    });
    const stored = agent.messages.some((entry) =>
      entry.content === TOOL_COMPLETION_RETRY_PROMPT
    );
    assertEquals(stored, false);
  },
);

test("answers without a call are limited", { case: "X-066" }, async () => {
  const { agent, model } = agentWith([text("a"), text("b"), text("c")], {
    tools: [done],
    policy: { ...explicit, maxNoToolResponses: 3, maxSteps: 5 },
  });
  const result = await agent.run("go");
  assertEquals([result.stopReason, result.turns], ["max_no_tool_responses", 3]);
  const prompts = model.contexts.slice(1).map((context) =>
    String(context.llmMessages.at(-1)?.content)
  );
  assert(prompts[0] !== prompts[1]);
  assertStringIncludes(prompts[1] ?? "", "retry 2 of 3");
});

test("an empty answer counts like a plain one", { case: "X-067" }, async () => {
  const { agent } = agentWith([text("not finished"), text(null)], {
    tools: [done],
    policy: { ...explicit, maxSteps: 2 },
  });
  assertEquals((await agent.run("go")).stopReason, "max_steps");
  assertEquals(agent.state.noToolResponseCount, 2);
});

test("a call starts the count over", { case: "X-068" }, async () => {
  const { agent, model } = agentWith(
    [text("t"), calls(["echo"]), text("t"), calls(["done"])],
    { tools: [echo, done], policy: { ...explicit, maxNoToolResponses: 2 } },
  );
  assertEquals((await agent.run("go")).status, "completed");
  assertEquals(
    model.contexts[3]?.llmMessages.at(-1)?.content,
    TOOL_COMPLETION_RETRY_PROMPT,
  );
});

test("steps are judged before the budget", { case: "X-039" }, async () => {
  const usage = { inputTokens: 10, outputTokens: 10 };
  const { agent } = agentWith([calls(["echo"], { usage })], {
    tools: [echo],
    policy: { maxSteps: 1, maxRunTokens: 5 },
  });
  assertEquals((await agent.run("go")).stopReason, "max_steps");
});

test(
  "usage is added up and kept beside the answers",
  { case: "X-155" },
  async () => {
    const { agent, model } = agentWith([
      calls(["echo"], {
        usage: {
          inputTokens: 100,
          outputTokens: 20,
          cacheReadTokens: 30,
          reasoningTokens: 5,
        },
      }),
      text("fin", {
        usage: { inputTokens: 150, outputTokens: 30, cacheReadTokens: 40 },
      }),
    ], { tools: [echo] });
    const { usage } = await agent.run("go");
    assertEquals(usage, {
      inputTokens: 250,
      outputTokens: 50,
      totalTokens: 300,
      cacheReadTokens: 70,
      cacheWriteTokens: null,
      reasoningTokens: null,
      requestCount: 2,
      reportedRequestCount: 2,
      missingRequestCount: 0,
      complete: true,
    });
    const answer = agent.messages.find((message) =>
      message.role === "assistant"
    );
    assertEquals(
      (answer as { usage?: { total_tokens: number } }).usage?.total_tokens,
      120,
    );
    assertEquals(
      model.contexts[1]?.llmMessages.some((message) => "usage" in message),
      false,
    );
  },
);

test(
  "an optional count is unknown once a report lacks it",
  { case: "X-156" },
  async () => {
    const base = { inputTokens: 10, outputTokens: 5 };
    const { agent } = agentWith([
      calls(["echo"], {
        usage: { ...base, cacheReadTokens: 1, reasoningTokens: 2 },
      }),
      calls([{ name: "echo", arguments: { k: 1 } }]),
      text("fin", { usage: { ...base, cacheReadTokens: 2 } }),
    ], { tools: [echo] });
    const { usage } = await agent.run("go");
    assertEquals(
      [
        usage.cacheReadTokens,
        usage.reasoningTokens,
        usage.requestCount,
        usage.reportedRequestCount,
      ],
      [3, null, 3, 2],
    );
    assertEquals(usage.totalTokens, 30);
  },
);

test(
  "a spent budget stops before the next turn",
  { case: "X-157" },
  async () => {
    const usage = { inputTokens: 80, outputTokens: 20 };
    const { agent, sink, model } = agentWith([
      calls(["echo"], { usage }),
      text("never"),
    ], {
      tools: [echo],
      policy: { maxRunTokens: 100 },
    });
    const result = await agent.run("go");
    assertEquals([result.stopReason, result.turns, model.requests.length], [
      "token_budget_exceeded",
      1,
      1,
    ]);
    assertEquals(shapeOf(agent.messages), "u a+ t(c1)");
    assertEquals(sink.ofKind("turn_started").length, 1);
  },
);

test("a final answer may exceed the budget", { case: "X-158" }, async () => {
  const { agent } = agentWith(
    [text("fin", { usage: { inputTokens: 100, outputTokens: 50 } })],
    { policy: { maxRunTokens: 100 } },
  );
  const result = await agent.run("go");
  assertEquals([result.status, result.usage.totalTokens], ["completed", 150]);
});

test("a budget cannot be kept without reports", { case: "X-159" }, async () => {
  const script = () => [calls(["echo"]), text("fin")];
  const strict = agentWith(script(), {
    tools: [echo],
    policy: { maxRunTokens: 100 },
  });
  const result = await strict.agent.run("go");
  assertEquals([result.stopReason, strict.model.requests.length], [
    "usage_unavailable",
    1,
  ]);
  assertStringIncludes(String(result.error), "maxRunTokens");
  const free = agentWith(script(), { tools: [echo] });
  assertEquals((await free.agent.run("go")).usage.complete, false);
});

test("counts that contradict each other are refused", { case: "X-161" }, () => {
  const base = { inputTokens: 10, outputTokens: 5 };
  const wrong = [
    { ...base, totalTokens: 16 },
    { ...base, reasoningTokens: 6 },
    { ...base, cacheReadTokens: 11 },
    { ...base, cacheWriteTokens: 11 },
    { inputTokens: -1, outputTokens: 0 },
    { inputTokens: 0.5, outputTokens: 0 },
  ];
  for (const input of wrong) assertThrows(() => modelUsage(input), RangeError);
  assertThrows(
    () => runUsage({ ...base, requestCount: 1, reportedRequestCount: 2 }),
    RangeError,
    "reportedRequestCount",
  );
  assertEquals(
    usageToWire(modelUsage({ ...base, cacheReadTokens: 0 })).cache_read_tokens,
    0,
  );
});

test("every run counts for itself", { case: "X-162" }, async () => {
  const { agent } = agentWith([
    text("1", { usage: { inputTokens: 10, outputTokens: 5 } }),
    text("2", { usage: { inputTokens: 20, outputTokens: 5 } }),
  ]);
  const totals = [];
  for (const task of ["one", "two"]) {
    const { usage } = await agent.run(task);
    totals.push([usage.totalTokens, usage.requestCount]);
  }
  assertEquals(totals, [[15, 1], [25, 1]]);
});

test("the third identical call in a row ends the run", {
  case: ["X-052", "TL-52"],
}, async () => {
  const same = () => calls([{ name: "echo", arguments: { text: "same" } }]);
  const { agent, sink } = agentWith([same(), same(), same()], {
    tools: [echo],
  });
  const result = await agent.run("go");
  assertEquals([result.stopReason, result.turns], ["repeated_tool_call", 3]);
  assertEquals(
    result.error,
    'tool "echo" was requested 3 times in a row with identical arguments',
  );
  const errors = sink.ofKind("tool_completed").map((event) =>
    event.result.error !== null
  );
  assertEquals(errors, [false, false, true]);
  assertEquals(shapeOf(agent.messages), "u a+ t(c1) a+ t(c1) a+ t(c1)");
});

test("what resets the count of repetitions and what does not", {
  case: ["X-053", "TL-53", "TL-54", "TL-57"],
}, async () => {
  const call = (args: string) => calls([{ name: "echo", arguments: args }]);
  const reasonOf = async (script: ReturnType<typeof call>[], policy = {}) => {
    const { agent } = agentWith([...script, calls(["done"])], {
      tools: [echo, done],
      policy,
    });
    return (await agent.run("go")).stopReason;
  };
  const [e1, e2] = [call('{"a":1}'), call('{"a":2}')];
  assertEquals(await reasonOf([e1, e1, e2, e1, e1]), "tool_completion");
  const ordered = call('{"a":1,"b":{"c":2,"d":3}}');
  const shuffled = call('{ "b": {"d":3,"c":2}, "a": 1 }');
  assertEquals(
    await reasonOf([ordered, shuffled, ordered]),
    "repeated_tool_call",
  );
  const [forward, backward] = [call('{"k":[1,2]}'), call('{"k":[2,1]}')];
  assertEquals(
    await reasonOf([forward, backward, forward, backward]),
    "tool_completion",
  );
  assertEquals(
    await reasonOf([call("{bad"), call("{bad"), call("{bad")]),
    "repeated_tool_call",
  );
  const plain = text("t") as ReturnType<typeof call>;
  assertEquals(
    await reasonOf([e1, plain, e1, plain, e1], explicit),
    "repeated_tool_call",
  );
  const { agent } = agentWith([e1, e1, text("1"), e1, e1, text("2")], {
    tools: [echo],
  });
  assertEquals([(await agent.run("a")).output, (await agent.run("b")).output], [
    "1",
    "2",
  ]);
});
