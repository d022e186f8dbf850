/**
 * Calls that only read run at the same time; a call with a side effect waits for
 * them, and the results keep the order in which the model asked.
 *
 *     deno task examples 05
 *
 * @module
 */

import { Agent, defineTool } from "@ejagent/core";
import { calls, text } from "@ejagent/core/testing";
import { exampleModel } from "./support/provider.ts";

const weather: Readonly<Record<string, string>> = {
  Lisbon: "sunny",
  Oslo: "snow",
  Delhi: "haze",
};
let running = 0;
let mostAtOnce = 0;

const lookUp = defineTool({
  name: "look_up_weather",
  description: "Tells the weather in one city.",
  parameters: {
    type: "object",
    properties: { city: { type: "string" } },
    required: ["city"],
  },
  // The promise that allows it to run beside other reads.
  effect: "read_only",
  async execute({ city }) {
    mostAtOnce = Math.max(mostAtOnce, ++running);
    await new Promise((resolve) => setTimeout(resolve, 20));
    running -= 1;
    return { city, weather: weather[city] ?? "unknown" };
  },
});

const note = defineTool({
  name: "write_note",
  description: "Writes one line into the travel notes.",
  parameters: {
    type: "object",
    properties: { line: { type: "string" } },
    required: ["line"],
  },
  execute: ({ line }) => `noted "${line}" while ${running} look-ups ran`,
});

const provider = await exampleModel([
  calls([
    ...Object.keys(weather).map((city) => ({
      name: "look_up_weather",
      arguments: { city },
      id: `call_${city}`,
    })),
    { name: "write_note", arguments: { line: "Lisbon wins" } },
  ]),
  text("Go to Lisbon, it is sunny there."),
]);
console.log(provider.describe);

const agent = new Agent({
  agentId: "traveller",
  model: provider.model,
  tools: [lookUp, note],
  runtimePolicy: { parallelToolCalls: true, maxParallelToolCalls: 8 },
  eventSink: {
    emit(event) {
      if (event.kind === "tool_started") {
        console.log(
          `started   ${event.toolCall.name} ${event.toolCall.arguments}`,
        );
      }
      if (event.kind === "tool_completed") {
        console.log(`completed ${event.result.messages[0]?.content}`);
      }
    },
  },
});

console.log(await agent.runText("Lisbon, Oslo or Delhi? Note the best one."));
console.log(`look-ups at the same time: ${mostAtOnce}`);

await agent.shutdown();
await provider.close();
