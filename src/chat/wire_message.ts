import { isJsonObject, type JsonObject, type JsonValue } from "../base/json.ts";
import type {
  AgentMessage,
  AssistantAgentMessage,
  ToolCallEntry,
} from "../messages/message.ts";
import { providerDataOf } from "../model/provider_data.ts";
import type { ChatCompat } from "./compat.ts";
import { CALL_EXTRAS, RETURNED_FIELDS } from "./reasoning.ts";

/** A message as the provider gets it: only keys that the API knows. */
export type WireMessage = Readonly<Record<string, unknown>>;

/** How messages of one conversation are put on the wire. */
export interface WireStyle {
  /** Habits of the server. */
  readonly compat: ChatCompat;
  /** The form in which call ids are sent; equal ids become equal ids. */
  readonly callId: (id: string) => string;
}

/**
 * Puts a message on the wire.
 *
 * @param message With or without metadata.
 * @param recent True if no user message follows it: then the provider gets back
 * what was only held in memory.
 */
export function toWireMessage(
  message: AgentMessage,
  style: WireStyle,
  recent: boolean,
): WireMessage {
  switch (message.role) {
    case "assistant":
      return toWireAnswer(message, style, recent);
    case "tool":
      return {
        role: "tool",
        tool_call_id: style.callId(message.tool_call_id),
        content: message.content,
      };
    default:
      return { role: message.role, content: message.content };
  }
}

/** True if the wire form of a message depends on whether a user message follows. */
export function hasReplay(message: AgentMessage): boolean {
  return message.role === "assistant" &&
    Object.keys(providerDataOf(message).replay).length > 0;
}

function toWireAnswer(
  message: AssistantAgentMessage,
  style: WireStyle,
  recent: boolean,
): WireMessage {
  const { compat } = style;
  const { tool_calls: calls = [] } = message;
  const returned = compat.reasoningReplay ? returnedData(message, recent) : {};
  const wire: Record<string, unknown> = { role: "assistant" };
  const content = contentOf(message, compat.emptyAssistantContent);
  if (content !== undefined) wire.content = content;
  // Another adapter may have kept something else under other names.
  for (const name of RETURNED_FIELDS) {
    if (returned[name] !== undefined) wire[name] = returned[name];
  }
  if (calls.length > 0) {
    wire.tool_calls = calls.map((call, index) =>
      toWireCall(call, style, extraOf(returned, index))
    );
  }
  return wire;
}

function returnedData(
  message: AssistantAgentMessage,
  recent: boolean,
): JsonObject {
  const { kept, replay } = providerDataOf(message);
  return recent ? { ...kept, ...replay } : kept;
}

function extraOf(returned: JsonObject, index: number): JsonValue | undefined {
  const extras = returned[CALL_EXTRAS];
  return Array.isArray(extras) ? extras[index] : undefined;
}

function contentOf(
  { content }: AssistantAgentMessage,
  empty: ChatCompat["emptyAssistantContent"],
): string | null | undefined {
  if (content !== null && content !== "") return content;
  if (empty === "omit") return undefined;
  return empty === "empty" ? "" : null;
}

function toWireCall(
  call: ToolCallEntry,
  style: WireStyle,
  extra: JsonValue | undefined,
): WireMessage {
  const { name, arguments: text } = call.function;
  const wire = {
    id: style.callId(call.id),
    type: "function",
    function: { name, arguments: text },
  };
  return isJsonObject(extra) ? { ...wire, extra_content: extra } : wire;
}

/**
 * Gives every id a form of nine letters and digits.
 *
 * Counts the ids of a request in their order, so that two never meet.
 */
export function nineCharacterIds(): (id: string) => string {
  const given = new Map<string, string>();
  return (id) => {
    let short = given.get(id);
    if (short === undefined) {
      short = `call${given.size.toString(36).padStart(5, "0")}`;
      given.set(id, short);
    }
    return short;
  };
}
