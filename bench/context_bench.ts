/**
 * What the request of one turn costs behind a long conversation.
 *
 * Wanted: less than 0.05 µs per old message for all that is done with the whole
 * history before a request is sent.
 */

import {
  AgentContextBuilder,
  type AgentMessage,
  assistantMessage,
  Conversation,
  estimateContextUsage,
  modelUsage,
  systemMessage,
  toAgentMessage,
  toolMessage,
  userMessage,
} from "@ejagent/core";

const builder = new AgentContextBuilder();
const reminder = { transientMessages: [systemMessage("Go on")] };

for (const messageCount of [400, 5000]) {
  const conversation = conversationOf(messageCount);
  builder.build(conversation);

  Deno.bench(`the next request behind ${messageCount} messages`, () => {
    builder.build(conversation, reminder);
  });

  Deno.bench(`the next request behind ${messageCount}, measured`, () => {
    estimateContextUsage(builder.build(conversation, reminder));
  });

  Deno.bench(`the first request behind ${messageCount} messages`, (bench) => {
    const unseen = new Conversation(conversation.messages);
    bench.start();
    builder.build(unseen);
    bench.end();
  });
}

function conversationOf(messageCount: number): Conversation {
  const conversation = new Conversation([userMessage("Look around")]);
  while (conversation.length < messageCount) {
    const id = `call-${conversation.length}`;
    conversation.append(calling(id));
    conversation.append(toolMessage(id, "What was seen there. ".repeat(5)));
  }
  return conversation;
}

function calling(id: string): AgentMessage {
  return toAgentMessage(
    assistantMessage(null, [
      { id, name: "look", arguments: '{"at":"this"}' },
    ]),
    modelUsage({ inputTokens: 100, outputTokens: 10 }),
  );
}
