// Floor 2: fetch, a hand-written SSE splitter, JSON.parse, and the same plain loop. Body is re-stringified every turn.
import {
  folder,
  loopAgent,
  readJournal,
  toNative,
  wireTool,
} from "./common.mjs";

export const info = {
  name: "floor-fetch",
  label: "floor: fetch + SSE + loop",
  floor: true,
  packages: [],
  runtimes: { node: 20, bun: true, deno: true },
  fake: true,
  persist: ["jsonl", "jsonl-fsync"],
};
export { toNative };
export async function readSse(res, push) {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const bytes of res.body) {
    rest += decoder.decode(bytes, { stream: true });
    let from = 0;
    for (;;) {
      const at = rest.indexOf("\n\n", from);
      if (at < 0) break;
      if (rest.startsWith("data: ", from)) {
        if (rest.startsWith("[DONE]", from + 6)) return;
        push(JSON.parse(rest.slice(from + 6, at)));
      }
      from = at + 2;
    }
    rest = rest.slice(from);
  }
}
export function create(o) {
  const url = `${o.baseURL}/chat/completions`;
  const tools = [wireTool(o.tool)];
  const headers = {
    "content-type": "application/json",
    authorization: "Bearer k",
  };
  return loopAgent(o, async (messages, onDelta) => {
    const f = folder(onDelta);
    const res = await fetch(url, {
      method: "POST",
      headers,
      body: JSON.stringify({
        model: "bench",
        messages,
        tools,
        stream: true,
        stream_options: { include_usage: true },
      }),
    });
    if (!res.ok) throw new Error(`HTTP ${res.status}`);
    await readSse(res, f.push);
    return f.end();
  });
}
export const reload = async (o) => readJournal(o).length;
export const minimal = `
const messages = [{ role: 'system', content: 'hi' }, { role: 'user', content: 'go' }];
const tool = async ({ n }) => 'ok ' + n;
const tools = [{ type: 'function', function: { name: 'probe', description: 'probe', parameters: { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] } } }];
for (;;) {
  const res = await fetch(process.env.BENCH_BASE_URL + '/chat/completions', { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ model: 'bench', messages, tools, stream: true }) });
  const dec = new TextDecoder(); let rest = '', text = ''; const calls = [];
  for await (const b of res.body) {
    rest += dec.decode(b, { stream: true });
    for (let at; (at = rest.indexOf('\\n\\n')) >= 0; rest = rest.slice(at + 2)) {
      const line = rest.slice(6, at);
      if (line === '[DONE]') continue;
      const d = JSON.parse(line).choices[0]?.delta;
      if (d?.content) text += d.content;
      for (const t of d?.tool_calls ?? []) { const k = (calls[t.index] ??= { id: '', name: '', args: '' }); if (t.id) k.id = t.id; if (t.function?.name) k.name += t.function.name; if (t.function?.arguments) k.args += t.function.arguments; }
    }
  }
  if (!calls.length) { globalThis.__out = text; break; }
  messages.push({ role: 'assistant', content: text, tool_calls: calls.map((c) => ({ id: c.id, type: 'function', function: { name: c.name, arguments: c.args } })) });
  for (const c of calls) messages.push({ role: 'tool', tool_call_id: c.id, content: await tool(JSON.parse(c.args)) });
}
`;
