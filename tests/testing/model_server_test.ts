import { modelUsage } from "../../src/messages/usage.ts";
import type { ModelStreamEvent } from "../../src/model/adapter.ts";
import {
  ContextOverflowError,
  ModelAuthenticationError,
  ModelProviderError,
  ModelRateLimitError,
  ModelTimeoutError,
} from "../../src/model/errors.ts";
import { ManualClock } from "../../src/testing/manual_clock.ts";
import { modelServer } from "../../src/testing/model_server.ts";
import { ScriptError } from "../../src/testing/script.ts";
import { respond, sse } from "../../src/testing/server_steps.ts";
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
import { dataOf, deltasOf, plainBody, post, postStream } from "./wire.ts";

const usage = modelUsage({
  inputTokens: 10,
  outputTokens: 5,
  cacheReadTokens: 4,
  reasoningTokens: 2,
});
const wireUsage = {
  prompt_tokens: 10,
  completion_tokens: 5,
  total_tokens: 15,
  prompt_tokens_details: { cached_tokens: 4 },
  completion_tokens_details: { reasoning_tokens: 2 },
};
const opening = { role: "assistant", content: "" };

test("a whole answer comes as one JSON body", async () => {
  const clock = new ManualClock(7_000);
  const server = modelServer([
    deltas([thinking("hm")], calls(["list"], { content: "Look", usage })),
  ], { clock });
  const response = await post(server);
  assertEquals(response.status, 200);
  assertEquals(response.headers.get("content-type"), "application/json");
  assertEquals(await response.json(), {
    id: "chatcmpl-1",
    object: "chat.completion",
    created: 7,
    model: "m",
    choices: [{
      index: 0,
      message: {
        role: "assistant",
        content: "Look",
        reasoning_content: "hm",
        tool_calls: [
          {
            id: "c1",
            type: "function",
            function: { name: "list", arguments: "{}" },
          },
        ],
      },
      finish_reason: "tool_calls",
    }],
    usage: wireUsage,
  });
});

test("a streamed answer comes delta by delta", async () => {
  const server = modelServer([
    deltas([thinking("hm"), "Hel"], text("Hello", { usage })),
  ], { clock: new ManualClock() });
  const response = await postStream(server);
  assertEquals(
    response.headers.get("content-type"),
    "text/event-stream; charset=utf-8",
  );
  const [first, ...rest] = await dataOf(response);
  assertEquals(first, {
    id: "chatcmpl-1",
    object: "chat.completion.chunk",
    created: 0,
    model: "m",
    choices: [{ index: 0, delta: opening, finish_reason: null }],
  });
  assertEquals(rest.length, 5, "thinking, text, rest, finish, done");
});

test("calls come in fragments, usage only if it was asked for", async () => {
  const server = modelServer([
    calls([{ name: "read", arguments: { path: "é😀" } }, "list"], { usage }),
    calls(["list"], { usage }),
  ]);
  const withUsage = {
    ...plainBody,
    stream: true,
    stream_options: { include_usage: true },
  };
  const fragment = (index: number, args: string) => ({
    tool_calls: [{ index, function: { arguments: args } }],
  });
  const start = (index: number, id: string, name: string) => ({
    tool_calls: [
      { index, id, type: "function", function: { name, arguments: "" } },
    ],
  });
  assertEquals(await deltasOf(await post(server, withUsage)), [
    opening,
    start(0, "c1", "read"),
    fragment(0, '{"path"'),
    fragment(0, ':"é😀"}'),
    start(1, "c2", "list"),
    fragment(1, "{"),
    fragment(1, "}"),
    "tool_calls",
    { usage: wireUsage },
    "[DONE]",
  ]);
  assertEquals(await deltasOf(await postStream(server)), [
    opening,
    start(0, "c1", "list"),
    fragment(0, "{"),
    fragment(0, "}"),
    "tool_calls",
    "[DONE]",
  ]);
});

test("events without an answer end the stream without finish and [DONE]", async () => {
  const server = modelServer([events([thinking("hm")]), events([])]);
  assertEquals(await deltasOf(await postStream(server)), [
    opening,
    { reasoning_content: "hm" },
  ]);
  assertEquals(await deltasOf(await postStream(server)), [opening]);
});

