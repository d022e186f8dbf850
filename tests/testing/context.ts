import type { AgentMessage } from "../../src/messages/message.ts";
import { userMessage } from "../../src/messages/message.ts";
import type { ContextBuildResult, ModelCall } from "../../src/model/adapter.ts";

/** A request that holds these messages, or one user message. */
export function contextOf(
  ...messages: readonly AgentMessage[]
): ContextBuildResult {
  const list = messages.length === 0 ? [userMessage("Hello")] : messages;
  return {
    agentMessages: list,
    llmMessages: list,
    tools: [],
    toolDefinitions: [],
    repairs: { synthesised: [], dropped: 0 },
  };
}

/** A call that nobody aborts, or one under a signal. */
export function callWith(
  signal: AbortSignal = new AbortController().signal,
): ModelCall {
  return { signal };
}

/** Everything that an iterable yields. */
export async function collect<T>(source: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = [];
  for await (const item of source) items.push(item);
  return items;
}
