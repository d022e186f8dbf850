import {
  Agent,
  MemorySession,
  OpenAIChatCompletionsModel,
  Runner,
  setTracingDisabled,
  tool,
  Usage,
} from "@openai/agents";
import OpenAI from "openai";
import { z } from "zod";
import { appendFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

export const info = {
  name: "openai-agents",
  label: "@openai/agents",
  packages: ["@openai/agents"],
  runtimes: { node: 22, bun: true, deno: true },
  fake: true,
  persist: ["memory", "jsonl"],
  notes:
    "memory = its MemorySession; jsonl = a small append-only file session written for this bench on its Session interface",
};
setTracingDisabled(true);

export function toNative(msgs) {
  return msgs.map((m) =>
    m.role === "user"
      ? { type: "message", role: "user", content: m.content }
      : {
        type: "message",
        role: "assistant",
        status: "completed",
        content: [{ type: "output_text", text: m.content }],
      }
  );
}
class FakeModel {
  constructor(script) {
    this.script = script;
  }
  async getResponse() {
    throw new Error("streaming only");
  }
  async *getStreamedResponse() {
    const t = this.script.next();
    yield { type: "response_started" };
    let text = "";
    for (const d of t.text) {
      text += d;
      yield { type: "output_text_delta", delta: d };
    }
    const output = [{
      id: `msg_${t.id}`,
      type: "message",
      role: "assistant",
      status: "completed",
      content: [{ type: "output_text", text }],
    }];
    for (const c of t.calls) {
      output.push({
        type: "function_call",
        callId: c.id,
        name: c.name,
        arguments: c.args,
        status: "completed",
      });
    }
    yield {
      type: "response_done",
      response: {
        id: t.id,
        usage: {
          inputTokens: t.usage.prompt,
          outputTokens: t.usage.completion,
          totalTokens: t.usage.total,
        },
        output,
      },
    };
  }
}
class JsonlSession {
  constructor(dir, id) {
    mkdirSync(dir, { recursive: true });
    this.id = id;
    this.file = join(dir, `${id}.jsonl`);
    this.items = existsSync(this.file)
      ? readFileSync(this.file, "utf8").split("\n").filter(Boolean).map((l) =>
        JSON.parse(l)
      )
      : [];
  }
  async getSessionId() {
    return this.id;
  }
  async getItems(limit) {
    return limit === undefined ? this.items.slice() : this.items.slice(-limit);
  }
  async addItems(items) {
    if (!items.length) return;
    this.items.push(...items);
    appendFileSync(
      this.file,
      items.map((i) => JSON.stringify(i) + "\n").join(""),
    );
  }
  async popItem() {
    throw new Error("append only");
  }
  async clearSession() {
    throw new Error("append only");
  }
}
const tools = new WeakMap();
const nativeTool = (t) => {
  let n = tools.get(t);
  if (!n) {
    tools.set(
      t,
      n = tool({
        name: t.name,
        description: t.description,
        parameters: z.object({ n: z.number().int() }),
        execute: (args) => t.execute(args),
      }),
    );
  }
  return n;
};
export function create(o) {
  const model = o.fake ? new FakeModel(o.fake) : new OpenAIChatCompletionsModel(
    new OpenAI({ apiKey: "k", baseURL: o.baseURL, maxRetries: 0 }),
    "bench",
  );
  const agent = new Agent({
    name: "bench",
    instructions: o.system,
    model,
    tools: [nativeTool(o.tool)],
  });
  const runner = new Runner({ tracingDisabled: true });
  let history = o.history ?? [];
  const session = o.persist
    ? (o.persist.kind === "memory"
      ? new MemorySession()
      : new JsonlSession(o.persist.dir, o.persist.id))
    : undefined;
  if (o.persist) o.persist.session = session;
  return {
    async run(input, onDelta) {
      const user = { type: "message", role: "user", content: input };
      const res = await runner.run(
        agent,
        session ? [user] : [...history, user],
        { stream: true, maxTurns: o.maxTurns, ...(session ? { session } : {}) },
      );
      for await (const ev of res) {
        if (
          ev.type === "raw_model_stream_event" &&
          ev.data.type === "output_text_delta"
        ) onDelta?.(ev.data.delta);
      }
      await res.completed;
      if (!session) history = res.history;
      return { text: res.finalOutput };
    },
    count: () => history.length,
    async close() {},
    keep: () => [agent, runner, history],
  };
}
export async function prepare(o) {
  if (o.persist?.kind === "jsonl") o.persist.session = null;
}
export async function reload(o) {
  const s = o.persist.kind === "memory"
    ? o.persist.session
    : new JsonlSession(o.persist.dir, o.persist.id);
  return (await s.getItems()).length;
}
export const minimal = `
import { Agent, run, tool, OpenAIChatCompletionsModel, setTracingDisabled } from '@openai/agents';
import OpenAI from 'openai';
import { z } from 'zod';
setTracingDisabled(true);
const agent = new Agent({
  name: 'bench', instructions: 'hi',
  model: new OpenAIChatCompletionsModel(new OpenAI({ apiKey: 'k', baseURL: process.env.BENCH_BASE_URL, maxRetries: 0 }), 'bench'),
  tools: [tool({ name: 'probe', description: 'probe', parameters: z.object({ n: z.number().int() }), execute: async ({ n }) => 'ok ' + n })],
});
const res = await run(agent, 'go', { stream: true });
for await (const ev of res) globalThis.__ev = ev.type;
await res.completed;
globalThis.__out = res.finalOutput;
`;
