/**
 * A chat on the terminal: one agent, many runs, one conversation.
 *
 * Every `stream` is a run of its own; what was said before is part of it.
 * Without a terminal it asks two questions of its own.
 *
 *     deno task examples 01
 *
 * @module
 */

import { Agent } from "@ejagent/core";
import { type ScriptRequest, text } from "@ejagent/core/testing";
import { exampleModel } from "./support/provider.ts";
import { lines, write } from "./support/terminal.ts";

const provider = await exampleModel(offline);
console.log(provider.describe);

const agent = new Agent({
  agentId: "companion",
  model: provider.model,
  systemPrompt: "You are a friendly companion. Answer in one short sentence.",
});

for await (
  const line of lines("you> ", ["My name is Ada.", "What is my name?"])
) {
  write("companion> ");
  for await (const event of agent.stream(line)) {
    if (event.kind === "assistant_text_delta") write(event.delta);
    if (event.kind === "agent_finished") write(event.result.error ?? "");
  }
  write("\n");
}

await agent.shutdown();
await provider.close();

/** What the embedded model server answers: it looks the name up in the conversation. */
function offline({ messages }: ScriptRequest) {
  const said = messages.map(({ content }) => content).join(" ");
  const name = /my name is (\w+)/i.exec(said)?.[1];
  const asked = String(messages.at(-1)?.content).endsWith("?");
  if (name === undefined) return text("Hello! And who are you?");
  return text(asked ? `You are ${name}.` : `Nice to meet you, ${name}!`);
}
