import {
  Agent,
  type AgentLike,
  type AgentMessage,
  type RunOptions,
  wrapAgent,
} from "../../mod.ts";
import { ScriptedModel, text } from "../../src/testing/mod.ts";
import {
  assertEquals,
  assertRejects,
  assertThrows,
} from "../support/assert.ts";
import { test } from "../support/suite.ts";

/** Options that no run can use, with what is said about them. */
function wrongOptions(): [options: unknown, message: string][] {
  const wrong: [option: string, values: unknown[], message: string][] = [
    [
      "signal",
      [{}, "x", new AbortController()],
      "signal must be an Abort",
    ],
    ["scope", [{}, new Map()], "scope must have a function fork()"],
    ["contextMessages", [{}, "x"], "contextMessages must be a list"],
    ["contextMessages", [[null], ["x"], [{}]], "contextMessages[0] must be a"],
    [
      "contextMessages",
      [[{ role: "user", content: "x" }, { role: "bot", content: "x" }]],
      "contextMessages[1] must be a message with a known role and content",
    ],
    [
      "contextMessages",
      [[{ role: "user" }], [{ role: "tool", tool_call_id: "c1" }]],
      "contextMessages[0] must be a message with a known role and content",
    ],
    ["modelOptions", [7, "x", []], "modelOptions must be an object"],
  ];
  return [
    ...[7, "x", []].map((options): [unknown, string] => [
      options,
      "The options must be an object",
    ]),
    ...wrong.flatMap(([option, values, message]) =>
      values.map((value): [unknown, string] => [{ [option]: value }, message])
    ),
  ];
}

function newAgent(model: ScriptedModel): Agent {
  return new Agent({ agentId: "a", model });
}

test("wrong options of a run are refused and leave the agent as it was", async () => {
  const model = new ScriptedModel([text("one"), text("two")]);
  const agent = newAgent(model);
  const agents: AgentLike[] = [agent, wrapAgent(agent)];
  for (const [given, message] of wrongOptions()) {
    const options = given as RunOptions;
    for (const each of agents) {
      await assertRejects(() => each.run("go", options), TypeError, message);
      assertThrows(() => each.stream("go", options), TypeError, message);
    }
    assertThrows(() => agent.continueStream(options), TypeError, message);
    await assertRejects(() => agent.continueRun(options), TypeError, message);
  }
  await agent.waitForIdle();
  assertEquals(model.requests.length, 0);
  for (const each of agents) assertEquals((await each.run("go")).turns, 1);
});

test("an operation that is no run checks its options too", async () => {
  const agent = newAgent(new ScriptedModel([text("one")]));
  for (const options of [7, { signal: {} }, { scope: {} }]) {
    await assertRejects(
      () => agent.dispatch("x", {}, options as RunOptions),
      TypeError,
      "must",
    );
  }
  await agent.waitForIdle();
  assertEquals(await agent.runText("go"), "one");
});

test("an option that is undefined or null counts as left out", async () => {
  const agent = newAgent(new ScriptedModel(() => text("one")));
  const allOf = (value: unknown) => ({
    signal: value,
    scope: value,
    contextMessages: value,
    modelOptions: value,
  });
  for (const nothing of [allOf(undefined), allOf(null), null]) {
    const options = nothing as RunOptions;
    for (const each of [agent, wrapAgent(agent)]) {
      assertEquals((await each.run("go", options)).succeeded, true);
      assertEquals(
        (await each.stream("go", options).finalResult()).succeeded,
        true,
      );
    }
    assertEquals((await agent.continueRun(options)).succeeded, true);
    await agent.startup(options);
  }
});

test("the options of a run that waits are those of its call", async () => {
  const model = new ScriptedModel([text("one"), text("two")]);
  const agent = newAgent(model);
  const first = agent.run("go");
  const contextMessages: AgentMessage[] = [{ role: "user", content: "fact" }];
  const second = agent.run("go on", { contextMessages });
  contextMessages.length = 0;
  await Promise.all([first, second]);
  assertEquals(
    model.requests[1]!.context.llmMessages.some(({ content }) =>
      content === "fact"
    ),
    true,
  );
});
