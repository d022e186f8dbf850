/**
 * A tool that reports how far it is and ends the run with its result.
 *
 *     deno task examples 12
 *
 * @module
 */

import { Agent, complete, defineTool } from "@ejagent/core";
import { calls } from "@ejagent/core/testing";
import { exampleModel } from "./support/provider.ts";

const steps = ["discovering files", "parsing modules", "building index"];

const buildIndex = defineTool({
  name: "build_index",
  description: "Indexes the project and ends the task.",
  async execute(_args, { progress, signal }) {
    for (const [index, step] of steps.entries()) {
      signal.throwIfAborted();
      // Waiting for a report lets slow observers keep up; it is never required.
      await progress.report(step, { done: index + 1, of: steps.length });
    }
    return complete({ status: "indexed", files: 24, symbols: 137 });
  },
});

const provider = await exampleModel([calls(["build_index"])]);
console.log(provider.describe);

const agent = new Agent({
  agentId: "indexer",
  model: provider.model,
  tools: [buildIndex],
});

const stream = agent.stream("Build the index");
for await (const event of stream) {
  switch (event.kind) {
    case "tool_started":
      console.log(`${event.toolCall.name} started`);
      break;
    case "tool_progressed": {
      const { done, of } = event.update.data as { done: number; of: number };
      console.log(`  ${event.update.message} ${done}/${of}`);
      break;
    }
    case "tool_completed":
      console.log(`${event.toolCall.name} completed`);
      break;
  }
}
const result = await stream.finalResult();
console.log(`${result.stopReason}: ${result.output}`);

await agent.shutdown();
await provider.close();
