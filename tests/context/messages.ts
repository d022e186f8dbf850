import type {
  AgentMessage,
  SystemMessage,
  ToolCallEntry,
  ToolMessage,
  UserMessage,
} from "../../src/messages/message.ts";
import type { MessageTokenEstimator } from "../../src/context/estimator.ts";

/** Counts the member `_tokens` of each message; tools cost what is given. */
export function memberEstimator(toolTokens = 0): MessageTokenEstimator {
  return {
    estimateMessage: (message) => Reflect.get(message, "_tokens") ?? 0,
    estimateTools: () => toolTokens,
  };
}

/** A message of the user. */
export function user(content: string, tokens?: number): UserMessage {
  return weighed({ role: "user", content }, tokens);
}

/** A message of the agent. */
export function system(content: string, tokens?: number): SystemMessage {
  return weighed({ role: "system", content }, tokens);
}

/** An answer of the model that is text. */
export function assistant(content: string, tokens?: number): AgentMessage {
  return weighed({ role: "assistant", content }, tokens);
}

/** An answer of the model that calls the tool `work` once for every id. */
export function calling(ids: readonly string[], tokens?: number): AgentMessage {
  return weighed({
    role: "assistant",
    content: null,
    tool_calls: ids.map(callEntry),
  }, tokens);
}

/** The result of a call. */
export function result(id: string, tokens?: number): ToolMessage {
  return weighed(
    { role: "tool", tool_call_id: id, content: `did ${id}` },
    tokens,
  );
}

/** A call as it stands in a message. */
export function callEntry(id: string): ToolCallEntry {
  return { id, type: "function", function: { name: "work", arguments: "{}" } };
}

/** The same message with other members. */
export function marked(message: AgentMessage, members: object): AgentMessage {
  return { ...message, ...members } as AgentMessage;
}

/** The same message with reported usage. */
export function withUsage(message: AgentMessage, total: number): AgentMessage {
  return marked(message, {
    usage: {
      input_tokens: total,
      output_tokens: 0,
      total_tokens: total,
      cache_read_tokens: null,
      cache_write_tokens: null,
      reasoning_tokens: null,
    },
  });
}

/** What an unanswered call of the tool `work` is answered with. */
export function interrupted(id: string): ToolMessage {
  const error = "interrupted before a result was recorded; " +
    "the call may or may not have taken effect";
  return {
    role: "tool",
    tool_call_id: id,
    content: `{"status":"interrupted","tool":"work","error":"${error}"}`,
  };
}

/** Role and text of each message, in one line. */
export function outline(messages: readonly AgentMessage[]): string {
  return messages.map((message) =>
    `${message.role[0]}:${message.content ?? ""}`
  ).join(" ");
}

function weighed<T extends AgentMessage>(message: T, tokens?: number): T {
  return tokens === undefined ? message : { ...message, _tokens: tokens };
}
