import { JsonlSessionStorage } from "../../../adapters/deno/session_storage.ts";
import { readFromDeno } from "../../../scripts/run.ts";
import type { AgentMessage } from "../../../src/messages/message.ts";
import { exportJournal } from "../../../src/session/export.ts";
import { journalFileName } from "../../../src/session/jsonl.ts";
import { inDirectory, startCommand } from "../../faults/processes.ts";
import { readJournal } from "../../interop/journal_reader.ts";
import { assert, assertEquals, assertMatch } from "../../support/assert.ts";
import { test } from "../../support/suite.ts";
import { sessionId, supportAgent } from "./support_agent.ts";
import { startAnyWorker } from "./workerd.ts";

test(
  "a session goes from Deno through a Durable Object to Node, byte for byte",
  { runtimes: ["deno"], timeoutMs: 180_000, case: "SE-N-08" },
  () =>
    inDirectory(async (directory) => {
      const onDeno = await recordOnDeno(`${directory}/deno`);
      const exported = `${directory}/exported.jsonl`;
      await goThroughObject(onDeno, exported, directory);
      const fromObject = await Deno.readFile(exported);
      const onNode = await goOnWithNode(exported, directory);

      const left = await exportOf(onDeno);
      await onDeno.close();
      assertBegins(fromObject, left);
      assertBegins(onNode, fromObject);
      const stops = [left, fromObject, onNode].map(ordersByBranch);
      assertEquals(stops, [
        { main: [7, 8], idea: [7, 10] },
        { main: [7, 8, 9], idea: [7, 10] },
        { main: [7, 8, 9, 11], idea: [7, 10, 11] },
      ]);
    }),
);

/** Two runs, a fork behind the first, a run on the fork, and checkpoints in between. */
async function recordOnDeno(root: string): Promise<JsonlSessionStorage> {
  const storage = new JsonlSessionStorage(root, { checkpointEvery: 4 });
  const run = async (task: string, branchId?: string) => {
    const agent = supportAgent(storage, branchId);
    assertMatch(await agent.runText(task), /packed/);
    await agent.shutdown();
  };
  await run("Where is order 7?");
  await storage.fork(sessionId, { branchId: "idea" });
  await run("Where is order 8?");
  await run("Where is order 10?", "idea");
  const kinds = (await storage.records(sessionId)).map(({ kind }) => kind);
  assert(kinds.includes("checkpoint"));
  return storage;
}

/** Sends the journal to an object, goes on there and fetches the journal into a file, all as streams. */
async function goThroughObject(
  storage: JsonlSessionStorage,
  file: string,
  directory: string,
): Promise<void> {
  const path = "bench/worker.ts";
  const worker = await startAnyWorker({ path, className: "Chat" }, directory);
  try {
    const body = exportJournal(storage, sessionId);
    const init = { method: "PUT", body } as RequestInit;
    const answer = await worker.fetch(`${sessionId}/journal`, init);
    const { recordCount } = await answer.json();
    assertEquals(recordCount, (await storage.records(sessionId)).length);

    const task = JSON.stringify({ task: "Where is order 9?" });
    const run = await worker.fetch(`${sessionId}/run`, {
      method: "POST",
      body: task,
    });
    assertMatch(await run.text(), /"output":"It says [^\n]*on its way/);

    const journal = await worker.fetch(`${sessionId}/journal`);
    await Deno.writeFile(file, journal.body!);
  } finally {
    await worker.stop();
  }
}

/** @returns The bytes of the file in which Node has gone on. */
async function goOnWithNode(
  file: string,
  directory: string,
): Promise<Uint8Array> {
  const program = `${directory}/move.mjs`;
  await readFromDeno(
    ...["run", "-A", "--no-check", "tests/support/node_program.ts"],
    ...["tests/adapters/cloudflare/move_program.ts", program],
  );
  const root = `${directory}/node`;
  const task = "Where is order 11?";
  const node = startCommand("node", [program, file, root, task]);
  await node.done;
  assertMatch((await node.line())!, /^v\d+\.\d+\.\d+ main: It says .*packed/);
  assertMatch((await node.line())!, /^v\d+\.\d+\.\d+ idea: It says .*packed/);
  return await Deno.readFile(`${root}/${await journalFileName(sessionId)}`);
}

async function exportOf(storage: JsonlSessionStorage): Promise<Uint8Array> {
  const stream = exportJournal(storage, sessionId);
  return new Uint8Array(await new Response(stream as BodyInit).arrayBuffer());
}

function assertBegins(bytes: Uint8Array, beginning: Uint8Array): void {
  assert(bytes.length > beginning.length);
  assertEquals(bytes.subarray(0, beginning.length), beginning);
}

/** The orders that were asked for, as a reader that shares no code with the package finds them. */
function ordersByBranch(bytes: Uint8Array): Record<string, number[]> {
  const { messages } = readJournal(bytes);
  return Object.fromEntries(
    Object.entries(messages).map((
      [branchId, all],
    ) => [branchId, ordersIn(all)]),
  );
}

function ordersIn(messages: readonly unknown[]): number[] {
  return (messages as readonly AgentMessage[]).flatMap(({ role, content }) =>
    role === "user" ? [Number(/order (\d+)/.exec(String(content))![1])] : []
  );
}
