import OpenAI from "openai";
import type { ChatModelAdapter } from "../../src/chat/adapter.ts";
import {
  ChatModelAdapter as Plain,
  type ChatModelOptions,
} from "../../src/chat/adapter.ts";
import type { ModelConfigInput } from "../../src/chat/config.ts";
import { type FetchLike, fetchTransport } from "../../src/chat/transport.ts";
import type { AgentMessage } from "../../src/messages/message.ts";
import { userMessage } from "../../src/messages/message.ts";
import type { OpenAIFunctionTool } from "../../src/messages/tool.ts";
import type {
  ContextBuildResult,
  ModelDelta,
  ModelResponseCompleted,
  ModelStreamEvent,
} from "../../src/model/adapter.ts";
import { OpenAIModelAdapter } from "../../src/openai/adapter.ts";
import { ManualClock } from "../../src/testing/manual_clock.ts";
import { countingIds, silentLogger } from "../../src/testing/ports.ts";

/** A key that no text of ours may hold. */
export const secretKey = "sk-very-secret-key-0123456789";

/** What a test decides about an adapter. */
export interface AdapterWishes extends Omit<ChatModelOptions, "transport"> {
  readonly fetch: FetchLike;
  readonly config?: Partial<ModelConfigInput>;
}

/** One way to reach a server. */
export interface AdapterKind {
  readonly kind: string;
  /** Makes an adapter that is not started, on a clock that stands still. */
  readonly make: (wishes: AdapterWishes) => ChatModelAdapter;
}

/** All ways to reach a server; they must behave alike. */
export const adapterKinds: readonly AdapterKind[] = [
  {
    kind: "fetch",
    make({ fetch, config, ...options }) {
      const transport = fetchTransport({ fetch });
      return new Plain(configWith(config), {
        ...ports(),
        ...options,
        transport,
      });
    },
  },
  {
    kind: "openai client",
    make({ config, ...options }) {
      return new OpenAIModelAdapter(configWith(config), {
        ...ports(),
        ...options,
      });
    },
  },
  {
    kind: "injected openai client",
    make({ fetch, config, ...options }) {
      const { apiKey, baseUrl: baseURL } = configWith(config);
      const client = new OpenAI({
        apiKey,
        baseURL,
        fetch: (url, init) => fetch(String(url), init!),
      });
      return new OpenAIModelAdapter(configWith(config), {
        ...ports(),
        ...options,
        client,
      });
    },
  },
];

/** A started adapter over plain fetch. */
export async function startedAdapter(
  wishes: AdapterWishes,
): Promise<ChatModelAdapter> {
  const adapter = adapterKinds[0]!.make(wishes);
  await adapter.startup();
  return adapter;
}

/** A configuration that points nowhere. */
export function configWith(
  config: Partial<ModelConfigInput> = {},
): ModelConfigInput {
  return {
    model: "m",
    apiKey: secretKey,
    baseUrl: "http://model.test/v1",
    ...config,
  };
}

function ports() {
  return {
    clock: new ManualClock(),
    ids: countingIds("made"),
    logger: silentLogger,
  };
}

/** A context that holds these messages, or one user message. */
export function contextOf(
  messages: readonly AgentMessage[] = [userMessage("Hello")],
  tools: readonly OpenAIFunctionTool[] = [],
): ContextBuildResult {
  return {
    agentMessages: messages,
    llmMessages: messages,
    tools,
    toolDefinitions: [],
    repairs: { synthesised: [], dropped: 0 },
  };
}

/** What came out of one stream. */
export interface Reading {
  readonly deltas: readonly ModelDelta[];
  readonly completed: ModelResponseCompleted | undefined;
  /** What the stream ended with, if it failed. */
  readonly error: unknown;
}

/** Reads a stream to its end, whichever it is. */
export async function readAll(
  events: AsyncIterable<ModelStreamEvent>,
): Promise<Reading> {
  const deltas: ModelDelta[] = [];
  let completed: ModelResponseCompleted | undefined;
  let error: unknown;
  try {
    for await (const event of events) {
      if (event.kind === "completed") completed = event;
      else deltas.push(event);
    }
  } catch (thrown) {
    error = thrown;
  }
  return { deltas, completed, error };
}

/** Asks a started adapter and reads the answer. */
export function ask(
  adapter: ChatModelAdapter,
  context: ContextBuildResult = contextOf(),
  signal: AbortSignal = new AbortController().signal,
): Promise<Reading> {
  return readAll(adapter.stream(context, { signal }));
}

/** The text of all deltas of one kind. */
export function textOf(
  deltas: readonly ModelDelta[],
  kind: ModelDelta["kind"],
): string {
  return deltas.filter((delta) => delta.kind === kind).map(({ delta }) => delta)
    .join("");
}
