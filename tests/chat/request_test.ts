import type { AgentMessage } from "../../src/messages/message.ts";
import {
  assistantMessage,
  systemMessage,
  toAgentMessage,
  toolMessage,
  userMessage,
} from "../../src/messages/message.ts";
import type { OpenAIFunctionTool } from "../../src/messages/tool.ts";
import type { ModelOptions } from "../../src/model/adapter.ts";
import { RecordingLogger } from "../../src/testing/ports.ts";
import { ToolDefinition } from "../../src/tools/definition.ts";
import {
  assert,
  assertEquals,
  assertInstanceOf,
  assertMatch,
} from "../support/assert.ts";
import { test } from "../support/suite.ts";
import {
  adapterKinds,
  type AdapterWishes,
  contextOf,
  readAll,
  secretKey,
  startedAdapter,
} from "./adapters.ts";
import {
  answering,
  chunk,
  eventsOf,
  playing,
  type RecordedRequest,
} from "./bodies.ts";

const hi = eventsOf(chunk({ content: "Hi" }, "stop"));
const echo: OpenAIFunctionTool = {
  type: "function",
  function: {
    name: "echo",
    description: "Says it again",
    parameters: { type: "object" },
  },
};

test(
  "a request has exactly the members that it needs",
  { case: "X-170" },
  async () => {
    const plain = await sent({ config: { temperature: 0.7 } });
    assertEquals(Object.keys(plain.body).sort(), [
      "messages",
      "model",
      "stream",
      "stream_options",
      "temperature",
    ]);
    assertEquals(plain.body.stream_options, { include_usage: true });

    const withTools = await sent({}, { tools: [echo] });
    assertEquals(withTools.body.tools, [echo]);

    const without = await sent({ config: { includeUsage: false } });
    assertEquals(Object.keys(without.body).sort(), [
      "messages",
      "model",
      "stream",
    ]);
  },
);

test(
  "temperature is sent only if somebody set it",
  { case: "B48" },
  async () => {
    assert(!("temperature" in (await sent({})).body));
    const byRequest = await sent({}, { options: { temperature: 0 } });
    assertEquals(byRequest.body.temperature, 0);
    const takenBack = await sent({ config: { temperature: 1 } }, {
      options: { temperature: null },
    });
    assert(!("temperature" in takenBack.body));
  },
);

test(
  "no output limit is made from the context window",
  { case: "B46" },
  async () => {
    const { body } = await sent({ compat: { contextWindow: 262_144 } });
    assertEquals(Object.keys(body).sort(), [
      "messages",
      "model",
      "stream",
      "stream_options",
    ]);
  },
);

for (const { kind, make } of adapterKinds) {
  test(
    `the same request goes out over ${kind}`,
    { case: "X-170" },
    async () => {
      const { fetch, requests } = playing(() => new Response(hi));
      const adapter = make({
        fetch,
        config: { baseUrl: "http://model.test/v1/?version=2" },
      });
      await adapter.startup();
      await readAll(
        adapter.stream(contextOf([userMessage("Grüße")], [echo]), callOf()),
      );
      const [request] = requests;
      assertEquals(
        request!.url,
        "http://model.test/v1/chat/completions?version=2",
      );
      assertEquals(
        request!.headers.get("authorization"),
        `Bearer ${secretKey}`,
      );
      assertEquals(request!.headers.get("content-type"), "application/json");
      assertEquals(request!.headers.get("accept"), "text/event-stream");
      assertEquals(request!.body, {
        messages: [{ role: "user", content: "Grüße" }],
        model: "m",
        stream: true,
        stream_options: { include_usage: true },
        tools: [echo],
      });
    },
  );
}

test("the address of the endpoint itself is understood too", async () => {
  const config = { baseUrl: "http://model.test/v1/chat/completions" };
  assertEquals(
    (await sent({ config })).url,
    "http://model.test/v1/chat/completions",
  );
});

test("headers can be added and replaced", async () => {
  const headers = { "X-Title": "probe", Authorization: "Basic abc" };
  const request = await sent({ headers });
  assertEquals(request.headers.get("x-title"), "probe");
  assertEquals(request.headers.get("authorization"), "Basic abc");
});

test("known options are sent, unknown ones are not", async () => {
  const options: ModelOptions = {
    topP: 0.5,
    max_tokens: 10,
    reasoningEffort: "low",
    toolChoice: "auto",
    unheardOf: 1,
    seed: null,
    extra_body: { enable_thinking: false, messages: [], stream: false },
  };
  const { body } = await sent({}, { options, tools: [echo] });
  assertEquals(body.top_p, 0.5);
  assertEquals(body.max_tokens, 10);
  assertEquals(body.reasoning_effort, "low");
  assertEquals(body.tool_choice, "auto");
  assertEquals(body.enable_thinking, false);
  assertEquals(body.stream, true);
  assertEquals((body.messages as unknown[]).length, 1);
  for (const name of ["unheardOf", "seed", "topP", "extra_body"]) {
    assert(!(name in body), name);
  }
});

