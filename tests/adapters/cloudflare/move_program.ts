/**
 * The last stop of a session that moves, a program for Node: `move_program.ts FILE ROOT TASK`.
 *
 * Imports the journal in the file, goes on with it on two branches, and prints what was answered.
 *
 * @module
 */

import { createReadStream } from "node:fs";
import process from "node:process";
import { JsonlSessionStorage } from "../../../adapters/node/session_storage.ts";
import { importJournal } from "../../../src/session/export.ts";
import { sessionId, supportAgent } from "./support_agent.ts";

const [file, root, task] = process.argv.slice(-3) as [string, string, string];
const storage = new JsonlSessionStorage(root);
const bytes = createReadStream(file) as AsyncIterable<Uint8Array>;
await importJournal(storage, bytes, { sessionId });
for (const branchId of ["main", "idea"]) {
  const agent = supportAgent(storage, branchId);
  console.log(`${process.version} ${branchId}: ${await agent.runText(task)}`);
  await agent.shutdown();
}
await storage.close();
