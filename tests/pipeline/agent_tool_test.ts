import {
  Agent,
  type AgentRunResult,
  agentTool,
  type AgentToolOptions,
  ToolDefinitionError,
  type ToolInput,
} from "../../mod.ts";
import {
  block,
  calls,
  deltas,
  fail,
  ScriptedModel,
  type ScriptStep,
  text,
} from "../../src/testing/mod.ts";
import { assertEquals, assertThrows } from "../support/assert.ts";
import { test } from "../support/suite.ts";
import {
  agentWith,
  contentsOf,
  echo,
  toolResultsOf,
} from "../agent/fixtures.ts";

const askChild = calls([{ name: "child", arguments: { task: "dig" } }]);

test("an agent as a tool has the agent's name and one argument", {
  case: "PL-F-01",
}, () => {
  const { agent } = child([], {
    name: "Research Desk 2",
    description: "Finds facts.",
  });
  assertEquals(agentTool(agent).toOpenAITool(), {
    type: "function",
    function: {
      name: "Research_Desk_2",
      description: "Finds facts.",
      parameters: {
        type: "object",
        properties: { task: { type: "string" } },
        required: ["task"],
        additionalProperties: false,
      },
    },
  });
});

test("name, description and argument of an agent tool can be chosen", () => {
  const { agent } = child([]);
  const tool = agentTool(agent, {
    name: "desk",
    description: "Asks the desk.",
    argument: "question",
    argumentDescription: "One sentence",
    effect: "read_only",
  });
  assertEquals(tool.definition.effect, "read_only");
  assertEquals(tool.toOpenAITool().function, {
    name: "desk",
    description: "Asks the desk.",
    parameters: {
      type: "object",
      properties: {
        question: { type: "string", description: "One sentence" },
      },
      required: ["question"],
      additionalProperties: false,
    },
  });
  const long = agentTool(child([], { name: "n".repeat(70) }).agent);
  assertEquals(long.definition.name, "n".repeat(64));
});

test("an agent that is made for each call needs a name", () => {
  assertThrows(
    () => agentTool(() => child([]).agent),
    ToolDefinitionError,
    "pass one as name",
  );
});

test("the answer of an agent is the result of the call", {
  case: "PL-F-02",
}, async () => {
  const { agent } = child([text("42")]);
  const parent = agentWith([askChild, text("done")], {
    tools: [agentTool(agent)],
  });
  await parent.agent.run("t");
  const answer = parent.agent.messages.find(({ role }) => role === "tool");
  assertEquals(answer?.content, "42");
});

test("a failed agent is an error that the calling model reads", {
  case: "PL-F-02",
}, async () => {
  const { agent } = child([fail(new Error("no books"))]);
  const parent = agentWith([askChild, text("done")], {
    tools: [agentTool(agent)],
  });
  assertEquals((await parent.agent.run("t")).output, "done");
  assertEquals(toolResultsOf(parent.agent.messages), [{
    status: "error",
    agent: "child",
    code: "runtime_error",
    error: "no books",
  }]);
});

test("a blank or missing task does not reach the agent", async () => {
  const { agent, model } = child([]);
  const parent = agentWith([
    calls([{ name: "child", arguments: { task: " " } }]),
    calls(["child"]),
    text("done"),
  ], { tools: [agentTool(agent)] });
  await parent.agent.run("t");
  assertEquals(
    toolResultsOf(parent.agent.messages),
    [1, 2].map(() => ({
      status: "error",
      tool: "child",
      error: "The argument task must be a text that is not blank",
    })),
  );
  assertEquals(model.requests.length, 0);
});

test("an instance remembers its calls, a fresh agent does not", {
  case: "PL-F-03",
}, async () => {
  const steps = [askChild, askChild, text("done")];
  const shared = child([text("one"), text("two")]);
  await parentOf(steps, agentTool(shared.agent)).run("t");
  assertEquals(contentsOf(shared.model.contexts[1]!.llmMessages), [
    "C",
    "dig",
    "one",
    "dig",
  ]);

  const made: ScriptedModel[] = [];
  await parentOf(
    steps,
    agentTool(() => {
      const fresh = child([text("one")]);
      made.push(fresh.model);
      return fresh.agent;
    }, { name: "child" }),
  ).run("t");
  assertEquals(
    made.map((model) => contentsOf(model.contexts[0]!.llmMessages)),
    [["C", "dig"], ["C", "dig"]],
  );
  assertEquals(
    made.map((model) => [model.startupCount, model.shutdownCount]),
    [[1, 1], [1, 1]],
  );
});

