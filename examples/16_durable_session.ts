/**
 * A session in a file, written by one process and continued by another. The
 * first one dies in the middle of a tool; the second closes the interrupted run
 * and goes on. No tool is run twice.
 *
 *     deno task examples 16
 *
 * @module
 */

import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { Agent, defineTool, SessionHistoryProvider } from "@ejagent/core";
import { calls, text } from "@ejagent/core/testing";
import { exampleModel } from "./support/provider.ts";
import { platform } from "./support/platform.ts";

const pay = defineTool({
  name: "pay_invoice",
  description: "Pays an invoice.",
  execute() {
    console.log("  paying, and then the power fails");
    process.exit(7);
  },
});

const [role, folder] = process.argv.slice(-2);
if (role === "dies") await payAndDie(folder!);
else await main();

/** The process that does not survive its own tool. */
async function payAndDie(directory: string): Promise<void> {
  const provider = await exampleModel([
    calls([{ name: "pay_invoice", id: "call_pay" }]),
  ]);
  await newAgent(directory, provider.model).run("Pay invoice 12");
}

async function main(): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "durable-session-"));
  const provider = await exampleModel([
    text("The payment was interrupted. Please check the account first."),
  ]);
  console.log(provider.describe);

  const child = spawnSync(process.execPath, childArgs("dies", directory), {
    encoding: "utf8",
  });
  console.log(child.stdout.trim().split("\n").at(-1));
  console.log(`the first process ended with code ${child.status}`);

  const agent = newAgent(directory, provider.model);
  console.log(await agent.runText("Did it work?"));
  for (const message of agent.messages) {
    if (message.role === "tool") console.log(message.content);
  }

  await agent.shutdown();
  await provider.close();
  rmSync(directory, { recursive: true });
}

function newAgent(
  directory: string,
  model: ConstructorParameters<typeof Agent>[0]["model"],
): Agent {
  return new Agent({
    agentId: "clerk",
    model,
    tools: [pay],
    history: new SessionHistoryProvider({
      storage: new platform.JsonlSessionStorage(directory),
      sessionId: "invoices",
      onUnfinished: "recover",
    }),
  });
}

function childArgs(...args: string[]): string[] {
  const program = fileURLToPath(import.meta.url);
  return "Deno" in globalThis
    ? ["run", "-A", "--quiet", program, ...args]
    : [program, ...args];
}
