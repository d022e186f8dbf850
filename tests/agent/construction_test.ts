import {
  Agent,
  AgentConfigurationError,
  type AgentOptions,
  createRuntimePolicy,
  EXPLICIT_FINISH_PROTOCOL_PROMPT,
  systemMessage,
  TOOL_PROTOCOL_PROMPT,
  ToolDefinitionError,
} from "../../mod.ts";
import { ScriptedModel, text } from "../../src/testing/mod.ts";
import {
  assertEquals,
  assertRejects,
  assertStringIncludes,
  assertThrows,
} from "../support/assert.ts";
import { test } from "../support/suite.ts";
import { agentWith, done, echo } from "./fixtures.ts";

test("the agent id is trimmed, fixed and stamped on every event", {
  case: "X-001",
}, async () => {
  const { agent, sink } = agentWith([text("hi")], { agentId: "  assistant  " });
  assertEquals(agent.agentId, "assistant");
  assertThrows(() => {
    (agent as { agentId: string }).agentId = "other";
  }, TypeError);
  await agent.run("go");
  assertEquals(
    new Set(sink.events.map((event) => event.agentId)),
    new Set(["assistant"]),
  );
});

test("a blank agent id is refused before anything is touched", {
  case: "X-002",
}, () => {
  const model = new ScriptedModel([]);
  for (const agentId of ["", "   "]) {
    assertThrows(() => new Agent({ agentId, model }), RangeError, "agentId");
  }
  for (const agentId of [undefined, 7]) {
    assertThrows(
      () => new Agent({ agentId: agentId as unknown as string, model }),
      TypeError,
      "agentId",
    );
  }
  assertEquals([model.startupCount, model.requests.length], [0, 0]);
});

test("a model must be able to complete", () => {
  assertThrows(
    () => new Agent({ agentId: "a", model: {} as ScriptedModel }),
    TypeError,
    "A model, such as a ChatModelAdapter, must have a function complete()",
  );
});

test("what stands behind an option is checked when the agent is made", () => {
  const wrong: [option: string, values: unknown[], message: string][] = [
    ["name", [7, {}], "name must be a string"],
    ["description", [7], "description must be a string"],
    ["systemPrompt", [7, []], "systemPrompt must be a string"],
    ["continuePrompt", [true], "continuePrompt must be a string"],
    ["tools", [{}, "echo"], "tools must be a list"],
    ["tools", [[null], [{}]], "Every tool must be made by defineTool"],
    ["middleware", [{}, 7], "middleware must be a list"],
    ["behaviorHooks", [{}], "behaviorHooks must be a list"],
    ["behaviorHooks", [[null]], "A behavior hook must have a function"],
    ["contextProviders", [{}, "x"], "contextProviders must be a list"],
    ["skills", [7, {}], "skills must have a function discover()"],
    ["history", [{ sourceId: "x" }], "history must have a function load()"],
    ["contextBuilder", [{}], "contextBuilder must have a function build()"],
    ["compactionPolicy", [{}, 7], "compactionPolicy must have a function"],
    ["autoCompactionPolicy", [7, "on"], "autoCompactionPolicy must be an"],
    ["compactor", ["x", () => {}], "compactor must have a function compact()"],
    ["contextTokenEstimator", [{}], "contextTokenEstimator must have a"],
    ["runtimePolicy", [7, []], "runtimePolicy must be an object"],
    ["eventSink", [() => {}], "eventSink must have a function emit()"],
    ["logger", [() => {}], "logger must have a function warn()"],
    ["clock", [{ now: () => 0 }], "clock must have a function setTimer()"],
    ["ids", [() => "id"], "ids must have a function next()"],
  ];
  const model = new ScriptedModel([]);
  for (const [option, values, message] of wrong) {
    for (const value of values) {
      assertThrows(
        () => new Agent({ agentId: "a", model, [option]: value }),
        TypeError,
        message,
      );
    }
  }
  for (const nothing of [undefined, null]) {
    const options = wrong.map(([option]) => [option, nothing]);
    new Agent({ agentId: "a", model, ...Object.fromEntries(options) });
  }
});

test("an agent cannot be made of nothing", () => {
  for (const options of [undefined, null, "a", []]) {
    assertThrows(
      () => new Agent(options as unknown as AgentOptions),
      TypeError,
      "The options of an agent must be an object",
    );
  }
});

