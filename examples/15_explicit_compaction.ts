/**
 * Shortening a conversation on request, with a summary that the model writes.
 *
 *     deno task examples 15
 *
 * @module
 */

import {
  Agent,
  AgentContextBuilder,
  CompactionPolicy,
  ContextBudget,
  ModelCompactor,
  systemMessage,
  userMessage,
} from "@ejagent/core";
import { text } from "@ejagent/core/testing";
import { exampleModel } from "./support/provider.ts";

const provider = await exampleModel([
  text("Lisbon in May, by train. Understood."),
  text("Four nights, then. Understood."),
  text("The user plans four nights in Lisbon in May, arriving by train."),
  text("You go to Lisbon."),
]);
console.log(provider.describe);

const builder = new AgentContextBuilder();
const compactor = new ModelCompactor({
  model: provider.model,
  source: "trip summary",
  // The application decides what the summariser reads.
  contextBuilder: ({ preparation }) =>
    builder.build({
      messages: [
        systemMessage("Summarise the conversation in one sentence."),
        userMessage(JSON.stringify(preparation.messagesToSummarize)),
      ],
    }),
});
const agent = new Agent({
  agentId: "planner",
  model: provider.model,
  compactor,
  compactionPolicy: new CompactionPolicy({
    budget: new ContextBudget({
      contextWindow: 8000,
      reserveTokens: 1000,
      keepRecentTokens: 10,
    }),
  }),
});

await agent.run("I want to go to Lisbon in May, by train.");
await agent.run("Make it four nights.");
const before = agent.messages.length;
const result = await agent.compact();
console.log(
  `${result.status}: ${before} messages became ${agent.messages.length}`,
);
console.log(result.summary?.content ?? result.error);
console.log(await agent.runText("Where do I go?"));

await agent.shutdown();
await provider.close();
