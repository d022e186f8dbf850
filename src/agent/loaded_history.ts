import type { Cancellation } from "../base/abort.ts";
import { withDeadline } from "../base/deadline.ts";
import { RunScope } from "../base/scope.ts";
import type { AgentMessage } from "../messages/message.ts";
import type {
  HistoryProvider,
  HistoryRun,
  LoadedHistory,
  RunOutcome,
} from "../pipeline/history.ts";
import type { AgentCore } from "./core.ts";

/** Puts a loaded conversation behind the agent's own system messages; null keeps what is there. */
export function applyHistory(
  core: AgentCore,
  loaded: LoadedHistory | readonly AgentMessage[] | null,
): void {
  if (loaded === null) return;
  if (!("messages" in loaded)) return core.state.replaceHistory(loaded);
  core.state.replaceHistory(loaded.messages);
  if (loaded.lastRunResult !== undefined) {
    core.state.lastRunResult = loaded.lastRunResult;
  }
}

/** Loads the conversation when the agent starts. @throws {AgentCancelledError} Aborted before it came. */
export async function loadAtStartup(
  core: AgentCore,
  cancellation: Cancellation,
): Promise<void> {
  const { history, clock, providerTimeoutMs: ms } = core.config;
  const what = `load of history provider "${history.sourceId}"`;
  const loaded = await cancellation.race(() =>
    withDeadline(
      (signal) => loadAlone(core, "startup", signal),
      { clock, ms, what },
    )
  );
  applyHistory(core, loaded);
}

/** Loads the conversation for an explicit compaction; an abort ends the wait and keeps what is held. */
export async function loadForCompaction(
  core: AgentCore,
  cancellation: Cancellation,
): Promise<void> {
  const { signal } = cancellation;
  try {
    const loaded = await cancellation.race(() =>
      loadAlone(core, "compaction", signal)
    );
    applyHistory(core, loaded);
  } catch (error) {
    if (!cancellation.aborted) throw error;
  }
}

function loadAlone(
  core: AgentCore,
  kind: "startup" | "compaction",
  signal: AbortSignal,
): ReturnType<HistoryProvider["load"]> {
  const run = historyRunAlone(core, { kind, runId: "" });
  return core.config.history.load({ ...run, signal });
}

/**
 * Lets the history provider keep a conversation.
 *
 * @throws What it throws, or that it took too long.
 */
export async function saveHistory(
  { config }: AgentCore,
  run: Omit<HistoryRun, "signal">,
  outcome: RunOutcome,
): Promise<void> {
  const { history, clock, providerTimeoutMs: ms } = config;
  await withDeadline(
    (signal) => history.save?.({ ...run, signal }, outcome),
    { clock, ms, what: `save of history provider "${history.sourceId}"` },
  );
}

/** What a history provider is told outside any run. */
export function historyRunAlone(
  core: AgentCore,
  run: Pick<HistoryRun, "kind" | "runId">,
): Omit<HistoryRun, "signal"> {
  return { agent: core.info, scope: new RunScope(), ...run };
}
