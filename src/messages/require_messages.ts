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
  const wrong = list.findIndex((message) => !isMessage(message));
  requireType(
    wrong < 0,
    `${name}[${wrong}]`,
    "a message with a known role and content",
  );
  return messages;
}

function isMessage(value: unknown): boolean {
  return isJsonObject(value) && Object.hasOwn(roles, String(value.role)) &&
    ("content" in value || value.role === "assistant");
}
