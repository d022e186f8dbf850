import { withDeadline } from "../base/deadline.ts";
import { RunScope } from "../base/scope.ts";
import type { AgentMessage } from "../messages/message.ts";
import type { HistoryRun, LoadedHistory } from "../pipeline/history.ts";
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

/** Loads the conversation outside any run. */
export async function loadHistoryAlone(
  core: AgentCore,
  kind: "startup" | "compaction",
): Promise<void> {
  const { history, clock, providerTimeoutMs: ms } = core.config;
  const loaded = await withDeadline(
    (signal) =>
      history.load(historyRunAlone(core, { kind, runId: "", signal })),
    { clock, ms, what: `load of history provider "${history.sourceId}"` },
  );
  applyHistory(core, loaded);
}

/** What a history provider is told outside any run. */
export function historyRunAlone(
  core: AgentCore,
  run: Pick<HistoryRun, "kind" | "runId" | "signal">,
): HistoryRun {
  return { agent: core.info, scope: new RunScope(), ...run };
}