test("an abort of the caller ends the called agent", {
  case: "PL-F-04",
}, async () => {
  const waiting = block();
  const { agent } = child([waiting]);
  const results: AgentRunResult[] = [];
  const parent = parentOf(
    [askChild],
    agentTool(agent, { onResult: (result) => void results.push(result) }),
  );
  const running = parent.run("t");
  await waiting.entered;
  parent.abort("stop");
  const { stopReason, status } = await running;
  assertEquals([status, stopReason], ["cancelled", "external_abort"]);
  await Promise.all([agent.waitForIdle(), parent.waitForIdle()]);
  assertEquals(results.map((result) => result.stopReason), ["external_abort"]);
  assertEquals(toolResultsOf(parent.messages), [{
    status: "cancelled",
    tool: "child",
    error: "stop",
  }]);
});

test("the called agent runs in the scope of the call", async () => {
  const seen: unknown[] = [];
  const { agent } = child([text("42")]);
  agent.use({
    aroundRun(request, next) {
      seen.push(request.scope.get("tenant"));
      return next(request);
    },
  });
  const parent = parentOf([askChild, text("done")], agentTool(agent));
  parent.use({
    aroundTool(context, next) {
      context.scope.set("tenant", 7);
      return next(context);
    },
  });
  await parent.run("t");
  assertEquals(seen, [7]);
});

test("usage of the called agent is its own", { case: "PL-F-05" }, async () => {
  const { agent } = child([
    text("42", { usage: { inputTokens: 5, outputTokens: 1 } }),
  ]);
  const results: AgentRunResult[] = [];
  const usage = { inputTokens: 100, outputTokens: 10 };
  const parent = parentOf(
    [
      calls([{ name: "child", arguments: { task: "dig" } }], { usage }),
      text("done", { usage }),
    ],
    agentTool(agent, { onResult: (result) => void results.push(result) }),
  );
  const result = await parent.run("t");
  assertEquals(
    [result.usage.inputTokens, result.usage.requestCount],
    [200, 2],
  );
  assertEquals(results.map((each) => each.usage.inputTokens), [5]);
});

test("what a called agent says and does can be seen as progress", async () => {
  const steps = () => [
    calls(["echo"], { content: "Looking." }),
    deltas(["Fou", "nd."]),
  ];
  const progressWith = async (options: AgentToolOptions) => {
    const { agent } = child(steps(), { tools: [echo] });
    const parent = agentWith([askChild, text("done")], {
      tools: [agentTool(agent, options)],
    });
    await parent.agent.run("t");
    return parent.sink.events.flatMap((event) =>
      event.kind === "tool_progressed" ? [event.update.message] : []
    );
  };
  assertEquals(await progressWith({ forwardProgress: true }), [
    "Looking.",
    "Calls echo",
    "Found.",
  ]);
  assertEquals(await progressWith({}), []);
});

test("an agent that is its own tool is told so", async () => {
  const agent: Agent = parentOf(
    [calls([{ name: "self", arguments: { task: "dig" } }]), text("done")],
    agentTool(() => ({
      info: agent.info,
      run: (task, options) => agent.run(task, options),
      stream: (task, options) => agent.stream(task, options),
    }), { name: "self" }),
  );
  assertEquals((await agent.run("t")).output, "done");
  assertEquals(toolResultsOf(agent.messages), [{
    status: "error",
    tool: "self",
    error:
      'Agent "a" would wait for itself inside its own run; use followUp() or another agent',
  }]);
});

function child(
  steps: readonly ScriptStep[],
  options: {
    readonly name?: string;
    readonly description?: string;
    readonly tools?: readonly ToolInput[];
  } = {},
): { readonly agent: Agent; readonly model: ScriptedModel } {
  const model = new ScriptedModel(steps);
  const agent = new Agent({
    agentId: "child",
    systemPrompt: "C",
    model,
    ...options,
  });
  return { agent, model };
}

function parentOf(steps: readonly ScriptStep[], tool: ToolInput): Agent {
  return agentWith(steps, { tools: [tool] }).agent;
}
