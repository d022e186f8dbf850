import type { AgentMessage } from "../../src/messages/message.ts";

/**
 * What a strict provider of the chat-completions kind would refuse about a list
 * of messages; empty if it takes it.
 */
export function complaintsAbout(messages: readonly AgentMessage[]): string[] {
  const complaints: string[] = [];
  const seenIds = new Set<string>();
  let owed: string[] = [];
  for (const [index, message] of messages.entries()) {
    const complain = (text: string) => complaints.push(`${index}: ${text}`);
    for (const key of Object.keys(message)) {
      if (/^(usage$|_ejagent_|_simagentplg_)/.test(key)) {
        complain(`unknown key ${key}`);
      }
    }
    if (!isEncodable(message)) complain("text that has no UTF-8 form");
    if (message.role === "tool") {
      if (!owed.includes(message.tool_call_id)) {
        complain("a result without a call");
      }
      owed = owed.filter((id) => id !== message.tool_call_id);
      continue;
    }
    if (owed.length > 0) complain(`calls without results: ${owed}`);
    owed = [];
    if (message.role !== "assistant") continue;
    if (message.tool_calls === undefined) {
      if (isEmpty(message.content)) complain("an empty answer");
      continue;
    }
    if (message.tool_calls.length === 0) complain("an empty list of calls");
    for (const call of message.tool_calls) {
      if (typeof call.id !== "string" || call.id === "") {
        complain("a call without an id");
      }
      if (!/^[a-zA-Z0-9_-]{1,64}$/.test(call.function?.name)) {
        complain("a call without a name that is allowed");
      }
      if (seenIds.has(call.id)) complain(`the id ${call.id} a second time`);
      seenIds.add(call.id);
      owed.push(call.id);
    }
  }
  if (owed.length > 0) complaints.push(`end: calls without results: ${owed}`);
  return complaints;
}

function isEmpty(content: unknown): boolean {
  return Array.isArray(content)
    ? content.every(({ type, text }) => type === "text" && isEmpty(text))
    : (content as string | null ?? "").trim() === "";
}

function isEncodable(value: unknown): boolean {
  if (typeof value === "string") {
    return new TextDecoder().decode(new TextEncoder().encode(value)) === value;
  }
  return typeof value !== "object" || value === null ||
    Object.values(value).every(isEncodable);
}
