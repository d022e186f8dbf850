import {
  AgentContextBuilder,
  type ContextParts,
} from "../../src/context/builder.ts";
import { Conversation } from "../../src/context/conversation.ts";
import {
  type AgentMessage,
  type AssistantAgentMessage,
  assistantMessage,
  toAgentMessage,
} from "../../src/messages/message.ts";
import { originOf, providerDataOf } from "../../src/model/provider_data.ts";
import { openAIToolView, ToolDefinition } from "../../src/tools/definition.ts";
import {
  assert,
  assertEquals,
  assertStrictEquals,
  assertThrows,
} from "../support/assert.ts";
import { test } from "../support/suite.ts";
import {
  assistant,
  callEntry,
  calling,
  interrupted,
  marked,
  outline,
  result,
  system,
  user,
  withUsage,
} from "./messages.ts";
import { complaintsAbout } from "./transcript.ts";

function build(messages: readonly AgentMessage[], parts: ContextParts = {}) {
  return new AgentContextBuilder().build({ messages }, parts);
}

test("metadata stays with the agent", { case: ["SE-A-01", "X-151"] }, () => {
  const messages = [
    marked(system("summary"), {
      _ejagent_summary: { content: "current" },
      _simagentplg_summary: { content: "legacy" },
    }),
    marked(withUsage(assistant("a"), 5), { _simagentplg_note: 1 }),
    marked(user("u"), { _ejagent: 1, nested: { usage: 1 } }),
  ];
  const conversation = new Conversation(messages);
  const built = new AgentContextBuilder().build(conversation);

  assertEquals(built.agentMessages, messages);
  assertEquals(built.llmMessages, [
    { role: "system", content: "summary" },
    { role: "assistant", content: "a" },
    messages[2]!,
  ]);
  assertEquals(conversation.messages, messages);
});

test("everything has its place", { case: "SE-A-03" }, () => {
  const history = [system("prompt"), system("protocol"), user("hi")];
  const built = build(history, {
    skillMessages: [system("skill index"), system("instructions of pdf")],
    transientMessages: [system("remind")],
  });
  const expected = "s:prompt s:protocol s:skill index s:instructions of pdf " +
    "u:hi s:remind";
  assertEquals(outline(built.agentMessages), expected);
  assertEquals(outline(built.llmMessages), expected);
});

test("what providers of context add stands before the run", () => {
  const history = [
    system("prompt"),
    user("before"),
    assistant("answer"),
    user("now"),
    assistant("step"),
  ];
  const parts: ContextParts = {
    skillMessages: [system("skills")],
    instructions: "be kind",
    contextMessages: [{ ...user("fact"), _ejagent_source: "memory" }],
    transientMessages: [system("remind")],
  };
  const inRun = build(history, { ...parts, runStart: 3 });
  assertEquals(
    outline(inRun.llmMessages),
    "s:prompt s:skills s:be kind u:before a:answer u:fact u:now a:step s:remind",
  );
  assertEquals(outline(inRun.agentMessages), outline(inRun.llmMessages));
  assertEquals(inRun.agentMessages[5], {
    role: "user",
    content: "fact",
    _ejagent_source: "memory",
  });
  assertEquals(inRun.llmMessages[5], user("fact"));

  const front = "s:prompt s:skills s:be kind u:fact u:before a:answer u:now " +
    "a:step s:remind";
  for (const runStart of [-1, 0, 1]) {
    assertEquals(
      outline(build(history, { ...parts, runStart }).llmMessages),
      front,
    );
  }
  assertEquals(outline(build(history, parts).llmMessages), front);
  assertEquals(
    outline(build(history, { ...parts, runStart: 99 }).llmMessages),
    "s:prompt s:skills s:be kind u:before a:answer u:now a:step u:fact s:remind",
  );
});

test("blank instructions make no message", () => {
  for (const instructions of [null, ""]) {
    assertEquals(build([user("u")], { instructions }).llmMessages.length, 1);
  }
});

test("context messages never come between a call and its results", () => {
  const history = [user("u"), calling(["a", "b"]), result("a"), result("b")];
  const built = build(history, {
    runStart: 3,
    contextMessages: [user("fact")],
  });
  assertEquals(built.llmMessages[1], user("fact"));
  assertEquals(built.llmMessages.slice(2), history.slice(1));
});

