/**
 * Control from outside while an agent works: say something into the run, queue
 * the next one, stop a run. Every receipt says at once what became of it.
 *
 *     deno task examples 09
 *
 * @module
 */

import { Agent, defineTool } from "@ejagent/core";
import { calls, text } from "@ejagent/core/testing";
import { setTimeout as wait } from "node:timers/promises";
import { exampleModel } from "./support/provider.ts";

const search = defineTool({
  name: "search_connections",
  description: "Searches connections between two cities; takes a moment.",
  parameters: {
    type: "object",
    properties: { from: { type: "string" }, to: { type: "string" } },
    required: ["from", "to"],
    additionalProperties: false,
  },
  effect: "read_only",
  async execute(_args, { signal }) {
    await wait(200, undefined, { signal });
    return { train: "8 h 12 min", plane: "1 h 45 min" };
  },
});

const route = { from: "Paris", to: "Berlin" };
const provider = await exampleModel([
  calls([{ name: "search_connections", arguments: route }]),
  text("By train it takes 8 h 12 min."),
  text("The way back takes as long."),
  calls([{ name: "search_connections", arguments: route }]),
]);
console.log(provider.describe);

const agent = new Agent({
  agentId: "travel_desk",
  model: provider.model,
  systemPrompt: "You look up connections. Answer in one short sentence.",
  tools: [search],
});

// Nothing is active yet, so there is nothing to steer.
console.log(`steering: ${agent.steer("Hello?").status}`);

const first = agent.run("How do I get from Paris to Berlin?");
// The run holds the agent from here on: the words reach the next request, the task waits its turn.
const receipt = agent.steer("Only by train, please.");
const back = agent.followUp("And the way back?");
console.log(`steering: ${receipt.status}, follow-up: ${back.receipt.status}`);

console.log(`> ${(await first).output}`);
const outcome = await receipt.outcome;
console.log(
  outcome.kind === "applied"
    ? `steering: applied in turn ${outcome.turn}`
    : `steering: ${outcome.kind}`,
);
console.log(`> ${(await back.wait()).output}`);

for await (const event of agent.stream("Now by ship.")) {
  if (event.kind === "tool_started") {
    console.log(`abort: ${agent.abort("there is no ship")}`);
    console.log(`steering: ${agent.steer("Or by bus?").status}`);
  }
  if (event.kind === "agent_finished") {
    console.log(`${event.result.status}: ${event.result.error}`);
  }
}

await agent.waitForIdle();
console.log(`abort: ${agent.abort()}`);

await agent.shutdown();
await provider.close();
