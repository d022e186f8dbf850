import { deepFreeze } from "../base/freeze.ts";
import type { AgentMessage } from "../messages/message.ts";
import type { AgentSession } from "./session.ts";

/**
 * The conversation for an agent to go on with, oldest first.
 *
 * These are the messages of the session, but for usage that was reported before
 * the newest compaction: it speaks of a context that is much longer than what is
 * left.
 */
export function messagesToRestore(
  session: AgentSession,
): readonly AgentMessage[] {
  const { messages, compactions } = session;
  const keptCount = compactions.at(-1)?.messages.length ?? 0;
  return Object.freeze(
    messages.map((message, index) =>
      index < keptCount ? withoutUsage(message) : message
    ),
  );
}

function withoutUsage(message: AgentMessage): AgentMessage {
  if (!("usage" in message)) return message;
  const { usage: _stale, ...rest } = message;
  return deepFreeze(rest as AgentMessage);
}
