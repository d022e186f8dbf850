import { userMessage } from "../../src/messages/message.ts";
import type { ModelStreamEvent } from "../../src/model/adapter.ts";
import { ModelProtocolError } from "../../src/model/errors.ts";
import { ScriptError } from "../../src/testing/script.ts";
import { ScriptedModel } from "../../src/testing/scripted_model.ts";
import { respond } from "../../src/testing/server_steps.ts";
import {
  block,
  calls,
  deltas,
  events,
  fail,
  text,
  thinking,
} from "../../src/testing/steps.ts";
import {
  assertEquals,
  assertRejects,
  assertStrictEquals,
  assertThrows,
} from "../support/assert.ts";
import { test } from "../support/suite.ts";
import { callWith, collect, contextOf } from "./context.ts";

function ask(
  model: ScriptedModel,
  signal?: AbortSignal,
): Promise<ModelStreamEvent[]> {
  return collect(model.stream!(contextOf(), callWith(signal)));
}

test("a scripted text is one completed event", async () => {
  const step = text("done", { usage: { inputTokens: 3, outputTokens: 2 } });
  const [event, ...rest] = await ask(new ScriptedModel([step]));
  assertStrictEquals(event, step.response);
  assertEquals(rest, []);
  assertEquals(step.response.message, { content: "done", toolCalls: [] });
  assertEquals(step.response.usage?.totalTokens, 5);
  assertEquals(step.response.finishReason, "stop");
});

test("scripted calls are numbered within their answer", () => {
  const { message, finishReason } = calls([
    "list",
    { name: "read", arguments: { path: "a" } },
    { name: "read", arguments: "{bad", id: "mine" },
  ], { content: "Let me see" }).response;
  assertEquals(message.content, "Let me see");
  assertEquals(message.toolCalls, [
    { id: "c1", name: "list", arguments: "{}" },
    { id: "c2", name: "read", arguments: '{"path":"a"}' },
    { id: "mine", name: "read", arguments: "{bad" },
  ]);
  assertEquals(finishReason, "tool_calls");
});

test("deltas are played one by one, then their text or another step", async () => {
  const lost = new Error("lost");
  const model = new ScriptedModel([
    deltas([thinking("hm"), "Hel", "lo"]),
    deltas(["Hel"], fail(lost)),
  ]);
  assertEquals(await ask(model), [
    { kind: "thinking_delta", delta: "hm" },
    { kind: "text_delta", delta: "Hel" },
    { kind: "text_delta", delta: "lo" },
    text("Hello").response,
  ]);

  const seen: ModelStreamEvent[] = [];
  const error = await assertRejects(async () => {
    for await (const event of model.stream!(contextOf(), callWith())) {
      seen.push(event);
    }
  });
  assertStrictEquals(error, lost);
  assertEquals(seen, [{ kind: "text_delta", delta: "Hel" }]);
});

test("arbitrary events are passed on unchecked", async () => {
  const unknown = { kind: "surprise" } as unknown as ModelStreamEvent;
  const model = new ScriptedModel([
    events([unknown]),
    events(async function* ({ index }) {
      yield await Promise.resolve(thinking(String(index)));
    }),
  ]);
  assertEquals(await ask(model), [unknown]);
  assertEquals(await ask(model), [thinking("1")]);
});

test("a block waits for the test and goes on with what it is released with", async () => {
  const gate = block();
  const model = new ScriptedModel([gate, gate]);
  const answer = ask(model);
  await gate.entered;
  gate.release(text("now"));
  assertEquals(await answer, [text("now").response]);
  assertEquals(await ask(model), [text("now").response], "an open gate");
});

test("a block rejects with the reason of an abort unless it ignores it", async () => {
  const controller = new AbortController();
  const polite = block();
  const stubborn = block(text("late"), { ignoreAbort: true });
  const model = new ScriptedModel([polite, stubborn, block()]);
  const reason = new Error("enough");

  const first = assertRejects(() => ask(model, controller.signal));
  const second = ask(model, controller.signal);
  await Promise.all([polite.entered, stubborn.entered]);
  controller.abort(reason);
  assertStrictEquals(await first, reason);
  stubborn.release();
  assertEquals(await second, [text("late").response]);
  assertStrictEquals(
    await assertRejects(() => ask(model, controller.signal)),
    reason,
  );
});

