import { findRequestFault } from "../../src/testing/wire_rules.ts";
import { assertEquals } from "../support/assert.ts";
import { test } from "../support/suite.ts";

const user = { role: "user", content: "Hello" };
const done = { role: "assistant", content: "Done" };

function asking(...ids: string[]): object {
  return {
    role: "assistant",
    content: null,
    tool_calls: ids.map((id) => ({
      id,
      type: "function",
      function: { name: "read", arguments: "{}" },
    })),
  };
}

function answering(id: string): object {
  return { role: "tool", tool_call_id: id, content: "result" };
}

function faultOf(messages: unknown, members: object = {}): string | null {
  return findRequestFault({ model: "m", messages, ...members });
}

const tool = {
  type: "function",
  function: { name: "read", parameters: { type: "object", properties: {} } },
};

test("what providers accept has no fault", () => {
  const fine: [unknown[], object?][] = [
    [[user]],
    [[{ role: "system", content: "Be kind" }, user, done, user]],
    [[user, asking("a", "b"), answering("b"), answering("a"), done]],
    [[user, { ...asking("a"), content: "" }, answering("a")]],
    [[user, { ...asking("a"), content: "Look" }, answering("a")]],
    [[{ role: "user", content: [{ type: "text", text: "Hi" }] }]],
    [[user], { stream: true, stream_options: { include_usage: true } }],
    [[user], { tools: [tool], tool_choice: "auto", temperature: 0 }],
    [[{ role: "user", content: "😀" }]],
  ];
  for (const [messages, members] of fine) {
    assertEquals(faultOf(messages, members), null);
  }
});

const refused: [string, unknown, object, string][] = [
  ["no model", [user], { model: "" }, "model: must name a model"],
  ["no messages", [], {}, "messages: must hold at least one message"],
  ["no object", ["x"], {}, "messages[0]: must be an object"],
  [
    "an unknown role",
    [{ role: "robot", content: "x" }],
    {},
    'messages[0]: has the unknown role "robot"',
  ],
  [
    "an unknown key",
    [user, { ...done, _ejagent_provider: {} }],
    {},
    'messages[1]: the key "_ejagent_provider" is not known here',
  ],
  [
    "usage in a message",
    [user, { ...done, usage: {} }],
    {},
    'messages[1]: the key "usage" is not known here',
  ],
  [
    "an unknown key in a call",
    [user, {
      role: "assistant",
      content: null,
      tool_calls: [{
        id: "a",
        type: "function",
        function: { name: "read", arguments: "{}" },
        extra_content: {},
      }],
    }],
    {},
    'messages[1].tool_calls[0]: the key "extra_content" is not known here',
  ],
  [
    "an unanswered call",
    [user, asking("a", "b"), answering("a"), user],
    {},
    'messages[3]: a tool message must answer "b" first',
  ],
  [
    "an unanswered call at the end",
    [user, asking("a")],
    {},
    'messages[2]: a tool message must answer "a" first',
  ],
  [
    "an answer without a call",
    [user, done, answering("a")],
    {},
    'messages[2]: answers "a", which is no open call of the assistant message before it',
  ],
  [
    "a second answer",
    [user, asking("a"), answering("a"), answering("a")],
    {},
    'messages[3]: answers "a", which is no open call of the assistant message before it',
  ],
  [
    "a call id twice in one message",
    [user, asking("a", "a"), answering("a"), answering("a")],
    {},
    'messages[1].tool_calls[1]: the id "a" occurs twice',
  ],
  [
    "a call id twice in the conversation",
    [user, asking("a"), answering("a"), asking("a"), answering("a")],
    {},
    'messages[3].tool_calls[0]: the id "a" occurs twice',
  ],
  [
    "a call without an id",
    [user, asking("")],
    {},
    "messages[1].tool_calls[0]: must have an id",
  ],
  [
    "an empty assistant message",
    [user, { role: "assistant", content: null }],
    {},
    "messages[1]: an assistant message must have content or tool_calls",
  ],
  [
    "an empty list of calls",
    [user, { role: "assistant", content: "x", tool_calls: [] }],
    {},
    "messages[1]: tool_calls must be left out or hold a call",
  ],
  [
    "arguments that are no string",
    [user, {
      role: "assistant",
      tool_calls: [
        { id: "a", type: "function", function: { name: "f", arguments: {} } },
      ],
    }],
    {},
    "messages[1].tool_calls[0]: arguments must be a string",
  ],
  [
    "a bad tool name in a call",
    [user, {
      role: "assistant",
      tool_calls: [
        { id: "a", type: "function", function: { name: "a b", arguments: "" } },
      ],
    }],
    {},
    'messages[1].tool_calls[0]: the name "a b" does not match /^[a-zA-Z0-9_-]{1,64}$/',
  ],
  [
    "a tool message whose content is no string",
    [user, asking("a"), { ...answering("a"), content: { ok: true } }],
    {},
    "messages[2]: the content of a tool message must be a string",
  ],
  [
    "user content that is nothing",
    [{ role: "user", content: null }],
    {},
    "messages[0]: content must be a string or a list of parts",
  ],
  [
    "an unknown part",
    [{ role: "user", content: [{ type: "video", video: {} }] }],
    {},
    "messages[0].content[0]: type must be one of text, image_url, input_audio, file",
  ],
  [
    "a part without its member",
    [{ role: "user", content: [{ type: "image_url" }] }],
    {},
    "messages[0].content[0]: must have a member image_url",
  ],
  [
    "half a surrogate pair",
    [user, done, { role: "user", content: "bad \ud83d" }],
    {},
    "messages[2].content: half of a surrogate pair is no valid text",
  ],
  [
    "half a surrogate pair in a tool",
    [user],
    {
      tools: [{
        ...tool,
        function: { ...tool.function, description: "\udc00" },
      }],
    },
    "tools[0].function.description: half of a surrogate pair is no valid text",
  ],
  [
    "an empty list of tools",
    [user],
    { tools: [] },
    "tools: must be left out or hold a tool",
  ],
  [
    "something else than a function",
    [user],
    { tools: [{ type: "web" }] },
    "tools[0]: must describe a function",
  ],
  [
    "two tools of one name",
    [user],
    { tools: [tool, tool] },
    'tools[1]: "read" occurs twice',
  ],
  [
    "a bad tool name",
    [user],
    { tools: [{ type: "function", function: { name: "a.b" } }] },
    'tools[0]: the name "a.b" does not match /^[a-zA-Z0-9_-]{1,64}$/',
  ],
  [
    "parameters that are no object schema",
    [user],
    {
      tools: [{
        type: "function",
        function: { name: "a", parameters: { type: "string" } },
      }],
    },
    'tools[0]: parameters must be a schema of type "object"',
  ],
  [
    "a choice without tools",
    [user],
    { tool_choice: "auto" },
    "tool_choice: is only allowed with tools",
  ],
  [
    "stream options without a stream",
    [user],
    { stream_options: {} },
    "stream_options: is only allowed with stream: true",
  ],
];

for (const [what, messages, members, fault] of refused) {
  test(`a strict server refuses ${what}`, () => {
    assertEquals(faultOf(messages, members), fault);
  });
}

test("further keys can be allowed", () => {
  const body = {
    model: "m",
    messages: [user, { ...done, reasoning_content: "hm" }],
  };
  assertEquals(
    findRequestFault(body, { extraKeys: ["reasoning_content"] }),
    null,
  );
  assertEquals(findRequestFault("text"), "body: must be a JSON object");
});
