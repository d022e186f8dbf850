import {
  Agent,
  ContextOverflowError,
  ModelProviderError,
  ModelRateLimitError,
  ModelTimeoutError,
} from "../../mod.ts";
import {
  ChatModelAdapter,
  createModelConfig,
  fetchTransport,
} from "../../src/chat/mod.ts";
import {
  type ModelRetry,
  retryModel,
  type RetryModelOptions,
} from "../../src/middleware/mod.ts";
import {
  block,
  deltas,
  fail,
  ManualClock,
  modelServer,
  respond,
  type ScriptStep,
  text,
} from "../../src/testing/mod.ts";
import { agentWith } from "../agent/fixtures.ts";
import { assertEquals, assertThrows } from "../support/assert.ts";
import { deferred } from "../support/deferred.ts";
import { test } from "../support/suite.ts";
import { busy, textDeltas } from "./fixtures.ts";

test("a failure that may pass is tried again until an answer comes", async () => {
  const { agent, model, retries } = retrying([
    fail(busy()),
    fail(busy()),
    deltas(["he", "llo"]),
  ]);
  const result = await agent.run("t");
  assertEquals([result.output, model.requests.length], ["hello", 3]);
  assertEquals(retries.map(({ retry, delayMs }) => [retry, delayMs]), [
    [1, 250],
    [2, 500],
  ]);
  assertEquals(result.usage.requestCount, 3);
});

test("waits grow up to their bound and no further", async () => {
  const { agent, retries } = retrying(
    Array.from({ length: 5 }, () => fail(busy())),
    { maxRetries: 4, maxDelayMs: 1500, random: () => 0.99 },
  );
  await agent.run("t");
  assertEquals(retries.map(({ delayMs }) => delayMs), [495, 990, 1485, 1485]);
});

test("the last failure is the run's when retries are used up", async () => {
  const { agent, model } = retrying(
    [fail(busy("one")), fail(busy("two"))],
    { maxRetries: 1 },
  );
  const result = await agent.run("t");
  assertEquals([result.error, result.failure?.retryable], ["two", true]);
  assertEquals(model.requests.length, 2);
});

test("a provider that asks for time gets it", { case: "B47" }, async () => {
  const { agent, retries } = retrying([
    fail(new ModelRateLimitError("Slow down", { retryAfterMs: 3000 })),
    text("ok"),
  ]);
  assertEquals((await agent.run("t")).output, "ok");
  assertEquals(retries.map(({ delayMs }) => delayMs), [3000]);
});

test("what waiting does not mend is not tried again", {
  case: "B47",
}, async () => {
  for (
    const error of [
      new ModelRateLimitError("In 16 days", { retryAfterMs: 1_382_400_000 }),
      new ModelRateLimitError("Quota is used up", { retryable: false }),
      new ModelProviderError("Wrong request", { status: 400 }),
      new ContextOverflowError("Too long"),
      new Error("Not from the provider"),
    ]
  ) {
    const { agent, model, retries } = retrying([fail(error)]);
    assertEquals((await agent.run("t")).error, error.message);
    assertEquals([model.requests.length, retries.length], [1, 0]);
  }
});

test("what a provider writes over HTTP decides about the wait", {
  case: "B47",
}, async () => {
  const clock = new ManualClock(Date.UTC(2026, 0, 1));
  const limited = (after: string) =>
    respond(429, {
      body: { error: { message: "Too many requests" } },
      headers: { "retry-after": after },
    });
  const spent = respond(429, {
    body: {
      error: { message: "You are out of credit", code: "insufficient_quota" },
    },
    headers: { "retry-after": "1" },
  });
  const server = modelServer([
    limited("3"),
    limited("Thu, 01 Jan 2026 00:00:09 GMT"),
    text("ok"),
    limited("1382400"),
    spent,
  ]);
  const delays: number[] = [];
  const agent = new Agent({
    agentId: "a",
    model: new ChatModelAdapter(
      createModelConfig({
        model: "m",
        apiKey: "k",
        baseUrl: "http://model/v1",
      }),
      {
        transport: fetchTransport({ fetch: server.fetch }),
        clock,
      },
    ),
    middleware: [retryModel({
      clock,
      onRetry({ delayMs }) {
        delays.push(delayMs);
        queueMicrotask(() => clock.advance(delayMs));
      },
    })],
  });
  assertEquals((await agent.run("t")).output, "ok");
  assertEquals(delays, [3000, 6000]);
  for (const _ of ["a wait of 16 days", "a used-up quota"]) {
    assertEquals((await agent.run("u")).failure?.code, "rate_limit");
  }
  assertEquals(delays.length, 2);
  server.assertDone();
});