test(
  "queue capacities and the failure policy are checked",
  { case: "X-003" },
  () => {
    for (const name of ["steeringQueueCapacity", "followUpQueueCapacity"]) {
      const build = (value: unknown) => agentWith([], { [name]: value });
      for (const wrong of [true, "3", 1.5]) {
        assertThrows(
          () => build(wrong),
          TypeError,
          name,
        );
      }
      for (const low of [0, -1]) {
        assertThrows(
          () => build(low),
          RangeError,
          name,
        );
      }
      build(1);
      build(undefined);
    }
    assertThrows(
      () => agentWith([], { followUpFailurePolicy: "retry" as "discard" }),
      TypeError,
      "followUpFailurePolicy",
    );
  },
);

test("limits are checked when the policy is made", { case: "X-004" }, () => {
  const wrongTypes = [
    { maxSteps: 2.5 },
    { maxSteps: true },
    { parallelToolCalls: "yes" },
    { maxParallelToolCalls: true },
    { requireExplicitFinish: 1 },
    { abortGraceMs: "20" },
  ];
  const tooLow = [
    { maxSteps: 0 },
    { maxNoToolResponses: 0 },
    { maxRunTokens: 0 },
    { maxRepeatedToolCalls: 1 },
    { maxParallelToolCalls: 0 },
    { abortGraceMs: -1 },
  ];
  for (const policy of wrongTypes) {
    assertThrows(
      () => createRuntimePolicy(policy as object),
      TypeError,
      Object.keys(policy)[0],
    );
  }
  for (const policy of tooLow) {
    assertThrows(
      () => createRuntimePolicy(policy),
      RangeError,
      Object.keys(policy)[0],
    );
  }
  const policy = createRuntimePolicy({
    maxRunTokens: null,
    maxRepeatedToolCalls: Infinity,
  });
  assertEquals([policy.maxRunTokens, policy.maxRepeatedToolCalls], [
    null,
    Infinity,
  ]);
  assertEquals(policy.maxSteps, 20);
});

test("the history begins with the system messages", { case: "X-006" }, () => {
  const { agent } = agentWith([]);
  assertEquals(agent.messages, [systemMessage("P")]);
  assertEquals(agentWith([], { tools: [echo] }).agent.messages, [
    systemMessage("P"),
    systemMessage(TOOL_PROTOCOL_PROMPT),
  ]);
  const explicit = agentWith([], {
    tools: [done],
    policy: { requireExplicitFinish: true },
  });
  assertEquals(
    explicit.agent.messages[2],
    systemMessage(EXPLICIT_FINISH_PROTOCOL_PROMPT),
  );
  agent.reset([{ role: "user", content: "seed" }]);
  assertEquals(agent.messages, [systemMessage("P"), {
    role: "user",
    content: "seed",
  }]);
  assertEquals(agentWith([], { systemPrompt: "" }).agent.messages, []);
});

test(
  "agents made from the same options share nothing",
  { case: "X-022" },
  async () => {
    const tools = [echo];
    const one = agentWith([text("1")], { tools });
    const two = agentWith([text("2")], { tools });
    await Promise.all([
      one.agent.run("first task"),
      two.agent.run("second task"),
    ]);
    assertEquals(
      one.agent.messages.some((message) => message.content === "second task"),
      false,
    );
    assertEquals(
      two.agent.messages.some((message) => message.content === "first task"),
      false,
    );
  },
);

test(
  "an agent that must finish through a tool needs one",
  { case: "X-023" },
  async () => {
    const { agent, model } = agentWith([], {
      policy: { requireExplicitFinish: true },
    });
    await assertRejects(
      () => agent.startup(),
      AgentConfigurationError,
      "requireExplicitFinish",
    );
    assertEquals([
      model.requests.length,
      model.startupCount,
      model.shutdownCount,
    ], [0, 1, 1]);
  },
);

test("two tools of one list must not share a name", { case: "TL-18" }, () => {
  assertThrows(
    () => agentWith([], { tools: [echo, echo] }),
    ToolDefinitionError,
    "echo",
  );
  const { agent } = agentWith([], { tools: [echo, done] });
  assertEquals(agent.tools.map((tool) => tool.function.name), ["echo", "done"]);
});

test("middleware that wraps nothing is refused and named by its remedy", () => {
  const error = assertThrows(
    () => agentWith([], { middleware: [{}] }),
    AgentConfigurationError,
  );
  assertStringIncludes(error.message, "aroundTool");
});

test("two providers must not share a source id", () => {
  assertThrows(
    () =>
      agentWith([], {
        contextProviders: [{ sourceId: "x" }, { sourceId: "x" }],
      }),
    AgentConfigurationError,
    '"x"',
  );
  assertThrows(
    () => agentWith([], { contextProviders: [{ sourceId: " " }] }),
    AgentConfigurationError,
    "sourceId",
  );
  assertThrows(
    () => agentWith([], { contextProviders: [null as never] }),
    AgentConfigurationError,
    "sourceId",
  );
});
