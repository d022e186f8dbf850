/**
 * Everything that happens in a run, as it happens: thinking, text, tools.
 *
 * Deltas are provisional: what counts is the message that completes the turn.
 *
 *     deno task examples 11
 *
 * @module
 */

import { Agent, type AgentEvent, defineTool } from "@ejagent/core";
import { calls, deltas, text, thinking } from "@ejagent/core/testing";
import { exampleModel } from "./support/provider.ts";
import { paint, write } from "./support/terminal.ts";

const distance = defineTool({
  name: "distance",
  description: "Tells the distance between two cities in kilometres.",
  parameters: {
    type: "object",
    properties: { from: { type: "string" }, to: { type: "string" } },
    required: ["from", "to"],
  },
  effect: "read_only",
  execute: () => ({ kilometres: 878 }),
});

const provider = await exampleModel([
  deltas(
    [thinking("I had better "), thinking("look that up.")],
    calls([{ name: "distance", arguments: { from: "Paris", to: "Berlin" } }], {
      usage: { inputTokens: 96, outputTokens: 31, reasoningTokens: 12 },
    }),
  ),
  deltas(
    ["It is ", "878 ", "kilometres."],
    text("It is 878 kilometres.", {
      usage: { inputTokens: 141, outputTokens: 7 },
    }),
  ),
]);
console.log(provider.describe);

const agent = new Agent({
  agentId: "navigator",
  model: provider.model,
  tools: [distance],
});

for await (const event of agent.stream("How far is it from Paris to Berlin?")) {
  show(event);
}

await agent.shutdown();
await provider.close();

function show(event: AgentEvent): void {
  switch (event.kind) {
    case "turn_started":
      return write(paint.dim(`--- turn ${event.turn}\n`));
    case "assistant_thinking_delta":
      return write(paint.dim(event.delta));
    case "assistant_text_delta":
      return write(event.delta);
    case "message_completed":
      return write(paint.dim(`\n${tokensOf(event)}\n`));
    case "tool_started":
      return write(`${event.toolCall.name}(${event.toolCall.arguments})`);
    case "tool_completed":
      return write(` -> ${event.result.messages[0]?.content}\n`);
    case "agent_finished":
      return write(`--- ${event.result.error ?? event.result.status}\n`);
  }
}

function tokensOf(
  { usage }: Extract<AgentEvent, { kind: "message_completed" }>,
): string {
  if (usage === null) return "tokens unknown";
  return `${usage.inputTokens} tokens read, ${usage.outputTokens} written`;
}
