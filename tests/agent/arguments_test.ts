import {
  type Agent,
  type AgentMessage,
  AgentSession,
  MemorySessionStorage,
  SessionArgumentError,
  userMessage,
} from "../../mod.ts";
import { text } from "../../src/testing/mod.ts";
import {
  assertEquals,
  assertRejects,
  assertThrows,
} from "../support/assert.ts";
import { test } from "../support/suite.ts";
import { agentWith, contentsOf, echo } from "./fixtures.ts";

/** An agent of which nothing is known about the types of arguments. */
// deno-lint-ignore no-explicit-any -- what callers without types do
type Untyped = Record<keyof Agent, (...args: any[]) => any>;

function untyped(agent: Agent): Untyped {
  return agent as unknown as Untyped;
}

test("arguments of the wrong type are refused by name", () => {
  const agent = untyped(agentWith([]).agent);
  const calls: [call: () => unknown, message: string][] = [
    [() => agent.reset("x"), "history must be a list"],
    [() => agent.reset(null), "history must be a list"],
    [() => agent.reset([null]), "history[0] must be a message with a known"],
    [() => agent.reset([userMessage("x"), {}]), "history[1] must be a message"],
    [
      () => agent.restoreProviderState(),
      "The provider state must be an object",
    ],
    [() => agent.restoreProviderState([]), "The provider state must be an"],
    [() => agent.restoreProviderState({ x: 7 }), 'State "x" must be an object'],
    ...[null, undefined, "x", {}, { session: null }, Promise.resolve()].map(
      (source): [() => unknown, string] => [
        () => agent.restoreSession(source),
        "The session must be an AgentSession or a SessionCheckout",
      ],
    ),
  ];
  for (const [call, message] of calls) assertThrows(call, TypeError, message);
});

test("arguments of the wrong type reject what returns a promise", async () => {
  const agent = untyped(agentWith([text("x")], { tools: [echo] }).agent);
  const storage = new MemorySessionStorage();
  const calls: [call: () => PromiseLike<unknown>, message: string][] = [
    [() => agent.shutdown("bye"), "The options must be an object"],
    [() => agent.dispatch("echo"), "The arguments of a tool must be an object"],
    [() => agent.dispatch("echo", "x"), "The arguments of a tool must be an"],
    [() => agent.compact({ compactor: {} }), "compactor must have a function"],
    [() => agent.recoverSession(), "storage must have a function"],
    [() => agent.recoverSession(storage), "The options must be an object"],
    [() => agent.recoverSession(storage, {}), "sessionId must be a string"],
  ];
  for (const [call, message] of calls) {
    await assertRejects(call, TypeError, message);
  }
  await agent.waitForIdle();
  assertEquals(await agent.runText("go"), "x");
});

test("what is refused leaves everything as it was", async () => {
  const { agent } = agentWith([text("hello")], {
    contextProviders: [{
      sourceId: "notes",
      beforeRun: (run) => void (run.state.count = 1),
    }],
  });
  await agent.run("go");
  const before = agent.messages;
  for (
    const call of [
      () => agent.reset([null as unknown as AgentMessage]),
      () => agent.restoreSession(null as unknown as AgentSession),
      () =>
        agent.restoreProviderState({ notes: {}, x: 7 } as unknown as Record<
          string,
          Record<string, number>
        >),
    ]
  ) assertThrows(call, TypeError);
  assertEquals(agent.messages, before);
  assertEquals(agent.state.lastRunResult?.output, "hello");
  assertEquals(agent.providerState, { notes: { count: 1 } });
});

test("a session that belongs to another agent is refused by name", () => {
  const { agent } = agentWith([]);
  assertThrows(
    () => agent.restoreSession(new AgentSession("s", "other")),
    SessionArgumentError,
    'Session "s" belongs to agent "other"',
  );
  agent.reset([userMessage("seed")]);
  assertEquals(contentsOf(agent.messages), ["P", "seed"]);
});
