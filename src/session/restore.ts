import { type AgentMessage, withoutUsage } from "../messages/message.ts";
import type { AgentRunResult } from "../messages/result.ts";
import { SessionArgumentError } from "./errors.ts";
import type { AgentSession } from "./session.ts";

/** What an agent takes over from a session. */
export interface RestoredConversation {
  /** The conversation, oldest first, without the agent's own system messages. */
  readonly messages: readonly AgentMessage[];
  /** Result of the newest run; null without runs. */
  readonly lastRunResult: AgentRunResult | null;
}

/**
 * The part of a session that an agent goes on with.
 *
 * Messages that a compaction kept lose the usage that was reported for the long
 * context: it would make the short one look full.
 *
 * @throws {SessionArgumentError} `foreign_agent`: the session belongs to another
 * agent; `unfinished_run`: a run was interrupted and must be recovered first.
 */
export function restoredConversation(
  session: AgentSession,
  agentId: string,
): RestoredConversation {
  const { sessionId, unfinishedRunIds } = session;
  if (session.agentId !== null && session.agentId !== agentId) {
    throw new SessionArgumentError(
      "foreign_agent",
      `Session "${sessionId}" belongs to agent "${session.agentId}", not to "${agentId}"`,
    );
  }
  if (unfinishedRunIds.length > 0) {
    throw new SessionArgumentError(
      "unfinished_run",
      `Session "${sessionId}" has the unfinished run(s) ${
        unfinishedRunIds.join(", ")
      }; recover it first, for example with agent.recoverSession()`,
    );
  }
  const keptCount = session.compactions.at(-1)?.messages.length ?? 0;
  return {
    messages: session.messages.map((message, index) =>
      index < keptCount ? withoutUsage(message) : message
    ),
    lastRunResult: session.lastRun?.result ?? null,
  };
}
