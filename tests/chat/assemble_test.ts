import fc from "fast-check";
import { AnswerAssembler } from "../../src/chat/assemble.ts";
import { completeCompat } from "../../src/chat/compat.ts";
import type { Operation } from "../../src/chat/errors.ts";
import type { ModelDelta } from "../../src/model/adapter.ts";
import { ModelProviderError } from "../../src/model/errors.ts";
import { requireCompleted, requireDelta } from "../../src/model/fold.ts";
import { countingIds, silentLogger } from "../../src/testing/ports.ts";
import { assert, assertEquals, assertInstanceOf } from "../support/assert.ts";
import { test } from "../support/suite.ts";
import {
  adapterKinds,
  ask,
  contextOf,
  readAll,
  type Reading,
  startedAdapter,
} from "./adapters.ts";
import { answering, bytesOf, chunk, eventsOf, watchedBody } from "./bodies.ts";

for (const { kind, make } of adapterKinds) {
  test(`an answer is put together out of its chunks, over ${kind}`, {
    case: "X-171",
  }, async () => {
    const call = (fragment: object, id?: string) => ({
      tool_calls: [{ index: 0, id, function: fragment }],
    });
    const body = watchedBody([bytesOf(eventsOf(
      chunk({ reasoning_content: "reason ", reasoning: "reason " }),
      chunk({ reasoning_text: "carefully", content: "Hello " }),
      chunk({ content: "world" }),
      chunk(call({ name: "fin", arguments: '{"sum' }, "call-1")),
      chunk(call({ name: "ish", arguments: 'mary":"ok"}' })),
      chunk({}, "tool_calls"),
      { choices: [] },
    ))]);
    const adapter = make({
      fetch: () => Promise.resolve(new Response(body.stream)),
    });
    await adapter.startup();
    const { deltas, completed } = await ask(adapter);
    assertEquals(deltas, [
      { kind: "thinking_delta", delta: "reason " },
      { kind: "thinking_delta", delta: "carefully" },
      { kind: "text_delta", delta: "Hello " },
      { kind: "text_delta", delta: "world" },
    ]);
    assertEquals(completed, {
      kind: "completed",
      message: {
        content: "Hello world",
        toolCalls: [{
          id: "call-1",
          name: "finish",
          arguments: '{"summary":"ok"}',
        }],
      },
      usage: null,
      finishReason: "tool_calls",
    });
    assertEquals(body.ended, "read");
  });
}

test(
  "thinking comes before the text of the same chunk",
  { case: "X-192" },
  async () => {
    const { deltas } = await reading(
      chunk({ content: "A", reasoning_content: "R" }, "stop"),
    );
    assertEquals(deltas, [
      { kind: "thinking_delta", delta: "R" },
      { kind: "text_delta", delta: "A" },
    ]);
  },
);

test("a refusal is text", async () => {
  const { completed } = await reading(
    chunk({ refusal: "I will not" }),
    chunk({}, "stop"),
  );
  assertEquals(completed?.message.content, "I will not");
});

test("a stream without a finish reason is no answer", {
  case: ["X-173", "B29"],
}, async () => {
  const begun = `data: ${JSON.stringify(chunk({ content: "Hel" }))}\n\n`;
  const call = {
    index: 0,
    id: "a",
    function: { name: "f", arguments: '{"a":1}' },
  };
  const inCall = `data: ${JSON.stringify(chunk({ tool_calls: [call] }))}\n\n`;
  for (const text of [begun, inCall]) {
    const body = watchedBody([bytesOf(text)]);
    const { completed, error } = await readingOf(new Response(body.stream));
    assertInstanceOf(error, ModelProviderError);
    assert(/incomplete.*finish reason/.test(error.message), error.message);
    assertEquals([error.kind, error.retryable, completed], [
      "provider_error",
      true,
      undefined,
    ]);
    assertEquals(body.ended, "read");
  }
  const { error } = await reading(chunk({ content: "Hi" }));
  assertInstanceOf(error, ModelProviderError);
  assertEquals(error.retryable, false);
  assert(error.message.includes("finish reason"));
});

