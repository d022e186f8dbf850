/**
 * One audit for all agents: a middleware around every run, whether the agent is
 * our own or somebody else's.
 *
 *     deno task examples 21
 *
 * @module
 */

import {
  Agent,
  type AgentLike,
  defineTool,
  type Middleware,
  wrapAgent,
} from "@ejagent/core";
import { calls, text } from "@ejagent/core/testing";
import { exampleModel } from "./support/provider.ts";

/**
 * Writes down who was asked and how it ended, never what was said. One object
 * for both layers: agents whose tools are out of reach use the first alone.
 */
const audit: Middleware = {
  name: "audit",
  async *aroundRun(request, next) {
    const { agentId } = request.agent;
    console.log(`audit: ${agentId} is asked`);
    const result = yield* next(request);
    console.log(
      `audit: ${agentId} is ${result.status}, turns: ${result.turns}`,
    );
    return result;
  },
  async aroundTool(context, next) {
    const outcome = await next(context);
    console.log(`audit: ${context.agent.agentId} used ${context.toolName}`);
    return outcome;
  },
};

const parcels = defineTool({
  name: "find_parcel",
  description: "Tells where a parcel is.",
  parameters: {
    type: "object",
    properties: { number: { type: "string" } },
    required: ["number"],
  },
  effect: "read_only",
  execute: ({ number }) => ({ number, place: "Lyon" }),
});

const provider = await exampleModel([
  calls([{ name: "find_parcel", arguments: { number: "A7" } }]),
  text("Parcel A7 is in Lyon."),
  text("Le colis A7 est à Lyon."),
]);
console.log(provider.describe);

const clerk = new Agent({
  agentId: "clerk",
  model: provider.model,
  tools: [parcels],
  middleware: [audit],
});

// Of an agent that is not ours we only know that it can be run.
const theirs: AgentLike = new Agent({
  agentId: "translator",
  model: provider.model,
  systemPrompt: "You translate into French.",
});
const translator = wrapAgent(theirs).use(audit);

const answer = await clerk.runText("Where is parcel A7?");
console.log(answer);
const { output, error } = await translator.run(answer);
console.log(output ?? error);

await translator.shutdown();
await clerk.shutdown();
await provider.close();
