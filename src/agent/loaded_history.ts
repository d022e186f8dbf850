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

/**
 * Fetches the conversation and puts it behind the agent's own system messages.
 *
 * @throws What the load throws, or that it was aborted. The provider then knows
 * that nothing reached the agent.
 */
export async function takeHistory(
  core: AgentCore,
  load: () => ReturnType<HistoryProvider["load"]>,
): Promise<void> {
  try {
    applyHistory(core, await load());
  } catch (error) {
    core.config.history.reset?.();
    throw error;
  }
}

function applyHistory(
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
  await takeHistory(core, () =>
    cancellation.race(() =>
      withDeadline(
        (signal) => loadAlone(core, "startup", signal),
        { clock, ms, what },
      )
    ));
}

/** Loads the conversation for an explicit compaction; an abort ends the wait and keeps what is held. */
export async function loadForCompaction(
  core: AgentCore,
  cancellation: Cancellation,
): Promise<void> {
  const { signal } = cancellation;
  try {
    await takeHistory(
      core,
      () => cancellation.race(() => loadAlone(core, "compaction", signal)),
    );
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