test("what the hook adds is taken away again", { case: "SE-A-05" }, () => {
  class Noting extends AgentContextBuilder {
    override convertToLlmMessages(messages: readonly AgentMessage[]) {
      return messages.map((message) => ({ ...message, _ejagent_note: "x" }));
    }
  }
  const { agentMessages, llmMessages } = new Noting().build({
    messages: [user("u"), assistant("a")],
  });
  assertEquals(llmMessages, [user("u"), assistant("a")]);
  assertEquals(agentMessages, llmMessages);
});

test("a hook cannot reach the history", { case: "SE-A-06" }, () => {
  class Meddling extends AgentContextBuilder {
    override convertToLlmMessages(messages: readonly AgentMessage[]) {
      const { tool_calls } = messages[1] as unknown as {
        tool_calls: { function: { arguments: string } }[];
      };
      assertThrows(
        () => tool_calls[0]!.function.arguments = "changed",
        TypeError,
      );
      (messages as AgentMessage[]).splice(0, 1);
      return messages;
    }
  }
  const history = [user("u"), calling(["a"]), result("a")];
  const conversation = new Conversation(history);
  const builder = new Meddling();
  const first = builder.build(conversation);
  const second = builder.build(conversation);

  assertEquals(conversation.messages, history);
  assertEquals(first.agentMessages, history);
  assertEquals(first.llmMessages, history.slice(1));
  assertEquals(second, first);
});

test("a hook may filter and may not return nonsense", {
  case: "X-152",
}, () => {
  class Filtering extends AgentContextBuilder {
    override convertToLlmMessages(messages: readonly AgentMessage[]) {
      return messages.filter((message) => !("internal" in message));
    }
  }
  const state = {
    messages: [user("u"), { ...user("i"), internal: true }, assistant("a")],
  };
  const filtered = new Filtering().build(state);
  assertEquals(outline(filtered.llmMessages), "u:u a:a");
  assertEquals(filtered.agentMessages, state.messages);

  for (const nonsense of [null, "text", [1], Promise.resolve([])]) {
    class Broken extends AgentContextBuilder {
      override convertToLlmMessages() {
        return nonsense as unknown as readonly AgentMessage[];
      }
    }
    assertThrows(
      () => new Broken().build(state),
      TypeError,
      "convertToLlmMessages",
    );
  }
});

test("tools are what their definitions say", { case: "SE-A-07" }, () => {
  const definition = new ToolDefinition({ name: "f", effect: "read_only" });
  const built = build([user("u")], {
    tools: [openAIToolView(definition)],
    toolDefinitions: [definition],
  });
  assertEquals(built.tools, [{ type: "function", function: { name: "f" } }]);
  assertEquals(built.toolDefinitions, [definition]);
});

test("transient messages and tools leave the history alone", {
  case: "X-153",
}, () => {
  const definition = new ToolDefinition({ name: "f" });
  const conversation = new Conversation([user("saved")]);
  const built = new AgentContextBuilder().build(conversation, {
    tools: [openAIToolView(definition)],
    toolDefinitions: [definition],
    transientMessages: [system("now")],
  });
  assertEquals(outline(built.llmMessages), "u:saved s:now");
  assertEquals(built.tools.length, 1);
  assertEquals(conversation.messages, [user("saved")]);
});

test("a result without a call is left out", { case: "SE-A-09" }, () => {
  const built = build([user("u"), result("zz"), assistant("text")]);
  assertEquals(outline(built.llmMessages), "u:u a:text");
  assertEquals(built.repairs, { synthesised: [], dropped: 1 });
});

test("a call without a result is answered before what follows", {
  case: "B01",
}, () => {
  const history = [
    user("u"),
    calling(["a", "c1", "b"]),
    result("b"),
    user("next"),
  ];
  const built = build(history);
  assertEquals(built.llmMessages, [
    user("u"),
    calling(["a", "c1", "b"]),
    result("b"),
    interrupted("a"),
    interrupted("c1"),
    user("next"),
  ]);
  assertEquals(built.repairs, { synthesised: ["a", "c1"], dropped: 0 });
  assertEquals(complaintsAbout(built.llmMessages), []);
});

