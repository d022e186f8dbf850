// Shared pieces of the two ejagent drivers, which differ in how requests travel.
import {
  Agent,
  assistantMessage,
  defineTool,
  SessionHistoryProvider,
  toAgentMessage,
  userMessage,
} from "@ejagent/core";

export const toNative = (messages) =>
  messages.map(({ role, content }) =>
    role === "user"
      ? userMessage(content)
      : toAgentMessage(assistantMessage(content))
  );

let openStorage;

/** Loads what only runs with persistence need; locks are the kernel's on every runtime. */
export async function prepare({ persist }) {
  if (persist === undefined) return;
  const { JsonlSessionStorage, options } = await platform();
  openStorage = ({ dir, kind }) =>
    new JsonlSessionStorage(dir, {
      ...options,
      fsync: kind === "jsonl" ? "never" : "always",
    });
}

async function platform() {
  if ("Deno" in globalThis) return await import("@ejagent/core/deno");
  if ("Bun" in globalThis) return await import("@ejagent/core/bun");
  const { JsonlSessionStorage, nodeFlock } = await import("@ejagent/core/node");
  const { default: koffi } = await import("koffi");
  return { JsonlSessionStorage, options: { lock: nodeFlock(koffi) } };
}

export function createAgent(o, model) {
  let onText;
  const agent = new Agent({
    agentId: "bench",
    model: o.fake === undefined ? model : scriptModel(o.fake),
    systemPrompt: o.system,
    tools: [nativeTool(o.tool)],
    runtimePolicy: {
      maxSteps: o.maxTurns,
      maxRepeatedToolCalls: Infinity,
      parallelToolCalls: true,
    },
    eventSink: {
      emit(event) {
        if (event.kind === "assistant_text_delta") onText?.(event.delta);
      },
    },
    ...(o.persist && { history: historyIn(o.persist) }),
  });
  if (o.history !== undefined) agent.reset(o.history);
  const ownCount = agent.messages.length - (o.history?.length ?? 0);
  return {
    async run(input, onDelta) {
      onText = onDelta;
      return { text: await agent.runText(input) };
    },
    count: () => agent.messages.length - ownCount,
    close: () => agent.shutdown(),
  };
}

/** How many messages a fresh agent gets back from what was stored. */
export async function reload(o) {
  const checkout = await openStorage(o.persist).checkout(o.persist.id);
  const agent = new Agent({
    agentId: "bench",
    model: scriptModel(),
    systemPrompt: o.system,
  });
  agent.restoreSession(checkout);
  return agent.messages.filter(({ role }) => role !== "system").length;
}

function historyIn(persist) {
  return new SessionHistoryProvider({
    storage: openStorage(persist),
    sessionId: persist.id,
  });
}

const nativeTools = new WeakMap();

function nativeTool(tool) {
  let native = nativeTools.get(tool);
  if (native === undefined) {
    native = defineTool({ ...tool, effect: "read_only" });
    nativeTools.set(tool, native);
  }
  return native;
}

/** The in-process model: the script's answers as the events of an adapter. */
function scriptModel(script) {
  return {
    complete() {
      throw new Error("The script is only streamed");
    },
    stream() {
      const { text, calls } = script.next();
      let count = 0;
      const events = {
        next() {
          const value = count < text.length
            ? { kind: "text_delta", delta: text[count++] }
            : completed(text, calls);
          return Promise.resolve({ value, done: false });
        },
        [Symbol.asyncIterator]: () => events,
      };
      return events;
    },
  };
}

function completed(text, calls) {
  return {
    kind: "completed",
    message: assistantMessage(
      text.join(""),
      calls.map(({ id, name, args }) => ({ id, name, arguments: args })),
    ),
    finishReason: calls.length > 0 ? "tool_calls" : "stop",
  };
}
