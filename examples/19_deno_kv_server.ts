/**
 * A chat server on Deno that keeps its sessions in Deno KV. It holds nothing in
 * memory, so many instances may serve the same chats.
 *
 *     deno task examples 19          # asks itself two questions
 *     deno task examples 19 8000     # serves on a port until it is stopped
 *
 * @module
 */

import { Agent, SessionHistoryProvider } from "@ejagent/core";
import { serve } from "@ejagent/core/deno";
import { DenoKvSessionStorage } from "@ejagent/core/deno-kv";
import { toEventStream } from "@ejagent/core/http";
import { text } from "@ejagent/core/testing";
import { exampleModel } from "./support/provider.ts";

const [port] = Deno.args;
const provider = await exampleModel(
  port === undefined
    ? [text("Nice to meet you, Ada!"), text("You are Ada.")]
    // Without a key there is no end to what visitors may ask.
    : ({ messages }) => text(`You say: ${messages.at(-1)!.content}`),
);
console.log(provider.describe);

const kv = await Deno.openKv(port === undefined ? ":memory:" : "./chats.db");
const storage = new DenoKvSessionStorage(kv);
const server = await serve(answer, { port: Number(port ?? 0) });
const chat = `${server.url}/ada`;

if (port === undefined) {
  await ask("My name is Ada.");
  await ask("What is my name?");
  const messages = await (await fetch(chat)).json();
  console.log(`Deno KV holds ${messages.length} messages`);
  await server.close();
  kv.close();
  await provider.close();
} else {
  console.log(`Try curl -N -d "Hello" ${chat}`);
}

/** `POST /<chat>` runs a task, `GET /<chat>` shows what was said. */
async function answer(request: Request): Promise<Response> {
  const sessionId = new URL(request.url).pathname.slice(1) || "chat";
  if (request.method === "GET") {
    const session = await storage.load(sessionId);
    return Response.json(session?.messages ?? []);
  }
  const agent = new Agent({
    agentId: "companion",
    model: provider.model,
    history: new SessionHistoryProvider({
      storage,
      sessionId,
      // An interrupted run is closed, and so is one that another instance is still
      // busy with: a journal does not tell them apart. Two questions to one chat at
      // a time end the first; send a visitor's questions to one instance, in turn.
      onUnfinished: "recover",
    }),
  });
  const task = await request.text();
  return toEventStream(agent.stream(task, { signal: request.signal }));
}

async function ask(task: string): Promise<void> {
  console.log(`you> ${task}`);
  const response = await fetch(chat, { method: "POST", body: task });
  const [result = ""] =
    (await response.text()).match(/(?<=^data: ).*"output".*/gm)
      ?.slice(-1) ?? [];
  console.log(`companion> ${JSON.parse(result).output}`);
}