test(
  "a call that a real result answers is answered once",
  { case: "B01" },
  () => {
    const conversation = new Conversation([user("u"), calling(["c1"])]);
    const builder = new AgentContextBuilder();
    const open = builder.build(conversation);
    assertEquals(open.llmMessages.at(-1), interrupted("c1"));
    assertEquals(open.repairs, { synthesised: ["c1"], dropped: 0 });

    conversation.append(result("c1"));
    conversation.append(user("next"));
    const answered = builder.build(conversation);
    assertEquals(answered.llmMessages, conversation.messages);
    assertEquals(answered.repairs, { synthesised: [], dropped: 0 });
  },
);

test("a second answer and a late one are left out", { case: "B07" }, () => {
  const built = build([
    calling(["a", "b"]),
    result("a"),
    result("a"),
    user("u"),
    result("b"),
  ]);
  assertEquals(built.llmMessages, [
    calling(["a", "b"]),
    result("a"),
    interrupted("b"),
    user("u"),
  ]);
  assertEquals(built.repairs, { synthesised: ["b"], dropped: 2 });
});

test("an empty answer stays in the history alone", () => {
  const history = [
    user("u"),
    assistant(""),
    { role: "assistant" as const, content: null },
    { role: "assistant" as const, content: null, tool_calls: [] },
    assistant("a"),
  ];
  const built = build(history);
  assertEquals(outline(built.llmMessages), "u:u a:a");
  assertEquals(built.agentMessages, history);
  assertEquals(built.repairs.dropped, 3);
});

test("a name that no tool can have is spelt with what is allowed", () => {
  const sentName = (name: string) => {
    const call = { ...callEntry("c"), function: { name, arguments: "{}" } };
    const history = [marked(calling(["c"]), { tool_calls: [call] })];
    const { llmMessages, agentMessages } = build([...history, result("c")]);
    assertEquals(agentMessages[0], history[0]);
    assertEquals(complaintsAbout(llmMessages), []);
    return (llmMessages[0] as AssistantAgentMessage).tool_calls![0]!.function
      .name;
  };
  assertEquals(sentName("work"), "work");
  assertEquals(sentName("functions.get weather"), "functions_get_weather");
  assertEquals(sentName("天気"), "__");
  assertEquals(sentName(""), "_");
  assertEquals(sentName("w".repeat(80)), "w".repeat(64));
});

test("ids that come again are renamed in the call and its result", {
  case: "B10",
}, () => {
  const exchange = [calling(["t:0", "t:1"]), result("t:1"), result("t:0")];
  const conversation = new Conversation([
    ...exchange,
    calling(["t:0_2"]),
    result("t:0_2"),
    ...exchange,
    ...exchange,
  ]);
  const { llmMessages, repairs } = new AgentContextBuilder().build(
    conversation,
  );
  const idsOf = (message: AgentMessage) =>
    message.role === "tool"
      ? [message.tool_call_id]
      : message.role === "assistant"
      ? message.tool_calls!.map((call) => call.id)
      : [];
  assertEquals(llmMessages.map(idsOf), [
    ["t:0", "t:1"],
    ["t:1"],
    ["t:0"],
    ["t:0_2"],
    ["t:0_2"],
    ["t:0_3", "t:1_2"],
    ["t:1_2"],
    ["t:0_3"],
    ["t:0_4", "t:1_3"],
    ["t:1_3"],
    ["t:0_4"],
  ]);
  assertEquals(repairs, { synthesised: [], dropped: 0 });
  assertEquals(conversation.slice(5, 8), exchange);
  assertEquals(complaintsAbout(llmMessages), []);
});

test(
  "two calls with one id in one answer are told apart",
  { case: "B10" },
  () => {
    const answers = ["first", "second"].map((content) => ({
      role: "tool" as const,
      tool_call_id: "a",
      content,
    }));
    const { llmMessages } = build([calling(["a", "a"]), ...answers]);
    assertEquals(llmMessages, [
      calling(["a", "a_2"]),
      answers[0]!,
      { ...answers[1]!, tool_call_id: "a_2" },
    ]);
  },
);

