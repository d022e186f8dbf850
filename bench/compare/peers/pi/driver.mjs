import { Agent } from "@mariozechner/pi-agent-core";
import { createAssistantMessageEventStream, Type } from "@mariozechner/pi-ai";

export const info = {
  name: "pi",
  label: "pi-agent-core",
  packages: ["@mariozechner/pi-agent-core", "@mariozechner/pi-ai"],
  runtimes: { node: 20, bun: true, deno: true },
  fake: true,
  persist: ["jsonl"],
  notes:
    "persistence is the session manager of pi-coding-agent, fed from message_end events",
};
const USAGE = {
  input: 100,
  output: 20,
  cacheRead: 0,
  cacheWrite: 0,
  totalTokens: 120,
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
};
const modelFor = (baseUrl) => ({
  id: "bench",
  name: "bench",
  api: "openai-completions",
  provider: "bench",
  baseUrl,
  reasoning: false,
  input: ["text"],
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
  contextWindow: 100_000_000,
  maxTokens: 4096,
});
export function toNative(msgs) {
  const now = 1700000000000;
  return msgs.map((m) =>
    m.role === "user"
      ? {
        role: "user",
        content: [{ type: "text", text: m.content }],
        timestamp: now,
      }
      : {
        role: "assistant",
        content: [{ type: "text", text: m.content }],
        api: "openai-completions",
        provider: "bench",
        model: "bench",
        usage: { ...USAGE, cost: { ...USAGE.cost } },
        stopReason: "stop",
        timestamp: now,
      }
  );
}
function fakeStream(script) {
  return (model) => {
    const stream = createAssistantMessageEventStream();
    const t = script.next();
    const out = {
      role: "assistant",
      content: [],
      api: model.api,
      provider: model.provider,
      model: model.id,
      usage: { ...USAGE, cost: { ...USAGE.cost } },
      stopReason: t.calls.length ? "toolUse" : "stop",
      timestamp: Date.now(),
    };
    (async () => {
      stream.push({ type: "start", partial: out });
      const block = { type: "text", text: "" };
      out.content.push(block);
      stream.push({ type: "text_start", contentIndex: 0, partial: out });
      for (const d of t.text) {
        block.text += d;
        stream.push({
          type: "text_delta",
          contentIndex: 0,
          delta: d,
          partial: out,
        });
        while (stream.queue.length) await null; // events arrive one by one; a push of all at once would only measure Array.shift
      }
      stream.push({
        type: "text_end",
        contentIndex: 0,
        content: block.text,
        partial: out,
      });
      for (const c of t.calls) {
        const b = { type: "toolCall", id: c.id, name: c.name, arguments: {} };
        out.content.push(b);
        const i = out.content.length - 1;
        stream.push({ type: "toolcall_start", contentIndex: i, partial: out });
        b.arguments = JSON.parse(c.args);
        stream.push({
          type: "toolcall_delta",
          contentIndex: i,
          delta: c.args,
          partial: out,
        });
        stream.push({
          type: "toolcall_end",
          contentIndex: i,
          toolCall: b,
          partial: out,
        });
      }
      stream.push({ type: "done", reason: out.stopReason, message: out });
      stream.end();
    })();
    return stream;
  };
}
const tools = new WeakMap();
const nativeTool = (t) => {
  let n = tools.get(t);
  if (!n) {
    tools.set(
      t,
      n = {
        name: t.name,
        label: t.name,
        description: t.description,
        parameters: Type.Object({ n: Type.Integer() }),
        execute: async (_id, args) => ({
          content: [{ type: "text", text: await t.execute(args) }],
          details: undefined,
        }),
      },
    );
  }
  return n;
};
let sm;
export async function prepare(o) {
  if (o.persist) {
    sm = (await import("@mariozechner/pi-coding-agent")).SessionManager;
  }
}
export function create(o) {
  const agent = new Agent({
    initialState: {
      systemPrompt: o.system,
      model: modelFor(o.baseURL),
      messages: o.history ?? [],
      tools: [nativeTool(o.tool)],
    },
    getApiKey: () => "k",
    ...(o.fake ? { streamFn: fakeStream(o.fake) } : {}),
  });
  let session = null;
  if (o.persist) {
    session = sm.create(o.persist.dir, o.persist.dir);
    o.persist.file = session.getSessionFile();
  }
  let sink;
  agent.subscribe((ev) => {
    if (ev.type === "message_update") {
      if (ev.assistantMessageEvent.type === "text_delta") {
        sink?.(ev.assistantMessageEvent.delta);
      }
    } else if (session && ev.type === "message_end") {
      session.appendMessage(ev.message);
    }
  });
  return {
    async run(input, onDelta) {
      sink = onDelta;
      await agent.prompt(input);
      const last = agent.state.messages.at(-1);
      if (agent.state.errorMessage) throw new Error(agent.state.errorMessage);
      return {
        text: last.content.filter((c) => c.type === "text").map((c) => c.text)
          .join(""),
      };
    },
    count: () => agent.state.messages.length,
    async close() {},
    keep: agent,
  };
}
export async function reload(o) {
  const s = sm.open(o.persist.file, o.persist.dir);
  const ctx = s.buildSessionContext();
  const agent = new Agent({
    initialState: {
      systemPrompt: o.system,
      model: modelFor(o.baseURL),
      messages: ctx.messages,
    },
  });
  return agent.state.messages.length;
}
export const minimal = `
import { Agent } from '@mariozechner/pi-agent-core';
import { Type } from '@mariozechner/pi-ai';
const agent = new Agent({
  initialState: {
    systemPrompt: 'hi',
    model: { id: 'bench', name: 'bench', api: 'openai-completions', provider: 'bench', baseUrl: process.env.BENCH_BASE_URL, reasoning: false, input: ['text'], cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }, contextWindow: 100000, maxTokens: 4096 },
    tools: [{ name: 'probe', label: 'probe', description: 'probe', parameters: Type.Object({ n: Type.Integer() }), execute: async (_id, { n }) => ({ content: [{ type: 'text', text: 'ok ' + n }] }) }],
  },
  getApiKey: () => 'k',
});
await agent.prompt('go');
globalThis.__out = agent.state.messages.at(-1).content.map((c) => c.text).join('');
`;