test("an option that no body can hold is named", async () => {
  const cyclic: Record<string, unknown> = {};
  cyclic.self = cyclic;
  const wrong: readonly (readonly [object, string])[] = [
    [{ extra_body: "x" }, "extra_body must be an object"],
    [{ extraBody: [1] }, "extra_body must be an object"],
    [{ seed: 1n }, "The model option seed holds what JSON cannot express"],
    [{ top_p: 1, stop: [1n] }, "The model option stop holds"],
    [{ extra_body: { deep: cyclic } }, "The model option deep holds"],
  ];
  const { signal } = new AbortController();
  for (const [options, message] of wrong) {
    const { fetch, requests } = playing(() => new Response(hi));
    const adapter = await startedAdapter({ fetch });
    const { error } = await readAll(
      adapter.stream(contextOf(), { signal, options: options as ModelOptions }),
    );
    assertInstanceOf(error, TypeError);
    assert(error.message.startsWith(message), error.message);
    assertEquals(requests.length, 0);
  }
});

test("the operator is told once of an option that is not sent", async () => {
  const logger = new RecordingLogger();
  const fetch = () => Promise.resolve(new Response(hi));
  const adapter = await startedAdapter({ fetch, logger });
  const { signal } = new AbortController();
  const options = { topP: 0.5, extraBody: { x: 1 }, unheardOf: 1, top_k: 3 };
  for (let request = 0; request < 2; request += 1) {
    await readAll(adapter.stream(contextOf(), { signal, options }));
  }
  assertEquals(
    logger.warnings.map(({ message }) => message),
    ["unheardOf", "top_k"].map((name) =>
      `The model option "${name}" is unknown and not sent; ` +
      "put what only this server knows into extra_body"
    ),
  );
});

test("options about tools need tools", async () => {
  const options = { tool_choice: "auto", parallel_tool_calls: false };
  const { body } = await sent({}, { options });
  assert(!("tool_choice" in body) && !("parallel_tool_calls" in body));
});

test("only canonical keys of each role are sent", async () => {
  const messages = [
    { role: "system", content: "S", name: "custom" },
    { role: "user", content: [{ type: "text", text: "U" }], _ejagent_note: 1 },
    {
      role: "assistant",
      content: "A",
      usage: { input_tokens: 1 },
      tool_calls: [{
        id: "c",
        type: "function",
        function: { name: "f", arguments: "{}" },
        x: 1,
      }],
    },
    {
      role: "tool",
      tool_call_id: "c",
      content: "T",
      name: "f",
      is_error: false,
    },
    { role: "assistant", content: "B", tool_calls: [] },
  ] as unknown as AgentMessage[];
  const { body } = await sent({}, { messages });
  assertEquals(body.messages, [
    { role: "system", content: "S" },
    { role: "user", content: [{ type: "text", text: "U" }] },
    {
      role: "assistant",
      content: "A",
      tool_calls: [{
        id: "c",
        type: "function",
        function: { name: "f", arguments: "{}" },
      }],
    },
    { role: "tool", tool_call_id: "c", content: "T" },
    { role: "assistant", content: "B" },
  ]);
});

test(
  "an answer without text is sent as the server wants it",
  { case: "B14" },
  async () => {
    const messages = [
      userMessage("go"),
      answerWith("c1"),
      toolMessage("c1", "done"),
    ];
    const contentFor = async (
      emptyAssistantContent: "null" | "empty" | "omit",
    ) => {
      const { body } = await sent({ compat: { emptyAssistantContent } }, {
        messages,
      });
      return (body.messages as Record<string, unknown>[])[1];
    };
    const calls = [{
      id: "c1",
      type: "function",
      function: { name: "echo", arguments: "{}" },
    }];
    assertEquals(await contentFor("null"), {
      role: "assistant",
      content: null,
      tool_calls: calls,
    });
    assertEquals(await contentFor("empty"), {
      role: "assistant",
      content: "",
      tool_calls: calls,
    });
    assertEquals(await contentFor("omit"), {
      role: "assistant",
      tool_calls: calls,
    });
    assertEquals((await sent({}, { messages })).body.messages, [
      { role: "user", content: "go" },
      { role: "assistant", content: null, tool_calls: calls },
      { role: "tool", tool_call_id: "c1", content: "done" },
    ]);
  },
);

test("ids get nine letters and digits where the server wants that", {
  case: "B11",
}, async () => {
  const messages = [
    userMessage("go"),
    answerWith("call_abcdefghijklmnop", "toolu-1"),
    toolMessage("call_abcdefghijklmnop", "one"),
    toolMessage("toolu-1", "two"),
    answerWith("call00000"),
    toolMessage("call00000", "three"),
  ];
  const before = JSON.stringify(messages);
  const idsOf = async () => {
    const compat = { toolCallIds: "alnum9" as const };
    const wire = (await sent({ compat }, { messages })).body.messages;
    return (wire as WireMessage[]).flatMap((message) => [
      ...(message.tool_calls ?? []).map(({ id }) => id),
      ...(message.tool_call_id === undefined ? [] : [message.tool_call_id]),
    ]);
  };
  const ids = await idsOf();
  const [a, b, , , c] = ids;
  assertEquals(ids, [a, b, a, b, c, c]);
  assertEquals(new Set(ids).size, 3);
  for (const id of ids) assertMatch(id, /^[A-Za-z0-9]{9}$/);
  assertEquals(await idsOf(), ids);
  assertEquals(JSON.stringify(messages), before);
});

