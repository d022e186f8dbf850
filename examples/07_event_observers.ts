/**
 * Several observers of the same run: one that counts, one that keeps an audit
 * trail, one that is broken. None of them changes the result.
 *
 *     deno task examples 07
 *
 * @module
 */

import {
  Agent,
  type AgentEvent,
  type AgentEventSink,
  CompositeAgentEventSink,
  defineTool,
} from "@ejagent/core";
import { calls, text } from "@ejagent/core/testing";
import { exampleModel } from "./support/provider.ts";

class Counter implements AgentEventSink {
  readonly counts: Record<string, number> = {};

  emit(event: AgentEvent): void {
    this.counts[event.kind] = (this.counts[event.kind] ?? 0) + 1;
  }
}

/** Writes down who did what, never what was said. */
const audit: AgentEventSink = {
  emit(event) {
    switch (event.kind) {
      case "tool_completed":
        return console.log(
          `#${event.sequence} ${event.toolCall.name} was called`,
        );
      case "agent_finished":
        return console.log(
          `#${event.sequence} the run is ${event.result.status}`,
        );
    }
  },
};

const broken: AgentEventSink = {
  emit() {
    throw new Error("no disk");
  },
};

const roll = defineTool({
  name: "roll_die",
  description: "Rolls a die.",
  execute: () => 4,
});

const provider = await exampleModel([
  calls(["roll_die"]),
  text("You rolled a four."),
]);
console.log(provider.describe);

const counter = new Counter();
let failures = 0;
const agent = new Agent({
  agentId: "croupier",
  model: provider.model,
  tools: [roll],
  // Events reach the members in this order, one event at a time.
  eventSink: new CompositeAgentEventSink([counter, audit, broken]),
  logger: { warn: () => void failures++ },
});

console.log(await agent.runText("Roll for me"));
console.log(`turns: ${counter.counts.turn_completed}`);
console.log(`events: ${Object.values(counter.counts).reduce((a, b) => a + b)}`);
console.log(`contained failures: ${failures}`);

await agent.shutdown();
await provider.close();
