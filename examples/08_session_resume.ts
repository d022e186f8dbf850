/**
 * An agent that is built anew and goes on where the last one stopped: the
 * conversation lives in a session.
 *
 *     deno task examples 08
 *
 * @module
 */

import {
  Agent,
  MemorySessionStorage,
  SessionHistoryProvider,
} from "@ejagent/core";
import { text } from "@ejagent/core/testing";
import { exampleModel } from "./support/provider.ts";

const provider = await exampleModel([
  text("Noted: the code word is heron."),
  text("The code word is heron."),
  text("As I said: heron."),
]);
console.log(provider.describe);

// Any storage will do; see example 16 for files.
const storage = new MemorySessionStorage();

function newAgent(): Agent {
  return new Agent({
    agentId: "keeper",
    model: provider.model,
    history: new SessionHistoryProvider({ storage, sessionId: "secrets" }),
  });
}

const first = newAgent();
console.log(await first.runText("The code word is heron. Remember it."));
await first.shutdown();

const second = newAgent();
console.log(await second.runText("What is the code word?"));

// A run can also go on without anything new being said.
const continued = await second.continueRun();
console.log(continued.output ?? continued.error);
await second.shutdown();

const session = await storage.load("secrets");
for (const run of session?.runs ?? []) {
  console.log(`${run.intent}: ${run.result?.stopReason}`);
}

await provider.close();
