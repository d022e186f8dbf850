import { AgentConfigurationError } from "../base/errors.ts";
import type { JsonValue } from "../base/json.ts";
import { requireMethods, requireObject, requireType } from "../base/require.ts";
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
  readonly branchId?: string | undefined;
  /** Ends the reading and writing. */
  readonly signal?: AbortSignal | undefined;
}

/** Takes a kept session over into an idle agent. */
export function restoreSession(
  core: AgentCore,
  source: AgentSession | SessionCheckout,
): void {
  requireOwnHistory(core, "restoreSession()");
  // Object() lets a null through, which storages give for a session they do not have.
  const checkout = "session" in Object(source)
    ? source as SessionCheckout
    : null;
  const session = requireSession(checkout?.session ?? source);
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

/** Refuses to replace a conversation that the next run would load again. */
export function requireOwnHistory({ config }: AgentCore, call: string): void {
  const { sink, sourceId } = config.history;
  if (sink === undefined) return;
  throw new AgentConfigurationError(
    `The history provider "${sourceId}" loads by itself; ${call} is for agents without one`,
  );
}

function requireSession(value: unknown): AgentSession {
  const { unfinishedRunIds } = Object(value) as Partial<AgentSession>;
  requireType(
    Array.isArray(unfinishedRunIds),
    "The session",
    "an AgentSession or a SessionCheckout",
  );
  return value as AgentSession;
}

/** Closes an interrupted run of a session and takes the session over. */
export async function recoverSession(
  core: AgentCore,
  storage: SessionTreeStorage,
  options: RecoverSessionOptions,
): Promise<SessionRecoveryResult> {
  requireOwnHistory(core, "recoverSession()");
  requireMethods("storage", storage, ["recoverInterruptedRun"]);
  const { sessionId, ...branch } = requireObject("The options", options);
  const recovery = await storage.recoverInterruptedRun(sessionId, branch);
  const checkout = recovery.status === "recovered"
    ? recovery.checkout
    : await storage.checkout(sessionId, branch);
  if (checkout === null) {
    throw new SessionArgumentError(
      "unknown_branch",
      `There is no session "${sessionId}" with a branch "${
        branch.branchId ?? "main"
      }"`,
    );
  }
  restoreSession(core, checkout);
  return recovery;
}

/** Puts back what context providers keep: all of it, or nothing if a part is wrong. */
export function restoreProviderState(
  { providerStates }: AgentCore,
  value: Readonly<Record<string, Readonly<Record<string, JsonValue>>>>,
): void {
  const states = Object.entries(requireObject("The provider state", value))
    .map(([sourceId, state]) =>
      [
        sourceId,
        structuredClone(requireObject(`State "${sourceId}"`, state)),
      ] as const
    );
  providerStates.clear();
  for (const [sourceId, state] of states) providerStates.set(sourceId, state);
}
