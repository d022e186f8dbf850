import { deepFreeze } from "../base/freeze.ts";
import type { JsonObject, JsonValue } from "../base/json.ts";
import type { ContentPart, TaskInput } from "./content.ts";
import type { ModelToolCall } from "./tool.ts";
import { type ModelUsage, usageToWire, type WireModelUsage } from "./usage.ts";

/** Keys that belong to the package; never sent to a provider. */
export interface MessageMetadata {
  /** Any key of the package. */
  readonly [key: `_ejagent_${string}`]: JsonValue | undefined;
}

/** Instructions to the model. */
export interface SystemMessage extends MessageMetadata {
  /** Who speaks. */
  readonly role: "system" | "developer";
  /** The instructions. */
  readonly content: string;
}

/** What the user said. */
export interface UserMessage extends MessageMetadata {
  /** Who speaks. */
  readonly role: "user";
  /** A text or parts in reading order. */
  readonly content: string | readonly ContentPart[];
}

/** A call as it stands in an assistant message. */
export interface ToolCallEntry {
  /** Id that the tool message repeats. */
  readonly id: string;
  /** Always `"function"`. */
  readonly type: "function";
  /** Name of the tool and the raw JSON text of its arguments. */
  readonly function: { readonly name: string; readonly arguments: string };
}

/** What the model answered. */
export interface AssistantAgentMessage extends MessageMetadata {
  /** Who speaks. */
  readonly role: "assistant";
  /** The text; null for an answer of calls alone. */
  readonly content: string | null;
  /** Calls in source order; absent if there are none. */
  readonly tool_calls?: readonly ToolCallEntry[];
  /** Present only if the provider reported it; never sent back. */
  readonly usage?: WireModelUsage;
}

/** The result of one call. */
export interface ToolMessage extends MessageMetadata {
  /** Who speaks. */
  readonly role: "tool";
  /** Id of the call that this answers. */
  readonly tool_call_id: string;
  /** What the model reads. */
  readonly content: string;
}

/**
 * One message of a conversation, in the form in which it is kept, journaled
 * and, without its metadata, sent.
 *
 * Messages in an agent are frozen all the way down and shared, never copied.
 */
export type AgentMessage =
  | SystemMessage
  | UserMessage
  | AssistantAgentMessage
  | ToolMessage;

/**
 * What a model adapter makes of one answer.
 *
 * `providerData` must go back to the provider with later requests and is
 * journaled; `replay` must go back until the next user message and lives in
 * memory only.
 */
export interface AssistantMessage {
  /** The text; null if there is none. */
  readonly content: string | null;
  /** Calls in source order. */
  readonly toolCalls: readonly ModelToolCall[];
  /** Opaque data of the provider, kept with the message. */
  readonly providerData?: JsonObject;
  /** Opaque data of the provider, kept in memory. */
  readonly replay?: JsonObject;
}

/** Metadata key of {@linkcode AssistantMessage.providerData}. */
export const PROVIDER_DATA_KEY = "_ejagent_provider";

const former = "_simagentplg_";
const replays = new WeakMap<AgentMessage, JsonObject>();

/** Makes a frozen answer; handy in adapters and tests. */
export function assistantMessage(
  content: string | null,
  toolCalls: readonly ModelToolCall[] = [],
): AssistantMessage {
  return deepFreeze({
    content,
    toolCalls: toolCalls.map((call) => ({ ...call })),
  });
}

/**
 * The history form of an answer.
 *
 * @param message Answer of a model adapter.
 * @param usage Reported usage, kept beside the text.
 */
export function toAgentMessage(
  message: AssistantMessage,
  usage: ModelUsage | null = null,
): AssistantAgentMessage {
  const entry: AssistantAgentMessage = deepFreeze({
    role: "assistant" as const,
    content: message.content,
    ...(message.toolCalls.length > 0 &&
      { tool_calls: message.toolCalls.map(toCallEntry) }),
    ...(usage !== null && { usage: usageToWire(usage) }),
    ...(message.providerData !== undefined &&
      { [PROVIDER_DATA_KEY]: message.providerData }),
  });
  if (message.replay !== undefined) replays.set(entry, message.replay);
  return entry;
}

/** The user message of a task. */
export function userMessage(content: TaskInput): UserMessage {
  return deepFreeze({ role: "user" as const, content });
}

/** A system message. */
export function systemMessage(content: string): SystemMessage {
  return deepFreeze({ role: "system" as const, content });
}

/** The message that answers one call. */
export function toolMessage(callId: string, content: string): ToolMessage {
  return deepFreeze({ role: "tool" as const, tool_call_id: callId, content });
}

/** The same message without reported usage, for a place where that count no longer holds. */
export function withoutUsage(message: AgentMessage): AgentMessage {
  if (message.role !== "assistant" || message.usage === undefined) {
    return message;
  }
  const { usage: _, ...rest } = message;
  const entry: AssistantAgentMessage = deepFreeze(rest);
  const replay = replays.get(message);
  if (replay !== undefined) replays.set(entry, replay);
  return entry;
}

/** Data of an answer that is held in memory only, if any. */
export function replayOf(message: AgentMessage): JsonObject | undefined {
  return replays.get(message);
}

/** True for keys that never reach a provider: `usage` and the package's own prefixes. */
export function isInternalKey(key: string): boolean {
  return key === "usage" ||
    (key[0] === "_" &&
      (key.startsWith("_ejagent_") || key.startsWith(former)));
}

function toCallEntry(call: ModelToolCall): ToolCallEntry {
  return {
    id: call.id,
    type: "function",
    function: { name: call.name, arguments: call.arguments },
  };
}
