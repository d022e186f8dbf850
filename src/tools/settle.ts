import type { ModelToolCall } from "../messages/tool.ts";
import { cancelledResult, errorResult } from "./call_result.ts";
import type { ToolCallResult } from "./outcome.ts";
import type { RepetitionGuard } from "./repetition.ts";
import { chunked, groupCalls, type SchedulePolicy } from "./schedule.ts";
import type { ToolTurn, ToolTurnOutcome } from "./turn.ts";

/** What settling a turn needs of the runtime. */
export interface TurnExecution {
  /** Which calls may run side by side. */
  readonly policy: SchedulePolicy;
  /** Counts requests of the same call in a row. */
  readonly guard: RepetitionGuard;
  /** Whether a tool may run beside others. */
  isReadOnly(toolName: string): boolean;
  /** Executes one call; never rejects. */
  execute(call: ModelToolCall): Promise<ToolCallResult>;
}

/**
 * Settles every call of an answer, in source order and exactly once.
 *
 * Whatever ends the run within the answer, the calls behind it are settled as
 * cancelled: no provider takes a conversation with unanswered calls.
 *
 * @throws Only what the report throws.
 */
export async function settleTurn(
  turn: ToolTurn,
  execution: TurnExecution,
): Promise<ToolTurnOutcome> {
  let settledCount = 0;
  for (const batch of batchesOf(turn, execution)) {
    const stop = await settleBatch(batch, turn, execution);
    settledCount += batch.calls.length;
    if (stop !== null) {
      await skip(turn.calls.slice(settledCount), stop.reason, turn);
      return stop.outcome;
    }
  }
  return { kind: "continue" };
}

/** Calls that start together and are committed together. */
interface Batch {
  readonly calls: readonly ModelToolCall[];
  /** True if the guard has counted them or need not. */
  readonly counted: boolean;
}

/** Why the calls behind a batch are not executed. */
interface Stop {
  readonly outcome: ToolTurnOutcome;
  readonly reason: string;
}

// Lazy, so that the guard is asked about a group when its turn has come.
function* batchesOf(
  turn: ToolTurn,
  { policy, guard, isReadOnly }: TurnExecution,
): Generator<Batch> {
  if (turn.refusal !== null) {
    for (const call of turn.calls) yield { calls: [call], counted: true };
    return;
  }
  for (const group of groupCalls(turn.calls, policy, isReadOnly)) {
    // A group in which the guard would trip runs one by one, so that it trips
    // at the exact call.
    const together = group.length > 1 && guard.reserve(group);
    const size = together ? policy.maxParallelToolCalls : 1;
    for (const calls of chunked(group, size)) {
      yield { calls, counted: together };
    }
  }
}

async function settleBatch(
  batch: Batch,
  turn: ToolTurn,
  execution: TurnExecution,
): Promise<Stop | null> {
  const { report, refusal } = turn;
  const { calls } = batch;
  const early = interruption(turn);
  if (early !== null) {
    await skip(calls, early.reason, turn);
    return early;
  }
  for (const call of calls) await report.started(call);
  const late = interruption(turn);
  if (late !== null) {
    for (const call of calls) {
      await report.completed(call, cancelledResult(call, late.reason));
    }
    return late;
  }
  const [first] = calls;
  if (!batch.counted && execution.guard.refuses(first!)) {
    return await settleRepeated(first!, turn, execution.guard.limit);
  }
  const results = refusal !== null
    ? calls.map((call) => errorResult(call, refusal))
    : await Promise.all(calls.map((call) => execution.execute(call)));
  return await commit(calls, results, turn);
}

async function commit(
  calls: readonly ModelToolCall[],
  results: readonly ToolCallResult[],
  turn: ToolTurn,
): Promise<Stop | null> {
  const stop = decisionOf(calls, results);
  if (stop?.outcome.kind === "terminal") turn.report.decided();
  for (const [index, call] of calls.entries()) {
    await turn.report.completed(call, results[index]!);
  }
  return stop;
}

/** A cancelled call decides before a terminal one, the first in source order before the others. */
function decisionOf(
  calls: readonly ModelToolCall[],
  results: readonly ToolCallResult[],
): Stop | null {
  const cancelled = results.find((result) => result.cancelled);
  if (cancelled !== undefined) {
    return { outcome: { kind: "cancelled" }, reason: cancelled.error! };
  }
  const index = results.findIndex((result) => result.control !== "continue");
  if (index < 0) return null;
  return {
    outcome: { kind: "terminal", call: calls[index]!, result: results[index]! },
    reason: "skipped because an earlier tool call ended the run",
  };
}

async function settleRepeated(
  call: ModelToolCall,
  { report }: ToolTurn,
  limit: number,
): Promise<Stop> {
  const error =
    `tool "${call.name}" was requested ${limit} times in a row with identical arguments`;
  report.decided();
  await report.completed(call, errorResult(call, error));
  return {
    outcome: { kind: "repeated", call, error },
    reason: "skipped because the run stopped on repeated tool calls",
  };
}

async function skip(
  calls: readonly ModelToolCall[],
  reason: string,
  { report }: ToolTurn,
): Promise<void> {
  for (const call of calls) {
    await report.started(call);
    await report.completed(call, cancelledResult(call, reason));
  }
}

function interruption({ report, cancellation }: ToolTurn): Stop | null {
  const halted = report.halted();
  if (halted !== null) return { outcome: { kind: "halted" }, reason: halted };
  if (!cancellation.aborted) return null;
  return {
    outcome: { kind: "cancelled" },
    reason: cancellation.reason.message,
  };
}
