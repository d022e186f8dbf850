import {
  type AgentMessage,
  BaseHandler,
  ContinueRejectedError,
  ModelAuthenticationError,
  ModelTimeoutError,
  proceed,
} from "../../mod.ts";
import { block, calls, fail, text } from "../../src/testing/mod.ts";
import {
  assert,
  assertEquals,
  assertNotEquals,
  assertRejects,
} from "../support/assert.ts";
import { deferred } from "../support/deferred.ts";
import { test } from "../support/suite.ts";
import { agentWith, echo, shapeOf, waitTool } from "./fixtures.ts";

test(
  "a continue goes on without a new message",
  { case: "X-124" },
  async () => {
    let tasks = 0;
    class Counting extends BaseHandler {
      readonly tools = [{ name: "x" }];
      override onTaskStart(): void {
        tasks += 1;
      }
      dispatch() {
        return proceed(null);
      }
    }
    const { agent, sink, model } = agentWith([
      text("initial answer"),
      text("continued answer"),
    ], {
      tools: [new Counting()],
    });
    const first = await agent.run("task");
    const before = agent.messages;
    const second = await agent.continueRun();
    assertEquals(second.output, "continued answer");
    assertEquals(shapeOf(agent.messages), "u a a");
    assertEquals(model.contexts[1]?.agentMessages, before);
    const [event] = sink.ofKind("agent_continued");
    assertEquals(Object.keys(event ?? {}).sort(), [
      "agentId",
      "kind",
      "runId",
      "sequence",
      "timeMs",
    ]);
    assertNotEquals(first.runId, second.runId);
    assertEquals([agent.state.task, tasks], [null, 2]);
  },
);

test("a continue can be read as a stream", async () => {
  const { agent } = agentWith([text("one"), text("two")]);
  await agent.run("task");
  const kinds: string[] = [];
  const stream = agent.continueStream();
  for await (const event of stream) kinds.push(event.kind);
  assertEquals(kinds[0], "agent_continued");
  assertEquals((await stream.finalResult()).output, "two");
});

test(
  "a refused continue says why and changes nothing",
  { case: "X-125" },
  async () => {
    const gate = block();
    const { agent, sink } = agentWith([gate, text("fin"), text("next")]);
    const refusal = async () => {
      const events = sink.events.length;
      const error = await assertRejects(
        () => agent.continueRun(),
        ContinueRejectedError,
      );
      assertEquals([agent.continueRejectionReason, agent.canContinue], [
        error.reason,
        false,
      ]);
      assertEquals(sink.events.length, events);
      return error.reason;
    };
    assertEquals(await refusal(), "no_previous_run");
    const run = agent.run("task");
    await gate.entered;
    assertEquals(await refusal(), "agent_active");
    agent.abort("no");
    await run;
    assertEquals(await refusal(), "unsupported_stop_reason");
    await agent.run("task");
    assert(agent.canContinue);
    agent.reset();
    assertEquals(await refusal(), "no_previous_run");
  },
);

test("a refused continue says what to do instead", async () => {
  const gate = block();
  const { agent } = agentWith([gate]);
  const refusal = () =>
    agent.continueRun().then(() => "", (error) => error.message);
  const why = "The last run cannot be continued:";
  assertEquals(
    await refusal(),
    `${why} no_previous_run; give a task with run()`,
  );
  const run = agent.run("task");
  await gate.entered;
  assertEquals(
    await refusal(),
    `${why} agent_active; wait with waitForIdle()`,
  );
  agent.abort("no");
  await run;
  assertEquals(
    await refusal(),
    `${why} it ended as external_abort; give a task with run()`,
  );
});

test("a continue never waits", { case: "X-125" }, async () => {
  const wait = waitTool();
  const { agent } = agentWith([text("one"), block(), text("three")], {
    tools: [wait.tool],
  });
  await agent.run("task");
  const dispatched = agent.dispatch("wait", {});
  await wait.entered;
  assertEquals(agent.continueRejectionReason, "agent_active");
  wait.release();
  await dispatched;
  const run = agent.run("second");
  const followUp = agent.followUp("third");
  assertEquals(agent.continueRejectionReason, "agent_active");
  agent.abort("no");
  await run;
  await followUp.wait().catch(() => {});
});

