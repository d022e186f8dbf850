import {
  AgentConfigurationError,
  contextMiddleware,
  type ContextProvider,
  type RunOutcome,
  UnsupportedContextError,
  userMessage,
  wrapAgent,
} from "../../mod.ts";
import { block, text } from "../../src/testing/mod.ts";
import {
  assertEquals,
  assertRejects,
  assertStrictEquals,
  assertThrows,
} from "../support/assert.ts";
import { test } from "../support/suite.ts";
import { agentWith, contentsOf } from "../agent/fixtures.ts";
import { provider } from "./fixtures.ts";
import { ForeignAgent } from "./foreign_agent.ts";

test("messages of providers reach a foreign agent", {
  case: "PL-C-33",
}, async () => {
  const foreign = new ForeignAgent();
  const outcomes: RunOutcome[] = [];
  const log: string[] = [];
  const agent = wrapAgent(foreign).use(contextMiddleware(
    provider("p", log, {
      before(run) {
        assertEquals([run.kind, run.task, run.runId], ["task", "t", ""]);
        run.extendMessages(userMessage("from p"));
      },
      after: (_run, outcome) => void outcomes.push(outcome),
    }),
    provider("q", log, {
      before(run) {
        const [earlier] = run.contributions;
        run.extendMessages(
          userMessage(`q after ${earlier?.messages[0]?.content}`),
        );
      },
    }),
  ));
  const contextMessages = [userMessage("from the caller")];
  assertStrictEquals(
    await agent.run("t", { contextMessages }),
    foreign.result,
  );
  assertEquals(contentsOf(foreign.calls[0]!.options.contextMessages ?? []), [
    "from the caller",
    "from p",
    "q after from p",
  ]);
  assertEquals(log, ["p+", "q+", "q-:completed", "p-:completed"]);
  assertEquals(outcomes, [{
    result: foreign.result,
    messages: [],
    conversation: [],
    compacted: false,
  }]);
});

test("providers see what a foreign agent throws, and so does the caller", {
  case: "PL-C-33",
}, async () => {
  const failure = new Error("line is dead");
  const outcomes: RunOutcome[] = [];
  const agent = wrapAgent(new ForeignAgent(failure)).use(contextMiddleware(
    provider("p", [], {
      after: (_run, outcome) => void outcomes.push(outcome),
    }),
  ));
  assertStrictEquals(await assertRejects(() => agent.run("t")), failure);
  const [outcome] = outcomes;
  assertStrictEquals(outcome?.error, failure);
  assertEquals(
    [outcome?.result.status, outcome?.result.error],
    ["failed", "line is dead"],
  );
});

test("only messages can be added to a foreign agent", {
  case: "PL-C-34",
}, async () => {
  const attempts: Record<string, ContextProvider["beforeRun"]> = {
    tools: (run) => run.extendTools(),
    instructions: (run) => run.extendInstructions("be brief"),
    "model options": (run) => run.extendOptions({ temperature: 0 }),
    middleware: (run) => run.extendMiddleware(),
  };
  for (const [what, before] of Object.entries(attempts)) {
    const foreign = new ForeignAgent();
    const log: string[] = [];
    const agent = wrapAgent(foreign).use(contextMiddleware(
      provider("first", log),
      { sourceId: "p", beforeRun: before! },
    ));
    await assertRejects(
      () => agent.run("t"),
      UnsupportedContextError,
      `Context provider "p" adds ${what}`,
    );
    assertEquals(foreign.calls, []);
    assertEquals(log, ["first+", "first-:failed"]);
  }
});

test("a run that its reader leaves is cancelled for providers", async () => {
  const log: string[] = [];
  const { agent: inner } = agentWith([block()]);
  const agent = wrapAgent(inner).use(contextMiddleware(provider("p", log)));
  for await (const event of agent.stream("t")) {
    if (event.kind === "turn_started") break;
  }
  assertEquals(log, ["p+", "p-:cancelled"]);
});

test("what is thrown under an abort is a cancelled run for providers", async () => {
  const log: string[] = [];
  const agent = wrapAgent(new ForeignAgent()).use(
    contextMiddleware(provider("p", log)),
    {
      async *aroundRun(request, next) {
        yield* next(request);
        controller.abort("enough");
        throw new Error("Torn");
      },
    },
  );
  const controller = new AbortController();
  const result = await agent.run("t", { signal: controller.signal });
  assertEquals([result.status, result.error], ["cancelled", "enough"]);
  assertEquals(log, ["p+", "p-:cancelled"]);
});

test("what a provider keeps lives as long as the middleware", async () => {
  const seen: unknown[] = [];
  const counting = contextMiddleware(provider("p", [], {
    before: (run) => {
      const count = Number(run.state.count ?? 0) + 1;
      run.state.count = count;
      seen.push(count);
    },
  }));
  const agent = wrapAgent(new ForeignAgent()).use(counting);
  await agent.run("one");
  await agent.run("two");
  assertEquals(seen, [1, 2]);
});

test("a local agent behind a wrapper marks and forgets the messages", async () => {
  const { agent: inner, model } = agentWith([text("one")]);
  const agent = wrapAgent(inner).use(contextMiddleware(
    provider("p", [], {
      before: (run) => run.extendMessages(userMessage("note")),
    }),
  ));
  await agent.run("t");
  const { agentMessages } = model.contexts[0]!;
  assertEquals(contentsOf(agentMessages), ["P", "note", "t"]);
  assertEquals(agentMessages[1]!._ejagent_source, "p");
  assertEquals(contentsOf(inner.messages), ["P", "t", "one"]);
});

test("a context middleware needs providers with ids of their own", () => {
  assertThrows(() => contextMiddleware(), AgentConfigurationError, "at least");
  assertThrows(
    () => contextMiddleware(provider("p", []), provider("p", [])),
    AgentConfigurationError,
    'sourceId "p"',
  );
});