test("a failure before the first event has the status that fits it", async () => {
  const cases: [unknown, number, string | null][] = [
    [new ModelRateLimitError("Slow down"), 429, "rate_limit_exceeded"],
    [new ModelAuthenticationError("No"), 401, "invalid_api_key"],
    [new ContextOverflowError("Too long"), 400, "context_length_exceeded"],
    [new ModelTimeoutError("Late"), 504, null],
    [new ModelProviderError("Odd", { status: 418 }), 418, null],
    [new ModelProviderError("Broken"), 500, null],
    ["just a text", 500, null],
  ];
  const server = modelServer(cases.map(([error]) => fail(error)));
  for (const [error, status, code] of cases) {
    const response = await postStream(server);
    const body = await response.json();
    assertEquals([response.status, body.error.code], [status, code]);
    assertEquals(
      body.error.message,
      error instanceof Error ? error.message : error,
    );
  }
  server.assertDone();
});

test("a limit says how long to wait", async () => {
  const server = modelServer([
    fail(new ModelRateLimitError("Slow down", { retryAfterMs: 1_500 })),
  ]);
  const { headers, body } = await post(server);
  await body?.cancel();
  assertEquals(headers.get("retry-after"), "2");
  assertEquals(headers.get("retry-after-ms"), "1500");
});

test("a later failure is an error event and ends the stream", async () => {
  const server = modelServer([
    deltas(["Hel"], fail(new ContextOverflowError("Too long"))),
  ]);
  assertEquals(await deltasOf(await postStream(server)), [
    opening,
    { content: "Hel" },
    {
      error: {
        message: "Too long",
        type: "invalid_request_error",
        param: null,
        code: "context_length_exceeded",
      },
    },
  ]);
});

test("a response can be given word by word", async () => {
  const server = modelServer([
    respond(429, {
      body: { error: { message: "Slow down" } },
      headers: { "retry-after": "2" },
    }),
    respond(502, {
      body: "<html>Bad gateway</html>",
      headers: { "content-type": "text/html" },
    }),
    sse([{ choices: null }, '{"choices":[{', "[DONE]"]),
    respond(200, { body: [new Uint8Array([0xf0, 0x9f]), "rest"] }),
  ]);
  const limited = await postStream(server);
  assertEquals([limited.status, limited.headers.get("retry-after")], [
    429,
    "2",
  ]);
  assertEquals(await limited.json(), { error: { message: "Slow down" } });

  const html = await postStream(server);
  assertEquals(html.headers.get("content-type"), "text/html");
  assertEquals(await html.text(), "<html>Bad gateway</html>");

  const broken = await postStream(server);
  assertEquals(broken.headers.get("content-type"), "text/event-stream");
  assertEquals(
    await broken.text(),
    'data: {"choices":null}\n\ndata: {"choices":[{\n\ndata: [DONE]\n\n',
  );
  assertEquals(
    new Uint8Array(await (await postStream(server)).arrayBuffer()).slice(0, 3),
    new Uint8Array([0xf0, 0x9f, 0x72]),
  );
});

test("requests are recorded, and steps may be made from them", async () => {
  const server = modelServer([
    ({ messages, tools, index }) =>
      text(`${index}: ${messages.at(-1)?.content}, ${tools.length} tools`),
  ]);
  const response = await post(server, plainBody, {
    headers: { authorization: "Bearer k" },
  });
  const { choices } = await response.json();
  assertEquals(choices[0].message.content, "0: Hello, 0 tools");
  assertEquals(server.requests as unknown, [plainBody]);
  assertEquals(server.headers[0]?.get("authorization"), "Bearer k");
});

test("requests at the same time are answered apart", async () => {
  const server = modelServer(async ({ index, messages }) => {
    await Promise.resolve();
    return text(`${index}: ${messages[0]?.content}`);
  });
  const answers = ["a", "b"].map(async (content) => {
    const messages = [{ role: "user", content }];
    return await (await post(server, { ...plainBody, messages })).json();
  });
  const seen = (await Promise.all(answers)).map(({ id, choices }) => [
    id,
    choices[0].message.content,
  ]);
  assertEquals(seen, [["chatcmpl-1", "0: a"], ["chatcmpl-2", "1: b"]]);
});

test("requests beyond the script and steps left over are reported", async () => {
  const server = modelServer([]);
  const response = await postStream(server);
  assertEquals(response.status, 400);
  assertEquals((await response.json()).error, {
    message: "Unexpected model request 1: the script has 0 steps",
    type: "invalid_request_error",
    param: null,
    code: "script_mismatch",
  });
  assertThrows(() => server.assertDone(), ScriptError, "Unexpected");

  const unused = modelServer([text("a")]);
  assertThrows(() => unused.assertDone(), ScriptError, "1 step of 1 left");
});