test("Mistral gets such ids without being asked", { case: "B11" }, async () => {
  const messages = [
    userMessage("go"),
    answerWith("call_abc"),
    toolMessage("call_abc", "x"),
  ];
  const { body } = await sent({
    config: { baseUrl: "https://api.mistral.ai/v1" },
  }, { messages });
  const [, , result] = body.messages as Record<string, string>[];
  assert(/^[A-Za-z0-9]{9}$/.test(result!.tool_call_id!));
});

test("empty arguments of a streamed call go back as an empty object", {
  case: "B15",
}, async () => {
  const call = { index: 0, id: "a", function: { name: "now", arguments: "" } };
  const adapter = await startedAdapter({
    fetch: answering(eventsOf(chunk({ tool_calls: [call] }, "tool_calls"))),
  });
  const { completed } = await readAll(adapter.stream(contextOf(), callOf()));
  const { body } = await sent({}, {
    messages: [toAgentMessage(completed!.message)],
  });
  const [message] = body.messages as { tool_calls: { function: unknown }[] }[];
  assertEquals(message!.tool_calls[0]!.function, {
    name: "now",
    arguments: "{}",
  });
});

test("halves of surrogate pairs are replaced in everything that is sent", async () => {
  const half = "\ud83c";
  const messages = [
    systemMessage(`a${half}`),
    userMessage([{ type: "text", text: `${half}\udf0d ${half}${half}` }]),
    userMessage(String.raw`no escapes: \ud83c \\ud83c`),
  ];
  const tool: OpenAIFunctionTool = {
    type: "function",
    function: { name: "echo", description: `d${half}` },
  };
  const { body } = await sent({}, {
    messages,
    tools: [tool],
    options: { user: `u${half}` },
  });
  assertEquals(body.messages, [
    { role: "system", content: "a\ufffd" },
    {
      role: "user",
      content: [{ type: "text", text: "\u{1f30d} \ufffd\ufffd" }],
    },
    { role: "user", content: String.raw`no escapes: \ud83c \\ud83c` },
  ]);
  assertEquals(body.user, "u\ufffd");
  assertEquals(
    (body.tools as OpenAIFunctionTool[])[0]!.function.description,
    "d\ufffd",
  );
});

test("without streaming, the stream's own members are left out", {
  case: "X-170",
}, async () => {
  const { fetch, requests } = playing(() =>
    Response.json({
      choices: [{ message: { content: "Hi" }, finish_reason: "stop" }],
    })
  );
  const adapter = await startedAdapter({ fetch });
  await adapter.complete(contextOf(), callOf());
  assertEquals(requests[0]!.body, {
    messages: [{ role: "user", content: "Hello" }],
    model: "m",
  });
  assertEquals(requests[0]!.headers.get("accept"), "application/json");
});

interface WireMessage {
  readonly tool_calls?: readonly { readonly id: string }[];
  readonly tool_call_id?: string;
}

interface Asked {
  readonly definitions?: readonly ToolDefinition[];
  readonly messages?: readonly AgentMessage[];
  readonly tools?: readonly OpenAIFunctionTool[];
  readonly options?: ModelOptions;
}

/** What a server gets for one streamed request. */
test("the definitions of tools are sent, not a stale view of them", {
  case: "TL-172",
}, async () => {
  const strict = new ToolDefinition({ name: "lookup", strict: true });
  const canonical = await sent({}, { tools: [echo], definitions: [strict] });
  assertEquals(canonical.body.tools, [
    { type: "function", function: { name: "lookup", strict: true } },
  ]);
  assertEquals((await sent({}, { tools: [echo] })).body.tools, [echo]);
  assertEquals("tools" in (await sent({})).body, false);
});

async function sent(
  wishes: Partial<AdapterWishes>,
  asked: Asked = {},
): Promise<RecordedRequest> {
  const { fetch, requests } = playing(() => new Response(hi));
  const adapter = await startedAdapter({ ...wishes, fetch });
  const context = {
    ...contextOf(asked.messages, asked.tools),
    toolDefinitions: asked.definitions ?? [],
  };
  const { error } = await readAll(
    adapter.stream(context, callOf(asked.options)),
  );
  assertEquals(error, undefined);
  return requests[0]!;
}

function callOf(options: ModelOptions = {}) {
  return { signal: new AbortController().signal, options };
}

function answerWith(...ids: readonly string[]): AgentMessage {
  return toAgentMessage(
    assistantMessage(
      null,
      ids.map((id) => ({ id, name: "echo", arguments: "{}" })),
    ),
  );
}
