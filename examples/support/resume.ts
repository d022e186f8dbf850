/**
 * The last stop of the tour, in a process of its own: goes on with a session
 * that another process, on another runtime, has written.
 *
 *     bun examples/support/resume.ts <folder> <session> <question>
 *
 * @module
 */

import process from "node:process";
import { Agent, SessionHistoryProvider } from "@ejagent/core";
import { platform } from "./platform.ts";
import { exampleModel } from "./provider.ts";
import { paint, write } from "./terminal.ts";

const [folder, sessionId, question] = process.argv.slice(-3);
const provider = await exampleModel([]);
const agent = new Agent({
  agentId: "guide",
  model: provider.model,
  history: new SessionHistoryProvider({
    storage: new platform.JsonlSessionStorage(folder!),
    sessionId: sessionId!,
  }),
});

await agent.startup();
const runtime = process.versions.bun === undefined ? "a new process" : "Bun";
console.log(
  paint.dim(`${runtime} has read ${agent.messages.length - 1} messages`),
);
write(`${paint.green("guide >")} `);
for await (const event of agent.stream(question!)) {
  if (event.kind === "assistant_text_delta") write(event.delta);
}
write("\n");
process.exitCode = agent.state.lastRunResult?.succeeded ? 0 : 1;

await agent.shutdown();
await provider.close();
