/**
 * An agent as a tool of another one: the editor delegates research and reads the
 * answer, the researcher looks things up on its own.
 *
 *     deno task examples 25
 *
 * @module
 */

import { Agent, agentTool, defineTool } from "@ejagent/core";
import { calls, text } from "@ejagent/core/testing";
import { exampleModel } from "./support/provider.ts";

const archive: Readonly<Record<string, string>> = {
  "Eiffel Tower": "Built 1887 to 1889, 330 metres high",
};

const lookUp = defineTool({
  name: "look_up",
  description: "Looks up a building in the archive.",
  parameters: {
    type: "object",
    properties: { building: { type: "string" } },
    required: ["building"],
  },
  effect: "read_only",
  execute: ({ building }) => archive[building] ?? "Not in the archive",
});

const provider = await exampleModel([
  calls([{
    name: "researcher",
    arguments: { task: "How high is the Eiffel Tower?" },
  }], { usage: { inputTokens: 110, outputTokens: 22 } }),
  calls([{ name: "look_up", arguments: { building: "Eiffel Tower" } }], {
    usage: { inputTokens: 80, outputTokens: 18 },
  }),
  text("330 metres.", { usage: { inputTokens: 120, outputTokens: 5 } }),
  text("The Eiffel Tower rises 330 metres above Paris.", {
    usage: { inputTokens: 150, outputTokens: 12 },
  }),
]);
console.log(provider.describe);

const editor = new Agent({
  agentId: "editor",
  model: provider.model,
  systemPrompt: "You write captions. Ask the researcher for facts.",
  tools: [
    // A fresh researcher for every question; an instance would remember the last one.
    agentTool(newResearcher, {
      name: "researcher",
      description: "Finds facts about buildings.",
      effect: "read_only",
      forwardProgress: true,
      onResult: ({ status, turns, usage }) =>
        console.log(
          `researcher: ${status}, ${turns} turns, ${usage.totalTokens} tokens`,
        ),
    }),
  ],
});

const stream = editor.stream("A caption for a photo of the Eiffel Tower");
for await (const event of stream) {
  if (event.kind === "tool_progressed") {
    console.log(`  ${event.toolCall.name}: ${event.update.message}`);
  }
}
const { output, error, usage } = await stream.finalResult();
console.log(output ?? error);
console.log(`editor: ${usage.totalTokens} tokens of its own`);

await editor.shutdown();
await provider.close();

function newResearcher(): Agent {
  return new Agent({
    agentId: "researcher",
    model: provider.model,
    systemPrompt: "You answer with a fact from the archive.",
    tools: [lookUp],
  });
}
