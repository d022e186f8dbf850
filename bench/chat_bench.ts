/**
 * What the chat adapter costs, each beside the least that anybody could do: no
 * network, the transport answers by itself.
 *
 * Wanted: an answer within twice the bare reading; the first request behind a long
 * conversation within twice the bare writing, later ones far below it.
 */

import {
  type AgentMessage,
  assistantMessage,
  RunScope,
  toAgentMessage,
  toolMessage,
  userMessage,
} from "@ejagent/core";
import { ChatModelAdapter, type ChatRequest } from "@ejagent/core/chat";

const deltaCount = 10_000;
const messageCount = 5000;
const encoder = new TextEncoder();

const longAnswer = answerOf(Array.from({ length: deltaCount }, () => " word"));
const shortAnswer = answerOf(["Done."]);
const { signal } = new AbortController();

const group = `read an answer of ${deltaCount} deltas`;

Deno.bench("split and parse", { group, baseline: true }, async () => {
  let text = "";
  for await (const chunk of chunksOf(longAnswer)) {
    text += chunk.choices[0]?.delta.content ?? "";
  }
  if (text.length !== deltaCount * 5) throw new Error("Text is missing");
});

const reading = await started(longAnswer);

Deno.bench("the adapter", { group }, async () => {
  await ask(reading, [userMessage("Write")]);
});

const bodies = `a request behind ${messageCount} messages`;
const writing = await started(shortAnswer);
const grown = conversation();
await ask(writing, grown);

Deno.bench(
  "write all messages",
  { group: bodies, baseline: true },
  async (bench) => {
    const messages = conversation();
    bench.start();
    encoder.encode(JSON.stringify({ model: "bench", messages }));
    await chunksOf(shortAnswer).next();
    bench.end();
  },
);

Deno.bench("the first request", { group: bodies }, async (bench) => {
  const messages = conversation();
  bench.start();
  await ask(writing, messages);
  bench.end();
});

Deno.bench("the next request", { group: bodies }, async () => {
  grown.push(userMessage("Go on"));
  await ask(writing, grown);
});

async function ask(
  model: ChatModelAdapter,
  llmMessages: readonly AgentMessage[],
): Promise<void> {
  const context = {
    agentMessages: llmMessages,
    llmMessages,
    tools: [],
    toolDefinitions: [],
    repairs: { synthesised: [], dropped: 0 },
  };
  const call = { signal, scope: new RunScope() };
  for await (const event of model.stream(context, call)) {
    if (event.kind === "completed") return;
  }
}

async function started(answer: Uint8Array): Promise<ChatModelAdapter> {
  const model = new ChatModelAdapter({
    model: "bench",
    apiKey: "none",
    baseUrl: "http://localhost/v1",
  }, {
    transport: {
      send: (_request: ChatRequest) => Promise.resolve(responseOf(answer)),
    },
  });
  await model.startup();
  return model;
}

function responseOf(answer: Uint8Array): Response {
  return new Response(new Blob([answer.slice()]).stream());
}

/** The bare reader: what is left if every answer is well-formed. */
async function* chunksOf(
  answer: Uint8Array,
): AsyncGenerator<{ choices: { delta: { content?: string } }[] }> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const bytes of responseOf(answer).body!) {
    const events = (rest + decoder.decode(bytes, { stream: true })).split(
      "\n\n",
    );
    rest = events.pop()!;
    for (const event of events) {
      const data = event.slice("data: ".length);
      if (data !== "[DONE]") yield JSON.parse(data);
    }
  }
}

function answerOf(pieces: readonly string[]): Uint8Array {
  const chunk = (delta: unknown, finish_reason: string | null) =>
    `data: ${
      JSON.stringify({
        id: "answer",
        object: "chat.completion.chunk",
        model: "bench",
        choices: [{ index: 0, delta, finish_reason }],
      })
    }\n\n`;
  return encoder.encode([
    ...pieces.map((content) => chunk({ content }, null)),
    chunk({}, "stop"),
    "data: [DONE]\n\n",
  ].join(""));
}

/** Questions, calls and results; new messages each time, since the adapter knows those it sent. */
function conversation(): AgentMessage[] {
  const messages: AgentMessage[] = [userMessage("Look around")];
  while (messages.length < messageCount) {
    const id = `call-${messages.length}`;
    messages.push(
      toAgentMessage(
        assistantMessage(null, [{ id, name: "look", arguments: "{}" }]),
      ),
      toolMessage(id, "What was seen there. ".repeat(5)),
    );
  }
  return messages;
}
