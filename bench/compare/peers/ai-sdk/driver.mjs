import { isStepCount, tool, ToolLoopAgent } from "ai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { z } from "zod";

export const info = {
  name: "ai-sdk",
  label: "ai (ToolLoopAgent)",
  packages: ["ai", "@ai-sdk/openai-compatible"],
  runtimes: { node: 22, bun: true, deno: true },
  fake: true,
  persist: [],
};
export const toNative = (msgs) =>
  msgs.map((m) => ({
    role: m.role,
    content: m.role === "user"
      ? m.content
      : [{ type: "text", text: m.content }],
  }));

export function fakeModel(script) {
  return {
    specificationVersion: "v4",
    provider: "bench",
    modelId: "bench",
    supportedUrls: {},
    async doGenerate() {
      throw new Error("streaming only");
    },
    async doStream() {
      const t = script.next();
      const parts = [{ type: "stream-start", warnings: [] }, {
        type: "response-metadata",
        id: t.id,
        modelId: "bench",
        timestamp: new Date(1700000000000),
      }, { type: "text-start", id: "txt-0" }];
      for (const d of t.text) {
        parts.push({ type: "text-delta", id: "txt-0", delta: d });
      }
      parts.push({ type: "text-end", id: "txt-0" });
      for (const c of t.calls) {
        parts.push({ type: "tool-input-start", id: c.id, toolName: c.name }, {
          type: "tool-input-delta",
          id: c.id,
          delta: c.args,
        }, { type: "tool-input-end", id: c.id });
        parts.push({
          type: "tool-call",
          toolCallId: c.id,
          toolName: c.name,
          input: c.args,
        });
      }
      parts.push({
        type: "finish",
        finishReason: {
          unified: t.calls.length ? "tool-calls" : "stop",
          raw: t.calls.length ? "tool_calls" : "stop",
        },
        usage: {
          inputTokens: {
            total: 100,
            noCache: 100,
            cacheRead: 0,
            cacheWrite: 0,
          },
          outputTokens: { total: 20, text: 20, reasoning: 0 },
        },
      });
      let i = 0;
      return {
        stream: new ReadableStream({
          pull(c) {
            if (i < parts.length) c.enqueue(parts[i++]);
            else c.close();
          },
        }),
      };
    },
  };
}
const tools = new WeakMap();
const nativeTool = (t) => {
  let n = tools.get(t);
  if (!n) {
    tools.set(
      t,
      n = tool({
        description: t.description,
        inputSchema: z.object({ n: z.number().int() }),
        execute: (args) => t.execute(args),
      }),
    );
  }
  return n;
};
export function create(o) {
  const model = o.fake ? fakeModel(o.fake) : createOpenAICompatible({
    name: "bench",
    baseURL: o.baseURL,
    apiKey: "k",
    includeUsage: true,
  })("bench");
  const agent = new ToolLoopAgent({
    model,
    instructions: o.system,
    maxRetries: 0,
    stopWhen: isStepCount(o.maxTurns),
    tools: { [o.tool.name]: nativeTool(o.tool) },
  });
  let messages = o.history ?? [];
  return {
    async run(input, onDelta) {
      const asked = [...messages, { role: "user", content: input }];
      const res = await agent.stream({ messages: asked });
      let text = "";
      for await (const part of res.stream) {
        if (part.type === "text-delta") onDelta?.(part.text);
        else if (part.type === "error") throw part.error;
      }
      text = await res.text;
      messages = [...asked, ...(await res.responseMessages)];
      return { text };
    },
    count: () => messages.length,
    async close() {},
    keep: () => [agent, messages],
  };
}
export const minimal = `
import { ToolLoopAgent, tool } from 'ai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { z } from 'zod';
const agent = new ToolLoopAgent({
  model: createOpenAICompatible({ name: 'bench', baseURL: process.env.BENCH_BASE_URL, apiKey: 'k' })('bench'),
  instructions: 'hi',
  tools: { probe: tool({ description: 'probe', inputSchema: z.object({ n: z.number().int() }), execute: async ({ n }) => 'ok ' + n }) },
});
const res = await agent.stream({ prompt: 'go' });
let text = '';
for await (const d of res.textStream) text += d;
globalThis.__out = text;
`;
