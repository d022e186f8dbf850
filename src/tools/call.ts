import { errorText } from "../base/errors.ts";
import type { Logger } from "../base/ports.ts";
import type { ModelToolCall } from "../messages/tool.ts";
import { decodeArguments } from "./arguments.ts";
import type { CallSignals } from "./call_signal.ts";
import { cancelledResult, dataResult, errorResult } from "./call_result.ts";
import type { ToolChain } from "./middleware.ts";
import type { StepOutcome, ToolCallResult } from "./outcome.ts";
import { ProgressChannel } from "./progress.ts";
import type { ToolRegistry } from "./registry.ts";
import type { ToolTurn } from "./turn.ts";

/** What executing a call needs of the runtime. */
export interface CallExecution {
  /** The tools of this turn. */
  readonly registry: ToolRegistry;
  /** Middleware around the tools. */
  readonly chain: ToolChain;
  /** Where the calls of this turn get their signals from. */
  readonly signals: CallSignals;
  /** Told about progress that could not be delivered. */
  readonly logger: Logger;
}

/**
 * Executes one call of a turn: decodes its arguments, runs the chain until it
 * settles or an abort takes effect, and makes the result.
 *
 * Never rejects: whatever goes wrong becomes the result.
 */
export async function executeCall(
  call: ModelToolCall,
  turn: ToolTurn,
  execution: CallExecution,
): Promise<ToolCallResult> {
  const { cancellation, report } = turn;
  const progress = new ProgressChannel({
    deliver: (update) => report.progressed(call, update),
    cancellation,
    logger: execution.logger,
  });
  try {
    const outcome = await runChain(call, turn, execution, progress);
    await progress.close();
    return dataResult(call, outcome);
  } catch (error) {
    await progress.close();
    // Only the signal decides: a cancellation error of the tool's own is a failure.
    if (cancellation.aborted && error === cancellation.reason) {
      return cancelledResult(call, cancellation.reason.message);
    }
    return errorResult(call, errorText(error));
  }
}

async function runChain(
  call: ModelToolCall,
  turn: ToolTurn,
  { registry, chain, signals }: CallExecution,
  progress: ProgressChannel,
): Promise<StepOutcome> {
  const args = decodeArguments(call.arguments);
  const signal = signals.open();
  try {
    return await turn.cancellation.race(() =>
      chain({
        agent: turn.agent,
        runId: turn.runId,
        turn: turn.turn,
        state: turn.state,
        toolName: call.name,
        arguments: args,
        toolCallId: call.id,
        toolDefinition: registry.definitionOf(call.name),
        get signal() {
          return signal.value;
        },
        progress,
        scope: turn.scope.fork(),
      })
    );
  } finally {
    signal.end();
  }
}
