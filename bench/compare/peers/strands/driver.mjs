import {
  Agent,
  Message,
  Model,
  NullConversationManager,
  SessionManager,
  TextBlock,
  tool,
} from "@strands-agents/sdk";
import { OpenAIModel } from "@strands-agents/sdk/models/openai";
import { LocalFileStorage } from "@strands-agents/sdk/storage";
import { z } from "zod";

export const info = {
  name: "strands",
  label: "@strands-agents/sdk",
  packages: ["@strands-agents/sdk"],
  runtimes: { node: 22, bun: true, deno: true },
  fake: true,
  persist: ["file-invocation", "file-message"],
  notes:
    "its chat adapter loses text before a tool call and all but the last parallel call; the driver adds the missing block ends so that the work is equal. NullConversationManager so that nothing is trimmed; file-* = its SessionManager on local file storage, saved per invocation (its default) or per message",
};
export const toNative = (msgs) =>
  msgs.map((m) =>
    new Message({ role: m.role, content: [new TextBlock(m.content)] })
  );

class FakeModel extends Model {
  constructor(script) {
    super();
    this.script = script;
    this.cfg = { modelId: "bench" };
  }
  updateConfig(c) {
    Object.assign(this.cfg, c);
  }
  getConfig() {
    return this.cfg;
  }
  async *stream() {
    const t = this.script.next();
    yield { type: "modelMessageStartEvent", role: "assistant" };
    yield { type: "modelContentBlockStartEvent" };
    for (const d of t.text) {
      yield {
        type: "modelContentBlockDeltaEvent",
        delta: { type: "textDelta", text: d },
      };
    }
    yield { type: "modelContentBlockStopEvent" };
    for (const c of t.calls) {
      yield {
        type: "modelContentBlockStartEvent",
        start: { type: "toolUseStart", name: c.name, toolUseId: c.id },
      };
      yield {
        type: "modelContentBlockDeltaEvent",
        delta: { type: "toolUseInputDelta", input: c.args },
      };
      yield { type: "modelContentBlockStopEvent" };
    }
    yield {
      type: "modelMessageStopEvent",
      stopReason: t.calls.length ? "toolUse" : "endTurn",
    };
    yield {
      type: "modelMetadataEvent",
      usage: { inputTokens: 100, outputTokens: 20, totalTokens: 120 },
    };
  }
}
// The chat adapter of 1.19.0 never closes a block before it opens the next one: text before a tool call and all but
// the last of several parallel calls are lost. This wrapper closes blocks, so that the run does the same work as the others.
class ClosingOpenAIModel extends OpenAIModel {
  async *stream(messages, options) {
    let open = false;
    for await (const ev of super.stream(messages, options)) {
      if (ev.type === "modelContentBlockStartEvent") {
        if (open) yield { type: "modelContentBlockStopEvent" };
        open = true;
      } else if (ev.type === "modelContentBlockStopEvent") {
        if (!open) continue;
        open = false;
      }
      yield ev;
    }
  }
}
const modelFor = (
  o,
) => (o.fake ? new FakeModel(o.fake) : new ClosingOpenAIModel({
  api: "chat",
  modelId: "bench",
  apiKey: "k",
  clientConfig: { baseURL: o.baseURL, maxRetries: 0 },
}));
const sessionFor = (o) =>
  new SessionManager({
    sessionId: o.persist.id,
    storage: new LocalFileStorage(o.persist.dir),
    saveLatestOn: o.persist.kind === "file-message" ? "message" : "invocation",
  });
const tools = new WeakMap();
const nativeTool = (t) => {
  let n = tools.get(t);
  if (!n) {
    tools.set(
      t,
      n = tool({
        name: t.name,
        description: t.description,
        inputSchema: z.object({ n: z.number().int() }),
        callback: (args) => t.execute(args),
      }),
    );
  }
  return n;
};
export function create(o) {
  const agent = new Agent({
    model: modelFor(o),
    systemPrompt: o.system,
    messages: o.history ?? [],
    printer: false,
    sandbox: false,
    conversationManager: new NullConversationManager(),
    ...(o.persist ? { sessionManager: sessionFor(o) } : {}),
    tools: [nativeTool(o.tool)],
  });
  return {
    async run(input, onDelta) {
      const it = agent.stream(input);
      for (;;) {
        const { value, done } = await it.next();
        if (done) {
          return {
            text: value.lastMessage.content.filter((c) =>
              c.type === "textBlock"
            ).map((c) => c.text).join(""),
          };
        }
        if (
          value.type === "modelStreamUpdateEvent" &&
          value.event.type === "modelContentBlockDeltaEvent" &&
          value.event.delta.type === "textDelta"
        ) onDelta?.(value.event.delta.text);
      }
    },
    count: () => agent.messages.length,
    async close() {},
    keep: agent,
  };
}
export async function reload(o) {
  const agent = new Agent({
    model: modelFor(o),
    printer: false,
    sandbox: false,
    conversationManager: new NullConversationManager(),
    sessionManager: sessionFor(o),
  });
  await agent.initialize();
  return agent.messages.length;
}
export const minimal = `
import { Agent, tool } from '@strands-agents/sdk';
import { OpenAIModel } from '@strands-agents/sdk/models/openai';
import { z } from 'zod';
const agent = new Agent({
  model: new OpenAIModel({ api: 'chat', modelId: 'bench', apiKey: 'k', clientConfig: { baseURL: process.env.BENCH_BASE_URL, maxRetries: 0 } }),
  systemPrompt: 'hi', printer: false,
  tools: [tool({ name: 'probe', description: 'probe', inputSchema: z.object({ n: z.number().int() }), callback: async ({ n }) => 'ok ' + n })],
});
const res = await agent.invoke('go');
globalThis.__out = String(res);
`;
