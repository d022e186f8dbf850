import { isJsonObject } from "../base/json.ts";
import { requireList, requireType } from "../base/require.ts";
import type { AgentMessage } from "./message.ts";

const roles: Readonly<Record<AgentMessage["role"], true>> = {
  system: true,
  developer: true,
  user: true,
  assistant: true,
  tool: true,
};

/** Checks a list of messages. @throws {TypeError} It is none, naming the place. Only answers go without content. */
export function requireMessages<T>(name: string, messages: T): T {
  const list = requireList(name, messages as readonly unknown[]);
  list.forEach((message, place) => {
    const known = isJsonObject(message) &&
      Object.hasOwn(roles, String(message.role)) &&
      ("content" in message || message.role === "assistant");
    requireType(
      known,
      `${name}[${place}]`,
      "a message with a known role and content",
    );
  });
  return messages;
}