test("what is no script and no step is reported", async () => {
  assertThrows(() => modelServer(undefined as never), TypeError, "A script");
  assertThrows(
    () => modelServer([{ text: "Hello" } as never]),
    TypeError,
    "make one with text(), calls(), fail()",
  );
  const server = modelServer([() => ({ text: "Hello" }) as never]);
  const response = await postStream(server);
  assertEquals(response.status, 400);
  assertEquals((await response.json()).error.code, "script_mismatch");
  assertThrows(() => server.assertDone(), ScriptError, "no step");
});

test("a script that no stream can express is reported", async () => {
  const takenBack = modelServer([deltas(["No"], text("Yes"))]);
  await (await postStream(takenBack)).text();
  assertThrows(() => takenBack.assertDone(), ScriptError, "taken back");

  const strange = { kind: "surprise" } as unknown as ModelStreamEvent;
  const unknown = modelServer([events([strange])]);
  await (await postStream(unknown)).text();
  assertThrows(() => unknown.assertDone(), ScriptError, "surprise");

  const silent = modelServer([events([])]);
  assertEquals(
    (await (await post(silent)).json()).error.code,
    "script_mismatch",
  );
  assertThrows(() => silent.assertDone(), ScriptError, "without an answer");
});

test("what is no chat completions request is turned away", async () => {
  const server = modelServer([], { apiKey: "secret" });
  const get = await server.fetch("http://model.test/v1/models");
  assertEquals(get.status, 404);
  await get.body?.cancel();

  const headers = { authorization: "Bearer wrong" };
  const denied = await post(server, plainBody, { headers });
  assertEquals([denied.status, (await denied.json()).error.code], [
    401,
    "invalid_api_key",
  ]);

  const authorization = "Bearer secret";
  const garbled = await post(server, "{bad", { headers: { authorization } });
  assertEquals(garbled.status, 400);
  await garbled.body?.cancel();

  assertEquals(server.refusals, [
    "No such endpoint: GET /v1/models",
    "Incorrect API key provided",
    "body: must be a JSON object",
  ]);
  server.assertDone();
});

test("a strict server names the fault, a lenient one answers", async () => {
  const body = { ...plainBody, messages: [{ role: "assistant", content: "" }] };
  const strict = modelServer([text("fine")]);
  const refused = await post(strict, body);
  assertEquals(refused.status, 400);
  assertEquals(
    (await refused.json()).error.message,
    "messages[0]: an assistant message must have content or tool_calls",
  );
  assertEquals(strict.requests.length, 1);
  assertEquals((await post(strict)).status, 200, "the step is still there");

  const lenient = modelServer([text("fine")], { strict: false });
  assertEquals((await post(lenient, body)).status, 200);
});

test("a server that never answers lets go of an aborted request", async () => {
  const gate = block();
  const server = modelServer([gate]);
  const controller = new AbortController();
  const reason = new Error("enough");
  const pending = assertRejects(() =>
    postStream(server, { signal: controller.signal })
  );
  await gate.entered;
  assertEquals(server.openCount, 1);
  controller.abort(reason);
  assertStrictEquals(await pending, reason);
  assertEquals(server.openCount, 0);
  assertStrictEquals(
    await assertRejects(() =>
      postStream(server, { signal: controller.signal })
    ),
    reason,
  );
});

test("an abort errors the body of an answer that has begun", async () => {
  const controller = new AbortController();
  const server = modelServer([deltas(["Hel"], block())]);
  const response = await postStream(server, { signal: controller.signal });
  const reader = response.body!.getReader();
  await reader.read();
  await reader.read();
  const stalled = assertRejects(() => reader.read());
  const reason = new Error("enough");
  controller.abort(reason);
  assertStrictEquals(await stalled, reason);
  assertEquals(server.openCount, 0);
});

test("a reader that gives up ends the request", async () => {
  const gate = block();
  const server = modelServer([deltas(["Hel"], gate), text("whole")]);
  const response = await postStream(server);
  const reader = response.body!.getReader();
  await reader.read();
  await reader.read();
  const stalled = reader.read();
  await gate.entered;
  assertEquals(server.openCount, 1);
  await reader.cancel();
  assertEquals((await stalled).done, true);
  assertEquals(server.openCount, 0);

  await (await postStream(server)).text();
  assertEquals(server.openCount, 0);
});
