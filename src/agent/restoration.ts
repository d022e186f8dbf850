import { AgentConfigurationError } from "../base/errors.ts";
import { SessionArgumentError } from "../session/errors.ts";
import { isRecorder, restoredConversation } from "../session/restore.ts";
import type { AgentSession } from "../session/session.ts";
import type {
  SessionCheckout,
  SessionRecoveryResult,
  SessionTreeStorage,
} from "../session/storage.ts";
import type { AgentCore } from "./core.ts";

/** Which session is to be recovered. */
export interface RecoverSessionOptions {
  /** The session. */
  readonly sessionId: string;
  /** Its branch. @default {"main"} */
  readonly branchId?: string;
  /** Ends the reading and writing. */
  readonly signal?: AbortSignal;
}

/** Takes a kept session over into an idle agent. */
export function restoreSession(
  core: AgentCore,
  source: AgentSession | SessionCheckout,
): void {
  if (core.config.history.sink !== undefined) {
    throw new AgentConfigurationError(
      `The history provider "${core.config.history.sourceId}" loads by itself; ` +
        "restoreSession() is for agents without one",
    );
  }
  const checkout = "session" in source ? source : null;
  const session = "session" in source ? source.session : source;
  const { messages, lastRunResult } = restoredConversation(
    session,
    core.config.agentId,
  );
  core.state.reset(messages);
  core.state.lastRunResult = lastRunResult;
  if (checkout === null) return;
  for (const sink of core.sinks) {
    if (isRecorder(sink)) sink.continueFrom(checkout);
  }
}

/** Closes an interrupted run of a session and takes the session over. */
export async function recoverSession(
  core: AgentCore,
  storage: SessionTreeStorage,
  options: RecoverSessionOptions,
): Promise<SessionRecoveryResult> {
  const { sessionId, ...branch } = options;
  const recovery = await storage.recoverInterruptedRun(sessionId, branch);
  const checkout = recovery.status === "recovered"
    ? recovery.checkout
    : await storage.checkout(sessionId, branch);
  if (checkout === null) {
    throw new SessionArgumentError(
      "unknown_branch",
      `There is no session "${sessionId}" with that branch`,
    );
  }
  restoreSession(core, checkout);
  return recovery;
}
