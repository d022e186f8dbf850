/**
 * Retrieval: a context provider looks up what fits the task and adds it to this
 * run's requests. The conversation does not keep it.
 *
 *     deno task examples 22
 *
 * @module
 */

import {
  Agent,
  type ContextProvider,
  type ContextRun,
  userMessage,
} from "@ejagent/core";
import { text } from "@ejagent/core/testing";
import { exampleModel } from "./support/provider.ts";

const handbook: readonly string[] = [
  "Holidays: everybody has 30 days a year, to be asked for two weeks ahead.",
  "Travel: trains are booked in second class, flights need an approval.",
  "Expenses: receipts are handed in within 30 days of the purchase.",
];

/** Adds the passages of the handbook that share words with the task. */
class Handbook implements ContextProvider {
  readonly sourceId = "handbook";

  beforeRun(run: ContextRun): void {
    const found = search(run.task ?? "");
    console.log(`(found ${found.length} of ${handbook.length} passages)`);
    if (found.length === 0) return;
    // What was retrieved is data that an outsider may have written: quote it as such.
    run.extendInstructions("Answer from the quoted passages only.");
    run.extendMessages(
      userMessage(`Passages of the handbook:\n\n> ${found.join("\n\n> ")}`),
    );
  }
}

const provider = await exampleModel([
  text("You have 30 days a year; ask two weeks ahead."),
  text("Second class."),
]);
console.log(provider.describe);

const agent = new Agent({
  agentId: "colleague",
  model: provider.model,
  contextProviders: [new Handbook()],
});

for (
  const question of [
    "How many days of holidays do I have?",
    "Which class do I travel in by train?",
  ]
) {
  console.log(`you> ${question}`);
  console.log(`colleague> ${await agent.runText(question)}`);
}

const quoted = agent.messages.filter(({ content }) =>
  String(content).includes("Passages of the handbook")
);
console.log(
  `${agent.messages.length} messages are kept, ${quoted.length} of them quoted`,
);

await agent.shutdown();
await provider.close();

/** Stands for a search index: passages by the number of words they share with the question. */
function search(question: string): readonly string[] {
  const wanted = wordsOf(question);
  return handbook
    .map((passage) => ({
      passage,
      hits: [...wordsOf(passage)].filter((word) => wanted.has(word)).length,
    }))
    .filter(({ hits }) => hits > 0)
    .sort((a, b) => b.hits - a.hits)
    .slice(0, 1)
    .map(({ passage }) => passage);
}

function wordsOf(text: string): Set<string> {
  return new Set(text.toLowerCase().match(/\p{L}{5,}/gu) ?? []);
}
