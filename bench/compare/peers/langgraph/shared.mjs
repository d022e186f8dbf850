import { ChatOpenAICompletions } from "@langchain/openai";
import { BaseChatModel } from "@langchain/core/language_models/chat_models";
import {
  AIMessage,
  AIMessageChunk,
  HumanMessage,
} from "@langchain/core/messages";
import { ChatGenerationChunk } from "@langchain/core/outputs";
import { tool } from "@langchain/core/tools";
import { MemorySaver } from "@langchain/langgraph-checkpoint";
import { z } from "zod";
import { join } from "node:path";
import { mkdirSync } from "node:fs";

export const toNative = (msgs) =>
  msgs.map((
    m,
  ) => (m.role === "user"
    ? new HumanMessage(m.content)
    : new AIMessage(m.content))
  );

class FakeChat extends BaseChatModel {
  constructor(script) {
    super({});
    this.script = script;
  }
  _llmType() {
    return "bench-fake";
  }
  bindTools() {
    return this;
  }
  async _generate() {
    throw new Error("streaming only");
  }
  async *_streamResponseChunks(_messages, _options, runManager) {
    const t = this.script.next();
    const emit = async (message) => {
      const gen = new ChatGenerationChunk({
        message,
        text: typeof message.content === "string" ? message.content : "",
      });
      await runManager?.handleLLMNewToken(
        gen.text,
        undefined,
        undefined,
        undefined,
        undefined,
        { chunk: gen },
      );
      return gen;
    };
    for (const d of t.text) {
      const message = new AIMessageChunk({ id: t.id, content: d });
      const gen = new ChatGenerationChunk({ message, text: d });
      yield gen;
      await runManager?.handleLLMNewToken(
        d,
        undefined,
        undefined,
        undefined,
        undefined,
        { chunk: gen },
      );
    }
    for (let i = 0; i < t.calls.length; i++) {
      const c = t.calls[i];
      const message = new AIMessageChunk({
        id: t.id,
        content: "",
        tool_call_chunks: [{
          index: i,
          id: c.id,
          name: c.name,
          args: c.args,
          type: "tool_call_chunk",
        }],
      });
      const gen = new ChatGenerationChunk({ message, text: "" });
      yield gen;
      await runManager?.handleLLMNewToken(
        "",
        undefined,
        undefined,
        undefined,
        undefined,
        { chunk: gen },
      );
    }
    const message = new AIMessageChunk({
      id: t.id,
      content: "",
      usage_metadata: {
        input_tokens: t.usage.prompt,
        output_tokens: t.usage.completion,
        total_tokens: t.usage.total,
      },
    });
    yield new ChatGenerationChunk({ message, text: "" });
  }
}
export const modelFor = (
  o,
) => (o.fake ? new FakeChat(o.fake) : new ChatOpenAICompletions({
  model: "bench",
  apiKey: "k",
  maxRetries: 0,
  streaming: true,
  configuration: { baseURL: o.baseURL },
}));
const tools = new WeakMap();
const nativeTool = (t) => {
  let n = tools.get(t);
  if (!n) {
    tools.set(
      t,
      n = tool(async (args) => t.execute(args), {
        name: t.name,
        description: t.description,
        schema: z.object({ n: z.number().int() }),
      }),
    );
  }
  return n;
};
export const toolFor = (o) => nativeTool(o.tool);

let SqliteSaver;
export async function prepare(o) {
  if (o.persist?.kind === "sqlite") {
    ({ SqliteSaver } = await import("@langchain/langgraph-checkpoint-sqlite"));
  }
}
export function saverFor(o) {
  if (!o.persist) return undefined;
  if (o.persist.kind === "memory") {
    return (o.persist.saver ??= new MemorySaver());
  }
  mkdirSync(o.persist.dir, { recursive: true });
  return SqliteSaver.fromConnString(
    join(o.persist.dir, `${o.persist.id}.sqlite`),
  );
}
export function wrap(o, graph, saver) {
  let messages = o.history ?? [];
  const config = {
    recursionLimit: o.maxTurns * 3 + 10,
    streamMode: ["messages", "updates"],
    ...(saver ? { configurable: { thread_id: o.persist.id } } : {}),
  };
  return {
    async run(input, onDelta) {
      const user = new HumanMessage(input);
      const asked = saver ? [user] : [...messages, user];
      const added = [];
      for await (
        const [mode, chunk] of await graph.stream({ messages: asked }, config)
      ) {
        if (mode === "messages") {
          const m = chunk[0];
          if (m.content && m.getType() === "ai") onDelta?.(m.content);
        } else {for (const node of Object.values(chunk)) {
            if (node?.messages) {
              added.push(
                ...(Array.isArray(node.messages)
                  ? node.messages
                  : [node.messages]),
              );
            }
          }}
      }
      messages = saver ? added : [...asked, ...added];
      return { text: messages.at(-1).content };
    },
    count: () => messages.length,
    async close() {},
    keep: () => [graph, messages],
  };
}
export async function reloadGraph(o, graph) {
  const state = await graph.getState({
    configurable: { thread_id: o.persist.id },
  });
  return state.values.messages.length;
}
