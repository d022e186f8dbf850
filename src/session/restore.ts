import { frozen } from "../base/freeze.ts";
import type { AgentEventSink } from "../events/sink.ts";
import { type AgentMessage, withoutUsage } from "../messages/message.ts";
import type { AgentRunResult } from "../messages/result.ts";
import { type SessionArgumentCode, SessionArgumentError } from "./errors.ts";
import type { SessionRecorder } from "./recorder.ts";
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
 * @throws {SessionArgumentError} `foreign_agent`: the session belongs to another
 * agent; `unfinished_run`: a run was interrupted and must be recovered first.
 */
export function restoredConversation(
  session: AgentSession,
  agentId: string,
): RestoredConversation {
  const { agentId: owner, unfinishedRunIds: open } = session;
  if (owner !== null && owner !== agentId) {
    const why =
      `belongs to agent "${owner}", not to "${agentId}"; use its agentId`;
    throw unfit(session, "foreign_agent", why);
  }
  if (open.length > 0) {
    const why = `has unfinished run(s) ${open.join(", ")}; if the writer ` +
      'is gone, use storage.recoverInterruptedRun() or onUnfinished: "recover"';
    throw unfit(session, "unfinished_run", why);
  }
  return {
    messages: messagesToRestore(session),
    lastRunResult: session.lastRun?.result ?? null,
  };
}

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
  return frozen(
    messages.map((message, index) =>
      index < keptCount ? withoutUsage(message) : message
    ),
  );
}

/** True for a recorder of a session; told by its shape, so that no agent ships with the recorder. */
export function isRecorder(
  sink: AgentEventSink | undefined,
): sink is SessionRecorder {
  return typeof (sink as Partial<SessionRecorder> | undefined)?.continueFrom ===
    "function";
}

function unfit(
  { sessionId }: AgentSession,
  code: SessionArgumentCode,
  why: string,
): SessionArgumentError {
  return new SessionArgumentError(code, `Session "${sessionId}" ${why}`);
}
