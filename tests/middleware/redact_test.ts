import {
  type AgentMessage,
  providerDataOf,
  TOOL_PROTOCOL_PROMPT,
} from "../../mod.ts";
import { redactModel } from "../../src/middleware/mod.ts";
import {
  answer,
  calls,
  deltas,
  text,
  thinking,
} from "../../src/testing/mod.ts";
import { agentWith, contentsOf, echo } from "../agent/fixtures.ts";
import {
  assertEquals,
  assertStrictEquals,
  assertThrows,
} from "../support/assert.ts";
import { test } from "../support/suite.ts";

const hide = (text: string) => text.replaceAll(/sk-\d+/g, "[key]");

test("the provider reads no secret, the conversation keeps it", async () => {
  const { agent, model } = agentWith([
    calls([{ name: "echo", arguments: { key: "sk-2" } }], { content: "sk-3?" }),
    text("done"),
  ], {
    systemPrompt: "Never show sk-1",
    tools: [echo],
    middleware: [redactModel(hide)],
  });
  await agent.run([
    { type: "text", text: "Use sk-2" },
    { type: "image_url", image_url: { url: "https://example.org/sk-9" } },
  ]);
  const sent = model.contexts[1]!.llmMessages;
  assertEquals(contentsOf(sent), [
    "Never show [key]",
    TOOL_PROTOCOL_PROMPT,
    [
      { type: "text", text: "Use [key]" },
      { type: "image_url", image_url: { url: "https://example.org/sk-9" } },
    ],
    "[key]?",
    '{"e":{"key":"[key]"}}',
  ]);
  assertEquals(callsOf(sent[3]!), ['{"key":"[key]"}']);
  assertEquals(contentsOf(agent.messages).slice(3), [
    "sk-3?",
    '{"e":{"key":"sk-2"}}',
    "done",
  ]);
});

test("a message stays the same object, changed or not", async () => {
  const { agent, model } = agentWith([text("one"), text("two")], {
    middleware: [redactModel(hide)],
  });
  await agent.run("Use sk-2");
  await agent.run("again");
  const [first, second] = model.contexts.map(({ llmMessages }) => llmMessages);
  assertEquals(second?.[1]?.content, "Use [key]");
  assertStrictEquals(second?.[1], first?.[1]);
  assertStrictEquals(second?.[0], first?.[0]);
});

test("a changed answer goes without the data of its provider", async () => {
  const said = (content: string) =>
    answer({ content, toolCalls: [], providerData: { signature: content } });
  const { agent, model } = agentWith(
    [said("plain"), said("sk-4"), text("done")],
    { middleware: [redactModel(hide)] },
  );
  for (const task of ["t", "u", "v"]) await agent.run(task);
  const sent = model.contexts[2]!.llmMessages;
  assertEquals(
    [sent[2]!, sent[4]!].map((message) => [
      message.content,
      providerDataOf(message).kept,
    ]),
    [["plain", { signature: "plain" }], ["[key]", {}]],
  );
});

test("answers are redacted on wish, and then shown as a whole", async () => {
  const { agent, sink } = agentWith([
    deltas([thinking("sk-"), thinking("5?"), "It is ", "sk-", "6."]),
  ], { middleware: [redactModel(hide, { answers: true })] });
  assertEquals((await agent.run("t")).output, "It is [key].");
  assertEquals(agent.messages.at(-1)?.content, "It is [key].");
  assertEquals(
    sink.events.flatMap((event) => "delta" in event ? [event.delta] : []),
    ["[key]?", "It is [key]."],
  );
});

test("calls of a redacted answer are executed as the model made them", async () => {
  const { agent, sink } = agentWith([
    calls([{ name: "echo", arguments: { key: "sk-7" } }], { content: "sk-7" }),
    text("done"),
  ], {
    tools: [echo],
    middleware: [redactModel(hide, { answers: true })],
  });
  await agent.run("t");
  assertEquals(agent.messages[3]?.content, "[key]");
  const { toolCall } = await sink.first("tool_started");
  assertEquals(toolCall.arguments, '{"key":"sk-7"}');
});

function callsOf(message: AgentMessage): string[] {
  return message.role === "assistant"
    ? message.tool_calls?.map((call) => call.function.arguments) ?? []
    : [];
}

test("only a function redacts", () => {
  assertThrows(
    () => redactModel(/sk-/ as never),
    TypeError,
    "redact must be a function",
  );
});
