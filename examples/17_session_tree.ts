/**
 * A session with branches: try another question from an earlier point, repeat a
 * run, and keep every line of the story.
 *
 *     deno task examples 17
 *
 * @module
 */

import {
  Agent,
  MemorySessionStorage,
  SessionHistoryProvider,
  type TaskInput,
} from "@ejagent/core";
import { text } from "@ejagent/core/testing";
import { exampleModel } from "./support/provider.ts";

const provider = await exampleModel([
  text("Once there was a fox."),
  text("The fox met a crow."),
  text("The fox fell asleep."),
  text("The fox met an owl."),
]);
console.log(provider.describe);

const storage = new MemorySessionStorage();
const sessionId = "story";

async function tell(task: TaskInput, branchId = "main"): Promise<void> {
  const agent = new Agent({
    agentId: "teller",
    model: provider.model,
    history: new SessionHistoryProvider({ storage, sessionId, branchId }),
  });
  console.log(`${branchId}: ${await agent.runText(task)}`);
  await agent.shutdown();
}

await tell("Begin a story.");
const beginning = await storage.head(sessionId);
await tell("Whom does it meet?");

// Another line of the story, from where it began.
await storage.fork(sessionId, {
  branchId: "quiet",
  fromRecordId: beginning!.recordId,
});
await tell("What does it do?", "quiet");

// The last run of the main line once more, on a line of its own.
const main = await storage.checkout(sessionId);
const retry = await storage.prepareRetry(sessionId, {
  branchId: "again",
  runId: main!.session.lastRun!.runId,
});
await tell(retry.task, "again");

for (const branch of await storage.listBranches(sessionId)) {
  const { branchId } = branch;
  const checkout = await storage.checkout(sessionId, { branchId });
  const lines = checkout!.session.messages
    .filter((message) => message.role === "assistant")
    .map((message) => message.content);
  console.log(`${branchId}: ${lines.join(" ")}`);
}

await provider.close();
