import { createAgent } from "langchain";
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
  name: "langchain",
  label: "langchain createAgent (on langgraph)",
  packages: ["langchain", "@langchain/langgraph", "@langchain/openai"],
  runtimes: { node: 22, bun: true, deno: true },
  fake: true,
  persist: ["memory", "sqlite"],
};
export { prepare, toNative };
const build = (o, saver) =>
  createAgent({
    model: modelFor(o),
    tools: [toolFor(o)],
    systemPrompt: o.system,
    ...(saver ? { checkpointer: saver } : {}),
  });
export function create(o) {
  const saver = saverFor(o);
  return wrap(o, build(o, saver), saver);
}
export async function reload(o) {
  return reloadGraph(o, build(o, saverFor(o)).graph);
}
export const minimal = `
import { createAgent, tool } from 'langchain';
import { ChatOpenAICompletions } from '@langchain/openai';
import { z } from 'zod';
const agent = createAgent({
  model: new ChatOpenAICompletions({ model: 'bench', apiKey: 'k', maxRetries: 0, streaming: true, configuration: { baseURL: process.env.BENCH_BASE_URL } }),
  tools: [tool(async ({ n }) => 'ok ' + n, { name: 'probe', description: 'probe', schema: z.object({ n: z.number().int() }) })],
  systemPrompt: 'hi',
});
let text = '';
for await (const [m] of await agent.stream({ messages: [{ role: 'user', content: 'go' }] }, { streamMode: 'messages' })) text += m.content;
globalThis.__out = text;
`;
