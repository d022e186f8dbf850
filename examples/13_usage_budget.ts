/**
 * A budget of tokens: the run ends before the turn that it can no longer pay
 * for, says what it has used, and can be continued with a fresh budget.
 *
 *     deno task examples 13
 *
 * @module
 */

import { Agent, type AgentRunResult, defineTool } from "@ejagent/core";
import { calls, text } from "@ejagent/core/testing";
import { exampleModel } from "./support/provider.ts";

const chapters = ["The harbour", "The storm", "The island"];

const readChapter = defineTool({
  name: "read_chapter",
  description: "Reads one chapter of the book, counted from 1.",
  parameters: {
    type: "object",
    properties: { number: { type: "integer", minimum: 1 } },
    required: ["number"],
    additionalProperties: false,
  },
  effect: "read_only",
  execute: ({ number }) => chapters[number - 1] ?? "There is no such chapter.",
});

const chapter = (number: number, inputTokens: number) =>
  calls([{ name: "read_chapter", arguments: { number } }], {
    usage: { inputTokens, outputTokens: 20, cacheReadTokens: 0 },
  });

const provider = await exampleModel([
  chapter(1, 130),
  chapter(2, 180),
  chapter(3, 230),
  text("A ship leaves, is lost and found again.", {
    usage: { inputTokens: 280, outputTokens: 12, cacheReadTokens: 180 },
  }),
]);
console.log(provider.describe);

const agent = new Agent({
  agentId: "reader",
  model: provider.model,
  systemPrompt:
    "Read the chapters one by one, then tell the story in a sentence.",
  tools: [readChapter],
  runtimePolicy: { maxRunTokens: 300 },
});

let result = await agent.run("What is the book about?");
report(result);
// The answer that crosses the line still counts, and so do the tools it asked for: nothing is lost.
for (let more = 1; more <= 3 && overBudget(result); more++) {
  result = await agent.continueRun();
  report(result);
}
console.log(result.output ?? result.error);

await agent.shutdown();
await provider.close();

function overBudget({ stopReason }: AgentRunResult): boolean {
  return stopReason === "token_budget_exceeded";
}

function report({ stopReason, turns, usage }: AgentRunResult): void {
  const cached = usage.cacheReadTokens ?? "unknown";
  console.log(
    `${stopReason} after ${turns} turn(s): ${usage.totalTokens} tokens in ` +
      `${usage.requestCount} request(s), ${cached} of them from the cache`,
  );
}
