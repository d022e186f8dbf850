import { detach } from "../base/abort.ts";
import type { CompactionResult } from "../context/compaction.ts";
import { type AssistantMessage, toAgentMessage } from "../messages/message.ts";
import {
  type ContextBuildResult,
  type ModelRequest,
  type ModelResponseCompleted,
  type ModelStream,
  UNKNOWN_TARGET,
} from "../model/adapter.ts";
import { ContextOverflowError } from "../model/errors.ts";
import {
  incompleteStream,
  requireCompleted,
  requireDelta,
  streamOf,
} from "../model/fold.ts";
import { composeModelLayers } from "../model/layer.ts";
import type { ActiveRun } from "./active_run.ts";
import { compactInRun } from "./compaction.ts";
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

/** One request through the model middleware; deltas become events as they come. */
async function requestModel(
  run: ActiveRun,
  context: ContextBuildResult,
  attempt: number,
): Promise<ModelResponseCompleted> {
  run.phase = "model";
  const { core, additions } = run;
  const layers = [...core.modelLayers, ...additions.modelLayers];
  const ask = composeModelLayers(
    layers,
    (request) => adapterStream(run, request),
  );
  const stream = ask({
    context,
    attempt,
    turn: run.turn,
    runId: run.id,
    agent: core.info,
    options: { ...additions.modelOptions, ...run.request.modelOptions },
    target: core.config.model.target ?? UNKNOWN_TARGET,
    signal: run.cancellation.signal,
    scope: run.request.scope.fork(),
  });
  return await run.cancellation.race(
    () => readAnswer(run, stream),
    () => detach(stream.return(undefined as never)),
  );
}

async function readAnswer(
  run: ActiveRun,
  stream: ModelStream,
): Promise<ModelResponseCompleted> {
  let started = false;
  try {
    for (;;) {
      const step = await stream.next();
      if (step.done) return requireCompleted(step.value);
      if (run.cancellation.aborted) throw run.cancellation.reason;
      started = true;
      const { kind, delta } = requireDelta(step.value);
      await run.emit({
        kind: kind === "text_delta"
          ? "assistant_text_delta"
          : "assistant_thinking_delta",
        turn: run.turn,
        delta,
      });
    }
  } catch (error) {
    detach(stream.return(undefined as never));
    if (
      !started || !(error instanceof ContextOverflowError) ||
      error.responseStarted
    ) throw error;
    throw new ContextOverflowError(error.message, {
      cause: error,
      status: error.status,
      responseStarted: true,
    });
  }
}

/** The innermost step: the adapter's own stream, with its usage counted. */
async function* adapterStream(
  run: ActiveRun,
  request: ModelRequest,
): ModelStream {
  let started = false;
  run.usage.requestStarted();
  try {
    for await (
      const event of streamOf(run.core.config.model, request.context, request)
    ) {
      if (event.kind === "completed") {
        run.usage.reported(event.usage);
        return event;
      }
      started = true;
      yield requireDelta(event);
    }
  } catch (error) {
    if (error instanceof ContextOverflowError && !started) run.usage.refused();
    throw error;
  }
  throw incompleteStream();
}