test("a server that never sends a finish reason can be accepted", async () => {
  const text = eventsOf(chunk({ content: "Hi" }));
  const accepting = { compat: { acceptMissingFinish: true } };
  const done = await ask(
    await startedAdapter({ fetch: answering(text), ...accepting }),
  );
  assertEquals(done.completed?.message.content, "Hi");
  assertEquals(done.completed?.finishReason, null);
  const cut = text.replace("data: [DONE]\n\n", "");
  const broken = await ask(
    await startedAdapter({ fetch: answering(cut), ...accepting }),
  );
  assertInstanceOf(broken.error, ModelProviderError);
});

test(
  "finish reasons are passed on, in the words of OpenAI",
  { case: "X-184" },
  async () => {
    const call = {
      index: 0,
      id: "a",
      function: { name: "f", arguments: "{}" },
    };
    const finishes: readonly (readonly [object, string, string])[] = [
      [{ content: "cut of" }, "length", "length"],
      [{}, "content_filter", "content_filter"],
      [{ tool_calls: [call] }, "length", "length"],
      [{ tool_calls: [call] }, "stop", "stop"],
      [{}, "tool_calls", "tool_calls"],
      [{ function_call: call.function }, "function_call", "tool_calls"],
      // Servers of other makers for an answer that was cut off.
      [{ tool_calls: [call] }, "model_length", "length"],
      [{ tool_calls: [call] }, "max_tokens", "length"],
      [{ tool_calls: [call] }, "MAX_TOKENS", "length"],
      [{ tool_calls: [call] }, "max_output_tokens", "length"],
      [{}, "constructor", "constructor"],
    ];
    for (const [delta, sent, expected] of finishes) {
      const { completed } = await reading(chunk(delta, sent));
      assertEquals(completed?.finishReason, expected);
      const calls = "tool_calls" in delta || "function_call" in delta ? 1 : 0;
      assertEquals(completed?.message.toolCalls.length, calls);
    }
  },
);

test(
  "without a stream, the first choice is the answer",
  { case: "X-183" },
  async () => {
    const text = {
      id: "t1",
      type: "custom",
      custom: { name: "x", input: "y" },
    };
    const call = {
      id: "c1",
      type: "function",
      function: { name: "f", arguments: '{"a":1}' },
    };
    const answer = {
      choices: [
        {
          index: 0,
          message: {
            role: "assistant",
            content: "Hi",
            tool_calls: [text, call],
          },
          finish_reason: "tool_calls",
        },
        { index: 1, message: { content: "no" }, finish_reason: "stop" },
      ],
      usage: { prompt_tokens: 3, completion_tokens: 1 },
    };
    for (const { make } of adapterKinds) {
      const adapter = make({
        fetch: () => Promise.resolve(Response.json(answer)),
      });
      await adapter.startup();
      const signal = new AbortController().signal;
      const { message, usage, finishReason } = await adapter.complete(
        contextOf(),
        { signal },
      );
      assertEquals(message, {
        content: "Hi",
        toolCalls: [{ id: "c1", name: "f", arguments: '{"a":1}' }],
      });
      assertEquals([usage?.inputTokens, usage?.outputTokens, finishReason], [
        3,
        1,
        "tool_calls",
      ]);
    }
  },
);

test("an answer without choices is an error", { case: "X-183" }, async () => {
  for (const answer of [{ choices: [] }, { choices: null }, {}]) {
    const adapter = await startedAdapter({
      fetch: () => Promise.resolve(Response.json(answer)),
    });
    const error = await adapter.complete(contextOf(), {
      signal: new AbortController().signal,
    })
      .then(() => undefined, (thrown) => thrown);
    assertInstanceOf(error, ModelProviderError);
    assert(error.message.includes("choices"), error.message);
  }
});

test("a server that says why it does not answer is quoted", async () => {
  const remarks: readonly (readonly [object, string, number | undefined])[] = [
    [{ detail: "Not Found" }, "failed: Not Found", undefined],
    [
      { message: "no such model", status: 404 },
      "failed with status 404: no such model; check that",
      404,
    ],
    [
      { success: false, errors: [{ code: 7, message: "Auth error" }] },
      "failed: Auth error",
      undefined,
    ],
  ];
  for (const [remark, message, status] of remarks) {
    const bodies = [
      JSON.stringify(remark),
      eventsOf(remark),
      eventsOf(chunk({ content: "Hel" }), remark),
      `event: error\ndata: ${JSON.stringify(remark)}\n\n`,
    ];
    for (const body of bodies) {
      const adapter = await startedAdapter({ fetch: answering(body) });
      const { error } = await ask(adapter);
      assertInstanceOf(error, ModelProviderError);
      assert(error.message.includes(message), error.message);
      assertEquals([error.status, error.retryable], [status, false]);
    }
  }
  const { error } = await reading(
    { message: "queued" },
    chunk({ content: "Hi" }, "stop"),
    { message: "bye" },
  );
  assertEquals(error, undefined);
});

