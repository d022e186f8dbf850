/**
 * Two processes that serve one session in PostgreSQL by turns: neither keeps
 * anything, so it does not matter which of them a user meets.
 *
 *     deno task examples 20
 *     DATABASE_URL=postgres://user:password@host/database deno task examples 20
 *
 * @module
 */

import { spawn } from "node:child_process";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { Agent, SessionHistoryProvider } from "@ejagent/core";
import {
  createPostgresTable,
  PostgresSessionStorage,
  type SqlClient,
} from "@ejagent/core/postgres";
import { text } from "@ejagent/core/testing";
import postgres from "postgres";
import { exampleDatabase } from "./support/database.ts";
import { exampleModel } from "./support/provider.ts";

const [role, task] = process.argv.slice(-2);
if (role === "answers") await answerOnce(task!);
else await main();

async function main(): Promise<void> {
  const provider = await exampleModel([
    text("Nice to meet you, Ada!"),
    text("You are Ada."),
    text("We have talked three times."),
  ]);
  console.log(provider.describe);
  const database = await exampleDatabase();
  console.log(database.describe);
  const environment = { ...provider.environment, DATABASE_URL: database.url };

  const tasks = [
    "My name is Ada.",
    "What is my name?",
    "How often have we talked?",
  ];
  for (const one of tasks) {
    console.log(`you> ${one}`);
    console.log(await outputOf(["answers", one], environment));
  }

  await database.close();
  await provider.close();
}

/** What one of the processes does: it connects, answers and is gone. */
async function answerOnce(question: string): Promise<void> {
  const sql = postgres(process.env.DATABASE_URL!, { max: 1, onnotice() {} });
  const client: SqlClient = {
    query: (statement, values) => sql.unsafe(statement, values as never[]),
  };
  await createPostgresTable(client);

  const provider = await exampleModel([]);
  const agent = new Agent({
    agentId: "companion",
    model: provider.model,
    history: new SessionHistoryProvider({
      storage: new PostgresSessionStorage(client),
      sessionId: "ada",
    }),
  });
  const answer = await agent.runText(question);
  const count = agent.messages.filter(({ role }) => role === "user").length;
  console.log(`companion> ${answer} (a new process, question ${count})`);

  await agent.shutdown();
  await provider.close();
  await sql.end();
}

/** What this program prints in a process of its own. */
function outputOf(
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<string> {
  const program = fileURLToPath(import.meta.url);
  const all = "Deno" in globalThis
    ? ["run", "-A", "--quiet", program, ...args]
    : [program, ...args];
  const child = spawn(process.execPath, all, {
    env: { ...process.env, ...environment },
    stdio: ["ignore", "pipe", "inherit"],
  });
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (piece) => output += piece);
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => {
      if (code === 0) resolve(output.trim());
      else reject(new Error(`The process ended with code ${code}`));
    });
  });
}
