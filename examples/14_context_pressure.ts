/**
 * How full the context is, before every request; and a conversation that
 * shortens itself when it gets too long.
 *
 *     deno task examples 14
 *
 * @module
 */

import {
  Agent,
  CompactionPolicy,
  contentText,
  ContextBudget,
} from "@ejagent/core";
import { text } from "@ejagent/core/testing";
import { exampleModel } from "./support/provider.ts";

const facts = [
  "The bridge was built in 1894 and is 312 metres long.",
  "The river under it freezes in about one winter out of nine.",
  "The keeper of the bridge counts every cart that crosses it.",
];
const provider = await exampleModel([
  ...facts.map((fact) => text(`I will remember: ${fact}`)),
  text("The bridge is 312 metres long."),
]);
console.log(provider.describe);

const agent = new Agent({
  agentId: "chronicler",
  model: provider.model,
  systemPrompt: "You keep facts about a bridge.",
  // A tiny window, so that it fills up soon.
  compactionPolicy: new CompactionPolicy({
    budget: new ContextBudget({
      contextWindow: 260,
      reserveTokens: 60,
      keepRecentTokens: 40,
    }),
  }),
  autoCompactionPolicy: { compactOnPressure: true },
  // A compactor that asks a model is `ModelCompactor`; this one needs none.
  compactor: {
    compact: ({ preparation, previousSummary }) => ({
      source: "first sentences",
      content: [
        previousSummary?.content,
        ...preparation.messagesToSummarize
          .filter((message) => message.role === "user")
          .map((message) => contentText(message.content)),
      ].filter(Boolean).join("\n"),
    }),
  },
  eventSink: {
    emit(event) {
      if (event.kind === "context_pressure_evaluated") {
        const { pressureRatio, reason } = event.decision;
        console.log(`  ${Math.round(pressureRatio * 100)} % full: ${reason}`);
      }
      if (event.kind === "compaction_completed") {
        const { summary } = event.result;
        console.log(`  summarised ${summary?.summarizedMessageCount} messages`);
      }
    },
  },
});

for (const fact of facts) console.log(await agent.runText(fact));
console.log(await agent.runText("How long is the bridge?"));

await agent.shutdown();
await provider.close();