test("a document in place of a stream may lack a finish reason", async () => {
  const answer = { choices: [{ message: { content: "Hi" } }] };
  const { deltas, completed } = await readingOf(Response.json(answer));
  assertEquals(deltas, [{ kind: "text_delta", delta: "Hi" }]);
  assertEquals(completed?.message.content, "Hi");
});

test("a whole message behind its deltas does not count twice", async () => {
  const { completed } = await reading(
    chunk({ content: "Hi" }),
    {
      choices: [{
        index: 0,
        message: { content: "Hi" },
        finish_reason: "stop",
      }],
    },
  );
  assertEquals(completed?.message.content, "Hi");
});

test("a think block is split off on request, wherever it is cut", {
  case: "B38",
}, async () => {
  const text = "\n<think>hm < </thin> </think>\n\nHi <think>no</think>";
  for (let size = 1; size <= text.length; size++) {
    const pieces: string[] = [];
    for (let from = 0; from < text.length; from += size) {
      pieces.push(text.slice(from, from + size));
    }
    const { thinking, content } = await thought(...pieces);
    assertEquals([thinking, content], [
      "hm < </thin> ",
      "Hi <think>no</think>",
    ]);
  }
});

test(
  "what only looks like a think block is text",
  { case: "B38" },
  async () => {
    assertEquals(await thought("Hi <think>x</think>"), {
      thinking: "",
      content: "Hi <think>x</think>",
    });
    assertEquals(await thought("<thin", "g> x"), {
      thinking: "",
      content: "<thing> x",
    });
    assertEquals(await thought("<th"), { thinking: "", content: "<th" });
    assertEquals(await thought(" ".repeat(100), "<think>x"), {
      thinking: "",
      content: `${" ".repeat(100)}<think>x`,
    });
    assertEquals(await thought("<think>never", " closed</th"), {
      thinking: "never closed</th",
      content: null,
    });
  },
);

test("thinking alone is an empty answer", { case: "B39" }, async () => {
  const { completed } = await reading(
    chunk({ reasoning_content: "hm" }),
    chunk({}, "stop"),
  );
  assertEquals(completed?.message, { content: null, toolCalls: [] });
});

test("assembly throws nothing but provider errors, whatever the chunks hold", () => {
  fc.assert(
    fc.property(
      fc.array(chunks, { maxLength: 6 }),
      fc.boolean(),
      (list, isDocument) => {
        const answer = new AnswerAssembler({
          operation,
          compat: completeCompat("", {
            thinkTags: true,
            reasoningReplay: true,
          }),
          ids: countingIds(),
          logger: silentLogger,
          now: 0,
        });
        const deltas: ModelDelta[] = [];
        try {
          for (const each of list) answer.push(each, deltas);
          answer.flush(deltas);
          requireCompleted(answer.completed({ done: true, isDocument }));
        } catch (error) {
          assertInstanceOf(error, ModelProviderError);
        }
        for (const delta of deltas) requireDelta(delta);
      },
    ),
    { seed: 3, numRuns: 1000 },
  );
});

test("a hundred thousand pieces of a call take time in proportion", {
  case: "B73",
}, async () => {
  const count = 100_000;
  const call = (id: string, text: string) => {
    const entry = { index: 0, id, function: { name: "f", arguments: text } };
    return `data: ${JSON.stringify(chunk({ tool_calls: [entry] }))}\n\n`;
  };
  // Each piece repeats the name and brings another id and a brace, which all beg to look back.
  const piece = call("b", "}").replace('"name":"f",', "");
  const begun = call("a", '{"t":"') +
    (piece + call("a", "}")).repeat(count / 2);
  const { completed } = await readingOf(
    new Response(begun + call("a", '"}') + eventsOf(chunk({}, "tool_calls"))),
  );
  const text = `{"t":"${"}".repeat(count)}"}`;
  assertEquals(completed!.message.toolCalls, [{
    id: "a",
    name: "f",
    arguments: text,
  }]);
});