test("a shutdown refuses continues first", { case: "X-016" }, async () => {
  const gate = block();
  const { agent, model } = agentWith([gate, text("y done")]);
  const first = agent.run("x");
  await gate.entered;
  const stopping = agent.shutdown();
  const refused = await agent.run("z").then(() => null, (error) => error);
  assertEquals(refused.code, "agent_shutting_down");
  assertEquals(agent.continueRejectionReason, "agent_shutting_down");
  gate.release();
  assertEquals((await first).status, "completed");
  await stopping;
  assertEquals([model.startupCount, model.shutdownCount], [1, 1]);
  await agent.run("y");
  assertEquals(model.startupCount, 2);
});

test(
  "a failure worth a retry can be continued",
  { case: "X-130" },
  async () => {
    const { agent } = agentWith([
      fail(new ModelTimeoutError("too slow")),
      text("there it is"),
      fail(new ModelAuthenticationError("who?")),
    ]);
    await agent.run("go");
    assert(agent.canContinue);
    assertEquals((await agent.continueRun()).output, "there it is");
    assertEquals(shapeOf(agent.messages), "u a");
    await agent.run("again");
    assertEquals(agent.continueRejectionReason, "unsupported_stop_reason");
  },
);

test(
  "a continue can be steered, followed and hooked",
  { case: "X-131" },
  async () => {
    const gate = block();
    const tasks: (string | null)[] = [];
    const { agent } = agentWith([
      text("one"),
      gate,
      text("steered"),
      text("followed"),
    ], {
      behaviorHooks: [{ afterTurn: (turn) => void tasks.push(turn.task) }],
    });
    await agent.run("task");
    const run = agent.continueRun();
    await gate.entered;
    agent.steer("S");
    const handle = agent.followUp("F");
    gate.release();
    const result = await run;
    assertEquals([result.output, result.turns], ["steered", 2]);
    assertEquals((await handle.wait()).output, "followed");
    assertEquals(tasks, [null]);
  },
);

test("a continue starts with a fresh budget", { case: "X-129" }, async () => {
  const usage = { inputTokens: 90, outputTokens: 20 };
  const { agent } = agentWith([
    calls(["echo"], { usage }),
    text("fin", { usage }),
  ], {
    tools: [echo],
    policy: { maxRunTokens: 100 },
  });
  assertEquals((await agent.run("go")).stopReason, "token_budget_exceeded");
  const result = await agent.continueRun();
  assertEquals([
    result.output,
    result.usage.totalTokens,
    result.usage.requestCount,
  ], [
    "fin",
    110,
    1,
  ]);
});

test(
  "a failed start-up leaves the option to continue",
  { case: "X-132" },
  async () => {
    const { agent, model } = agentWith([text("one"), text("two")]);
    await agent.run("task");
    await agent.shutdown();
    const failing = deferred();
    model.startup = () => failing.promise;
    const refused = agent.continueRun();
    failing.reject(new Error("down"));
    assertEquals(
      await refused.then(() => null, (error) => error.code),
      "agent_startup",
    );
    assert(agent.canContinue);
    model.startup = () => {};
    assertEquals((await agent.continueRun()).output, "two");
  },
);

test("a continue may carry a prompt that is never stored", async () => {
  const { agent, model } = agentWith([
    text("one"),
    calls(["echo"]),
    text("three"),
  ], {
    tools: [echo],
    continuePrompt: "Go on.",
  });
  await agent.run("task");
  await agent.continueRun();
  const prompts = model.contexts.map((context) =>
    context.llmMessages.some((message) => message.content === "Go on.")
  );
  assertEquals(prompts, [false, true, false]);
  assertEquals(
    agent.messages.some((message: AgentMessage) =>
      message.content === "Go on."
    ),
    false,
  );
});