test("an abort ends the wait", { case: "B47" }, async () => {
  const clock = new ManualClock();
  const waiting = deferred();
  const { agent, model } = agentWith([fail(busy())], {
    middleware: [retryModel({ clock, onRetry: () => waiting.resolve() })],
  });
  const running = agent.run("t");
  await waiting.promise;
  agent.abort("enough");
  const { stopReason, error } = await running;
  assertEquals([stopReason, error], ["external_abort", "enough"]);
  assertEquals([model.requests.length, clock.pending], [1, 0]);
});

test("a failure under an abort is no reason for a retry", async () => {
  const waiting = block(fail(busy()), { ignoreAbort: true });
  const { agent, retries } = retrying([waiting]);
  const running = agent.run("t");
  await waiting.entered;
  agent.abort("enough");
  waiting.release();
  assertEquals((await running).stopReason, "external_abort");
  assertEquals(retries.length, 0);
});

test("an answer that broke off in sight is not tried again", async () => {
  const { agent, model, sink } = retrying([
    deltas(["he"], fail(busy("line cut"))),
  ]);
  assertEquals((await agent.run("t")).error, "line cut");
  assertEquals(textDeltas(sink.events), ["he"]);
  assertEquals(model.requests.length, 1);
});

test("a random share is drawn if none is given", async () => {
  const clock = new ManualClock();
  const delays: number[] = [];
  const { agent } = agentWith([fail(busy()), text("ok")], {
    middleware: [retryModel({
      clock,
      onRetry: ({ delayMs }) => {
        delays.push(delayMs);
        queueMicrotask(() => clock.advance(500));
      },
    })],
  });
  assertEquals((await agent.run("t")).output, "ok");
  assertEquals(delays.map((ms) => ms >= 0 && ms < 500), [true]);
});

test("wrong options are refused", () => {
  assertThrows(() => retryModel({ maxRetries: -1 }), RangeError);
  assertThrows(() => retryModel({ maxDelayMs: NaN }), RangeError);
  assertThrows(
    () => retryModel({ initialDelayMs: "1" as unknown as number }),
    TypeError,
  );
  assertThrows(
    () => retryModel(3 as RetryModelOptions),
    TypeError,
    "The options of retryModel() must be an object",
  );
  assertEquals(
    retryModel(null as unknown as RetryModelOptions).name,
    "retryModel",
  );
});

/** An agent whose retries wait on a clock that moves as soon as they do. */
function retrying(
  script: readonly ScriptStep[],
  options: RetryModelOptions = {},
) {
  const clock = new ManualClock();
  const retries: ModelRetry[] = [];
  const middleware = retryModel({
    clock,
    random: () => 0.5,
    onRetry(retry) {
      retries.push(retry);
      queueMicrotask(() => clock.advance(retry.delayMs));
    },
    ...options,
  });
  return { ...agentWith(script, { middleware: [middleware] }), retries };
}

test("an error is as retryable as its class unless it is told otherwise", () => {
  for (const Kind of [ModelRateLimitError, ModelTimeoutError]) {
    assertEquals(new Kind("x").retryable, true);
    assertEquals(new Kind("x", { retryable: undefined }).retryable, true);
    assertEquals(new Kind("x", { retryable: false }).retryable, false);
  }
});