test("calls that nothing can answer are left out", () => {
  const broken = {
    role: "assistant",
    content: "text",
    tool_calls: [null, callEntry(""), { id: 7 }, { id: "x", function: {} }],
  } as unknown as AgentMessage;
  const mixed = {
    ...broken,
    tool_calls: [{ id: "" }, callEntry("ok")],
  } as unknown as AgentMessage;
  assertEquals(build([broken, mixed, result("ok")]).llmMessages, [
    assistant("text"),
    marked(assistant("text"), { tool_calls: [callEntry("ok")] }),
    result("ok"),
  ]);
});

test("half an emoji never reaches a provider", { case: "B68" }, () => {
  const half = "cut \ud83d";
  const history: AgentMessage[] = [
    { role: "user", content: [{ type: "text", text: half }] },
    {
      role: "assistant",
      content: null,
      tool_calls: [{
        id: "c",
        type: "function",
        function: { name: "work", arguments: `{"a":"\udc00"}` },
      }],
    },
    { role: "tool", tool_call_id: "c", content: `${half} 🚀` },
  ];
  const built = build(history);
  assertEquals(built.llmMessages, [
    { role: "user", content: [{ type: "text", text: "cut \ufffd" }] },
    {
      role: "assistant",
      content: null,
      tool_calls: [{
        id: "c",
        type: "function",
        function: { name: "work", arguments: '{"a":"\ufffd"}' },
      }],
    },
    { role: "tool", tool_call_id: "c", content: "cut \ufffd 🚀" },
  ]);
  assertEquals(built.agentMessages, history);
});

test("repairs can be switched off, metadata cannot", () => {
  const history = [withUsage(calling(["a"]), 5), user("u"), result("zz")];
  const built = new AgentContextBuilder({ repair: false }).build({
    messages: history,
  });
  assertEquals(built.llmMessages, [calling(["a"]), user("u"), result("zz")]);
  assertEquals(built.repairs, { synthesised: [], dropped: 0 });
  assertThrows(
    () => new AgentContextBuilder({ repair: 1 as unknown as boolean }),
    TypeError,
    "repair",
  );
});

test("a message that needs no change is the message itself, others are made once", () => {
  const conversation = new Conversation([
    user("u"),
    withUsage(calling(["a"]), 5),
    result("a"),
  ]);
  const builder = new AgentContextBuilder();
  const memory = { ...user("fact"), _ejagent_source: "memory" };
  const [kept] = new Conversation([memory]).messages;
  const parts = { contextMessages: [kept!], instructions: "be kind" };
  const first = builder.build(conversation, parts).llmMessages;
  conversation.append(assistant("done"));
  const second = builder.build(conversation, parts).llmMessages;

  for (const [index, message] of first.entries()) {
    assertStrictEquals(second[index], message);
  }
  assertStrictEquals(first[2], conversation.at(0));
  assertStrictEquals(originOf(first[3]!), conversation.at(1));
  assert(Object.isFrozen(first[3]));
  assertStrictEquals(originOf(first[1]!), kept);
});

test("what a provider wants back is found through the sent message", () => {
  const answer = toAgentMessage({
    ...assistantMessage(null, [{ id: "a", name: "work", arguments: "{}" }]),
    providerData: { signature: "s" },
    replay: { reasoning_content: "because" },
  });
  const { llmMessages } = build([answer, result("a"), answer, result("a")]);
  for (const index of [0, 2]) {
    assertEquals(providerDataOf(llmMessages[index]!), {
      kept: { signature: "s" },
      replay: { reasoning_content: "because" },
    });
  }
});

test("lists belong to the caller and change nothing else", () => {
  const conversation = new Conversation([user("u")]);
  const builder = new AgentContextBuilder();
  const built = builder.build(conversation);
  (built.llmMessages as AgentMessage[]).push(user("mine"));
  (built.agentMessages as AgentMessage[]).length = 0;

  assertEquals(conversation.messages, [user("u")]);
  assertEquals(builder.build(conversation).llmMessages, [user("u")]);
});
