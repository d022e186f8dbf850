/**
 * An agent in a Durable Object, on workerd on this machine. The Worker itself is
 * in `durable_object_worker/`, with what a deployment needs.
 *
 *     deno task examples 18
 *
 * @module
 */

import process from "node:process";
import { fileURLToPath } from "node:url";
import { calls, text } from "@ejagent/core/testing";
import { build } from "esbuild";
import { Miniflare } from "miniflare";
import { platform } from "./support/platform.ts";
import { exampleModel } from "./support/provider.ts";
import { write } from "./support/terminal.ts";

const provider = await exampleModel([
  calls([{ name: "open_ticket", arguments: { subject: "Broken lamp" } }]),
  text("I have opened ticket 4711 for you."),
  text("Your ticket is number 4711."),
]);
console.log(provider.describe);

const { MODEL_API_KEY, MODEL_URL, CHAT_MODEL } = {
  ...platform.environment(),
  ...provider.environment,
};
const miniflare = new Miniflare({
  modules: [{
    type: "ESModule",
    path: "worker.mjs",
    contents: await bundleWorker(),
  }],
  compatibilityDate: "2026-04-01",
  bindings: {
    ...(MODEL_API_KEY && { MODEL_API_KEY }),
    ...(MODEL_URL && { MODEL_URL }),
    ...(CHAT_MODEL && { CHAT_MODEL }),
  },
  durableObjects: { CHATS: { className: "Chat", useSQLite: true } },
});
const chat = new URL("chats/ada/", await miniflare.ready);

await ask("My lamp is broken.");
await ask("Which number was it?");
const history = await fetch(new URL("history", chat));
console.log(`the object holds ${(await history.json()).length} messages`);

await miniflare.dispose();
await provider.close();
process.exit(); // The bundler leaves a process behind.

/** Sends a task and shows the run, which comes as server-sent events. */
async function ask(task: string): Promise<void> {
  console.log(`you> ${task}`);
  write("support> ");
  const answer = await fetch(new URL("run", chat), {
    method: "POST",
    body: JSON.stringify({ task }),
  });
  for (const frame of (await answer.text()).split("\n\n")) {
    const data = /^data: (.*)$/m.exec(frame)?.[1] ?? "{}";
    const { kind, toolCall, delta } = JSON.parse(data);
    if (kind === "tool_started") write(`[${toolCall.name}] `);
    if (kind === "assistant_text_delta") write(delta);
  }
  write("\n");
}

async function bundleWorker(): Promise<string> {
  const worker = new URL("durable_object_worker/worker.ts", import.meta.url);
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(worker)],
    bundle: true,
    write: false,
    format: "esm",
    target: "es2022",
    external: ["cloudflare:workers"],
  });
  return outputFiles[0]!.text;
}
