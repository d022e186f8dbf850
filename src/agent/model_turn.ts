import type { CompactionResult } from "../context/compaction.ts";
import { type AssistantMessage, toAgentMessage } from "../messages/message.ts";
import type {
  ContextBuildResult,
  ModelResponseCompleted,
} from "../model/adapter.ts";
import { ContextOverflowError } from "../model/errors.ts";
import type { ActiveRun } from "./active_run.ts";
import { compactInRun } from "./compaction.ts";
import { requestModel } from "./model_request.ts";
import {
  abortStop,
  budgetStop,
  compactionStop,
  persistenceStop,
  type Stop,
} from "./stop_rules.ts";
import { buildTurnContext, type TurnContext } from "./turn_context.ts";

/** The committed answer of a turn. */
export interface Reply {
  /** What the model said. */
  readonly message: AssistantMessage;
  /** The provider's own word for why it stopped. */
  readonly finishReason: string | null;
}

/**
 * Asks the model, after making room if the context is too full, and commits
 * its answer.
 *
 * @returns The answer, or the stop that came instead.
 */
export async function modelTurn(run: ActiveRun): Promise<Reply | Stop> {
  let context = await relievedContext(run);
  for (let attempt = 1;; attempt++) {
    if ("stopReason" in context) return context;
    run.cancellation.throwIfAborted();
    if (run.emitter.failed) return persistenceStop(run);
    try {
      return await commitReply(run, await requestModel(run, context, attempt));
    } catch (error) {
      if (!isRecoverable(run, error, attempt)) throw error;
      context = await contextAfterOverflow(run, error);
    }
  }
}

/** The context of a turn, compacted once if it is under pressure and that is wanted. */
async function relievedContext(
  run: ActiveRun,
): Promise<ContextBuildResult | Stop> {
  const turn = await buildTurnContext(run);
  if (run.emitter.failed) return persistenceStop(run);
  if (!wantsRelief(run, turn)) return turn.context;
  const result = await compactInRun(run, "pressure", turn.preparation);
  const stop = result === null ? null : compactionStopOf(run, result);
  if (stop !== null) return stop;
  const rebuild = result?.status === "completed" || run.steering.size > 0;
  return rebuild ? (await buildTurnContext(run)).context : turn.context;
}

function wantsRelief(run: ActiveRun, turn: TurnContext): boolean {
  const auto = run.core.config.autoCompactionPolicy;
  return turn.preparation !== null && auto !== null && auto.enabled &&
    auto.compactOnPressure;
}

function isRecoverable(
  run: ActiveRun,
  error: unknown,
  attempt: number,
): error is ContextOverflowError {
  const auto = run.core.config.autoCompactionPolicy;
  return error instanceof ContextOverflowError && !error.responseStarted &&
    !run.cancellation.aborted && auto !== null && auto.enabled &&
    auto.recoverOnOverflow &&
    attempt <= auto.maxOverflowRetries;
}

async function contextAfterOverflow(
  run: ActiveRun,
  overflow: ContextOverflowError,
): Promise<ContextBuildResult | Stop> {
  const result = await compactInRun(run, "overflow", null);
  const stop = result === null ? null : compactionStopOf(run, result);
  if (stop !== null) return stop;
  run.phase = "model";
  if (result?.status !== "completed") throw overflow;
  const { context } = await buildTurnContext(run);
  return budgetStop(run) ?? context;
}

function compactionStopOf(
  run: ActiveRun,
  result: CompactionResult,
): Stop | null {
  if (result.status === "cancelled") return abortStop(run);
  return result.status === "failed" ? compactionStop(result.error) : null;
}

async function commitReply(
  run: ActiveRun,
  response: ModelResponseCompleted,
): Promise<Reply> {
  const { message } = response;
  const usage = response.usage ?? null;
  const finishReason = response.finishReason ?? null;
  run.finishReason = finishReason;
  run.commit(toAgentMessage(message, usage));
  await run.emit({
    kind: "message_completed",
    turn: run.turn,
    message,
    usage,
    finishReason,
  });
  return { message, finishReason };
}