test("an unexpected request fails and is not forgotten", async () => {
  const model = new ScriptedModel([text("only")]);
  await ask(model);
  model.assertDone();
  const error = await assertRejects(() => ask(model), ScriptError);
  assertEquals(
    error.message,
    "Unexpected model request 2: the script has 1 step",
  );
  assertEquals(error.code, "script_mismatch");
  assertStrictEquals(assertThrows(() => model.assertDone()), error);
});

test("a request that nobody reads leaves no unhandled rejection", () => {
  new ScriptedModel([]).stream!(contextOf(), callWith());
});

test("steps that were never played are reported", async () => {
  const model = new ScriptedModel([text("a"), text("b")]);
  model.push(text("c"));
  await ask(model);
  assertEquals(
    assertThrows(() => model.assertDone(), ScriptError).message,
    "The script was not played to its end: 2 steps of 3 left after 1 request",
  );
});

test("a step may be made from the request, and so may all of them", async () => {
  const model = new ScriptedModel([
    ({ messages }) => text(`heard ${messages.at(-1)?.content}`),
  ]);
  assertEquals(await ask(model), [text("heard Hello").response]);

  const endless = new ScriptedModel(({ index }) =>
    Promise.resolve(text(`answer ${index}`))
  );
  assertEquals(await ask(endless), [text("answer 0").response]);
  assertEquals(await ask(endless), [text("answer 1").response]);
  endless.assertDone();
});

test("requests are recorded when they are made", async () => {
  const model = new ScriptedModel([text("a"), text("b")]);
  const context = contextOf(userMessage("first"));
  const call = callWith();
  const unread = model.stream!(context, call);
  await model.complete(contextOf(userMessage("second")), callWith());
  await collect(unread);

  assertEquals(model.requests.map(({ method }) => method), [
    "stream",
    "complete",
  ]);
  assertStrictEquals(model.contexts[0], context);
  assertStrictEquals(model.requests[0]?.call, call);
  assertEquals(model.contexts[1]?.llmMessages, [userMessage("second")]);
});

test("a complete-only model has no stream and drops deltas", async () => {
  const usage = { inputTokens: 1, outputTokens: 1 };
  const model = new ScriptedModel(
    [deltas(["a", "b"], text("ab", { usage })), events([thinking("hm")])],
    { completeOnly: true },
  );
  assertEquals(model.stream, undefined);
  const { message, usage: reported, finishReason } = await model.complete(
    contextOf(),
    callWith(),
  );
  assertEquals([message.content, reported?.totalTokens, finishReason], [
    "ab",
    2,
    "stop",
  ]);
  await assertRejects(
    () => model.complete(contextOf(), callWith()),
    ModelProtocolError,
    "without an answer",
  );
});

test("what is no script, no step and no list of calls is refused", async () => {
  for (const script of [undefined, text("a"), "Hello"]) {
    assertThrows(
      () => new ScriptedModel(script as never),
      TypeError,
      "A script must be a list of steps or a function",
    );
  }
  assertThrows(() => calls("add" as never), TypeError, "must be a list");
  for (const call of [["add", {}], null, 5, { arguments: {} }]) {
    assertThrows(() => calls([call] as never), TypeError, '{ name: "add"');
  }
  assertThrows(() => text(5 as never), TypeError, "a string or null");
  assertThrows(() => deltas(["a"], "b" as never), TypeError, "a step");
  const strange = { kind: "surprise" };
  for (const step of ["Hello", strange, { kind: "toString" }, respond(200)]) {
    const refused = "What a script holds must be a step or a function";
    const make = () => new ScriptedModel([text("a"), step] as never);
    assertThrows(make, TypeError, refused);
    const model = new ScriptedModel([]);
    assertThrows(() => model.push(step as never), TypeError, refused);
  }
  const scripts = [
    [() => "Hello"],
    [() => strange],
    async () => await undefined,
  ];
  for (const script of scripts) {
    const model = new ScriptedModel(script as never);
    await assertRejects(
      () => ask(model),
      ScriptError,
      "What the script makes for request 1 is no step; make one with text()",
    );
    assertThrows(() => model.assertDone(), ScriptError, "no step");
  }
});

test("starts and stops are counted", async () => {
  const model = new ScriptedModel([], { target: { provider: "mine" } });
  await model.startup();
  await model.shutdown();
  await model.startup();
  assertEquals([model.startupCount, model.shutdownCount], [2, 1]);
  assertEquals(model.target, { provider: "mine" });
});