test("a hundred thousand pieces of a text take time in proportion", {
  case: "B73",
}, async () => {
  const count = 100_000;
  const piece = `data: ${
    JSON.stringify(chunk({ content: "x", reasoning: "y" }))
  }\n\n`;
  const bytes = bytesOf(piece.repeat(count) + eventsOf(chunk({}, "stop")));
  const { deltas, completed } = await readingOf(new Response(bytes));
  assertEquals(deltas.length, 2 * count);
  assertEquals(completed?.message.content?.length, count);
});

const junk = fc.oneof(
  fc.constantFrom(null, undefined, 0, -1, "", "x", true, [], {}, [null], [[]], {
    index: 0,
  }),
  fc.string({ maxLength: 3 }),
);
const fragments = fc.record({
  index: fc.oneof(fc.nat(2), junk),
  id: fc.oneof(fc.constantFrom("a", "b", ""), junk),
  type: fc.oneof(fc.constantFrom("function", "custom"), junk),
  function: fc.oneof(
    fc.record({
      name: fc.oneof(fc.constantFrom("f", "fg", ""), junk),
      arguments: fc.oneof(
        fc.constantFrom("{}", '{"x":1}', '{"x":', "1}"),
        junk,
      ),
    }, { requiredKeys: [] }),
    junk,
  ),
  extra_content: junk,
}, { requiredKeys: [] });
const deltas = fc.record({
  content: fc.oneof(
    fc.constantFrom("Hi", "<think>", [{ type: "text", text: "p" }], [{
      type: "thinking",
    }]),
    junk,
  ),
  refusal: junk,
  reasoning_content: junk,
  reasoning_details: fc.oneof(
    fc.array(
      fc.oneof(fc.record({ type: junk, text: junk, summary: junk }), junk),
    ),
    junk,
  ),
  tool_calls: fc.oneof(
    fc.array(fc.oneof(fragments, junk), { maxLength: 3 }),
    junk,
  ),
  function_call: junk,
}, { requiredKeys: [] });
const choices = fc.record({
  index: fc.oneof(fc.nat(1), junk),
  delta: fc.oneof(deltas, junk),
  message: fc.oneof(deltas, junk),
  finish_reason: fc.oneof(fc.constantFrom("stop", "tool_calls", "error"), junk),
  usage: junk,
}, { requiredKeys: [] });
const chunks = fc.oneof(
  fc.record({
    choices: fc.oneof(
      fc.array(fc.oneof(choices, junk), { maxLength: 2 }),
      junk,
    ),
    usage: fc.oneof(
      fc.record({
        prompt_tokens: junk,
        completion_tokens: junk,
        prompt_tokens_details: junk,
      }),
      junk,
    ),
    error: fc.oneof({ weight: 9, arbitrary: fc.constant(null) }, {
      weight: 1,
      arbitrary: junk,
    }),
  }, { requiredKeys: [] }),
  junk,
);

const operation: Operation = {
  name: "Chat completion stream",
  baseUrl: "http://model.test/v1",
  model: "m",
  timeoutMs: 1,
  secrets: [],
  emptyBodyMeansOverflow: false,
};

async function thought(...pieces: readonly string[]) {
  const text = eventsOf(
    ...pieces.map((content) => chunk({ content })),
    chunk({}, "stop"),
  );
  const adapter = await startedAdapter({
    fetch: answering(text),
    compat: { thinkTags: true },
  });
  const { deltas, completed } = await ask(adapter);
  const thinking = deltas.flatMap(({ kind, delta }) =>
    kind === "thinking_delta" ? [delta] : []
  );
  return { thinking: thinking.join(""), content: completed!.message.content };
}

function reading(...list: readonly unknown[]): Promise<Reading> {
  return readingOf(new Response(eventsOf(...list)));
}

async function readingOf(response: Response): Promise<Reading> {
  const adapter = await startedAdapter({
    fetch: () => Promise.resolve(response),
  });
  return await readAll(
    adapter.stream(contextOf(), { signal: new AbortController().signal }),
  );
}
