import type { ModelToolCall } from "../messages/tool.ts";
import type { ActiveRun } from "./active_run.ts";
import { persistenceStop, type Stop, toolStop } from "./stop_rules.ts";

/** Why calls of an answer that may lack some of its arguments are not executed; else null. */
function cutOff(finishReason: string | null): string | null {
  if (finishReason !== "length" && finishReason !== "content_filter") {
    return null;
  }
  return `the answer was cut off before it was complete (finish reason: ${finishReason}), ` +
    "so this call was not executed";
}

/**
 * Settles the calls of one answer, whatever happens meanwhile.
 *
 * @returns The stop, or null if another turn follows.
 */
export async function toolTurn(
  run: ActiveRun,
  calls: readonly ModelToolCall[],
  finishReason: string | null,
): Promise<Stop | null> {
  const { turn } = run;
  run.phase = "tool";
  run.core.state.noToolResponseCount = 0;
  const outcome = await run.core.tools.settle({
    calls,
    turn,
    cancellation: run.cancellation,
    agent: run.core.info,
    runId: run.id,
    state: run.core.state.view,
    scope: run.request.scope,
    refusal: cutOff(finishReason),
    report: {
      started: (toolCall) => run.emit({ kind: "tool_started", turn, toolCall }),
      progressed: (toolCall, update) =>
        run.emit({ kind: "tool_progressed", turn, toolCall, update }),
      completed: (toolCall, result) => {
        for (const message of result.messages) run.commit(message);
        return run.emit({ kind: "tool_completed", turn, toolCall, result });
      },
      decided: () => run.close(),
      halted: () =>
        run.emitter.failed ? persistenceStop(run).error ?? null : null,
    },
  });
  return toolStop(run, outcome);
}
