/**
 * An agent behind HTTP: to other agents it speaks A2A, to a front end of one's
 * own it shows everything as server-sent events. An agent elsewhere calls it.
 *
 *     deno task examples 24
 *     deno task examples 24 serve    keeps on serving, for curl and others
 *
 * @module
 */

import { argv } from "node:process";
import { Agent, agentTool } from "@ejagent/core";
import { A2AAgent, createA2AHandler } from "@ejagent/core/a2a";
import { toEventStream } from "@ejagent/core/http";
import { calls, deltas, text } from "@ejagent/core/testing";
import { platform } from "./support/platform.ts";
import { exampleModel } from "./support/provider.ts";

const provider = await exampleModel([
  deltas(["Guten ", "Morgen."]),
  calls([{ name: "translator", arguments: { task: "Good night" } }]),
  deltas(["Gute ", "Nacht."]),
  text("In German one says: Gute Nacht."),
]);
console.log(provider.describe);

// The server. Each conversation has an agent of its own.
const translators = new Map<string, Agent>();
const a2a = createA2AHandler({
  card: {
    name: "Translator",
    description: "Translates into German.",
    version: "1.0.0",
  },
  agentFor: translatorFor,
});
const server = await platform.serve(async (request) => {
  const { pathname, searchParams } = new URL(request.url);
  if (pathname !== "/events") return await a2a(request);
  const task = searchParams.get("task") ?? "Good morning";
  return toEventStream(translatorFor("front end").stream(task));
});

// A front end: every event of the run, then its result.
const events = await fetch(`${server.url}/events?task=Good+morning`);
for (const frame of (await events.text()).trim().split("\n\n")) {
  const kind = /^event: (.*)$/m.exec(frame)?.[1];
  const delta = /"delta":"(.*?)"/.exec(frame)?.[1];
  console.log(delta === undefined ? `sse ${kind}` : `sse ${kind}: ${delta}`);
}

// Another agent, which knows the address of the card and nothing else.
const translator = new A2AAgent({
  agentId: "translator",
  description: "Translates into German.",
  cardUrl: `${server.url}/.well-known/agent-card.json`,
});
const teacher = new Agent({
  agentId: "teacher",
  model: provider.model,
  systemPrompt: "You teach German. Have the translator translate.",
  tools: [agentTool(translator, { forwardProgress: true })],
});
for await (const event of teacher.stream("How do I say good night?")) {
  if (event.kind === "tool_progressed") {
    console.log(`a2a ${event.toolCall.name}: ${event.update.message}`);
  }
  if (event.kind === "agent_finished") {
    console.log(event.result.output ?? event.result.error);
  }
}

if (argv.includes("serve")) {
  console.log(`Serving at ${server.url}`);
} else {
  for (const agent of [teacher, translator, ...translators.values()]) {
    await agent.shutdown();
  }
  await server.close();
  await provider.close();
}

function translatorFor(contextId: string): Agent {
  let agent = translators.get(contextId);
  if (agent === undefined) {
    agent = new Agent({
      agentId: "translator",
      model: provider.model,
      systemPrompt: "Translate into German. Answer with the translation only.",
    });
    translators.set(contextId, agent);
  }
  return agent;
}
