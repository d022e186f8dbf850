// Floor 1: the `openai` client, its own SSE iterator, and a plain loop.
import OpenAI from "openai";
import {
  folder,
  loopAgent,
  readJournal,
  toNative,
  wireTool,
} from "./common.mjs";

export const info = {
  name: "floor-openai",
  label: "floor: openai client + loop",
  floor: true,
  packages: ["openai"],
  runtimes: { node: 20, bun: true, deno: true },
  fake: false,
  persist: ["jsonl", "jsonl-fsync"],
};
export { toNative };
export function create(o) {
  const client = new OpenAI({ apiKey: "k", baseURL: o.baseURL, maxRetries: 0 });
  const tools = [wireTool(o.tool)];
  return loopAgent(o, async (messages, onDelta) => {
    const f = folder(onDelta);
    const stream = await client.chat.completions.create({
      model: "bench",
      messages,
      tools,
      stream: true,
      stream_options: { include_usage: true },
    });
    for await (const chunk of stream) f.push(chunk);
    return f.end();
  });
}
export const reload = async (o) => readJournal(o).length;
export const minimal = `
import OpenAI from 'openai';
const client = new OpenAI({ apiKey: 'k', baseURL: process.env.BENCH_BASE_URL, maxRetries: 0 });
const tool = { name: 'probe', run: async ({ n }) => 'ok ' + n };
const messages = [{ role: 'system', content: 'hi' }, { role: 'user', content: 'go' }];
const tools = [{ type: 'function', function: { name: 'probe', description: 'probe', parameters: { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] } } }];
for (;;) {
  const stream = await client.chat.completions.create({ model: 'bench', messages, tools, stream: true });
  let text = ''; const calls = [];
  for await (const c of stream) {
    const d = c.choices[0]?.delta;
    if (d?.content) text += d.content;
    for (const t of d?.tool_calls ?? []) { const k = (calls[t.index] ??= { id: '', name: '', args: '' }); if (t.id) k.id = t.id; if (t.function?.name) k.name += t.function.name; if (t.function?.arguments) k.args += t.function.arguments; }
  }
  if (!calls.length) { globalThis.__out = text; break; }
  messages.push({ role: 'assistant', content: text, tool_calls: calls.map((c) => ({ id: c.id, type: 'function', function: { name: c.name, arguments: c.args } })) });
  for (const c of calls) messages.push({ role: 'tool', tool_call_id: c.id, content: await tool.run(JSON.parse(c.args)) });
}
`;
