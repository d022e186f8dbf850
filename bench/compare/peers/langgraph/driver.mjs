import { createReactAgent } from "@langchain/langgraph/prebuilt";
import {
  modelFor,
  prepare,
  reloadGraph,
  saverFor,
  toNative,
  toolFor,
  wrap,
} from "./shared.mjs";

export const info = {
  name: "langgraph",
  label: "@langchain/langgraph createReactAgent",
  packages: ["@langchain/langgraph", "@langchain/openai", "@langchain/core"],
  runtimes: { node: 22, bun: true, deno: true },
  fake: true,
  persist: ["memory", "sqlite"],
  notes:
    "sqlite = its SqliteSaver, on a thin better-sqlite3 stand-in over node:sqlite",
};
export { prepare, toNative };
const build = (o, saver) =>
  createReactAgent({
    llm: modelFor(o),
    tools: [toolFor(o)],
    prompt: o.system,
    ...(saver ? { checkpointer: saver } : {}),
  });
export function create(o) {
  const saver = saverFor(o);
  return wrap(o, build(o, saver), saver);
}
export async function reload(o) {
  return reloadGraph(o, build(o, saverFor(o)));
}
export const minimal = `
import { createReactAgent } from '@langchain/langgraph/prebuilt';
import { ChatOpenAICompletions } from '@langchain/openai';
import { tool } from '@langchain/core/tools';
import { z } from 'zod';
const graph = createReactAgent({
  llm: new ChatOpenAICompletions({ model: 'bench', apiKey: 'k', maxRetries: 0, streaming: true, configuration: { baseURL: process.env.BENCH_BASE_URL } }),
  tools: [tool(async ({ n }) => 'ok ' + n, { name: 'probe', description: 'probe', schema: z.object({ n: z.number().int() }) })],
  prompt: 'hi',
});
let text = '';
for await (const [m] of await graph.stream({ messages: [{ role: 'user', content: 'go' }] }, { streamMode: 'messages' })) text += m.content;
globalThis.__out = text;
`;
