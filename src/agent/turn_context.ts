import type { CompactionPreparation } from "../context/prepare.ts";
import {
  type AgentMessage,
  systemMessage,
  userMessage,
} from "../messages/message.ts";
import type { ContextBuildResult } from "../model/adapter.ts";
import type { ActiveRun } from "./active_run.ts";
import { toolCompletionRetryPrompt } from "./prompts.ts";
import { activateSkill, skillMessages } from "./skill_activation.ts";

/** One request, measured. */
export interface TurnContext {
  /** The request. */
  readonly context: ContextBuildResult;
  /** What a compaction would do; null without pressure. */
  readonly preparation: CompactionPreparation | null;
}

/**
 * Applies all steering that is there and builds the request of a turn.
 *
 * Steering that arrives while events are delivered is applied before the
 * request is final, so an accepted input never misses it.
 */
export async function buildTurnContext(run: ActiveRun): Promise<TurnContext> {
  for (;;) {
    run.phase = "context";
    if (run.steering.size > 0) await applySteering(run);
    run.cancellation.throwIfAborted();
    const context = buildContext(run);
    const preparation = run.compaction === null
      ? null
      : await evaluatePressure(run, context);
    run.cancellation.throwIfAborted();
    if (run.steering.size === 0) return { context, preparation };
  }
}

async function applySteering(run: ActiveRun): Promise<void> {
  const { turn, steering, core } = run;
  let applied = false;
  while (!run.cancellation.aborted) {
    const input = steering.take();
    if (input === undefined) break;
    run.commit(userMessage(input.control.content));
    core.state.noToolResponseCount = 0;
    applied = true;
    input.settle({ kind: "applied", turn });
    await run.emit({
      kind: "steering_applied",
      control: input.control,
      targetTurn: turn,
    });
  }
  if (applied) await activateSkill(run);
}

function buildContext(run: ActiveRun): ContextBuildResult {
  const { core, additions } = run;
  return core.config.contextBuilder.build(core.state.conversation, {
    tools: core.tools.tools,
    toolDefinitions: core.tools.toolDefinitions,
    skillMessages: skillMessages(run),
    instructions: additions.instructions,
    contextMessages: additions.messages,
    ...(additions.messages.length > 0 && { runStart: run.startIndex() }),
    transientMessages: transientMessages(run),
  });
}

/** Messages that stand at the end of this request only. */
function transientMessages(run: ActiveRun): readonly AgentMessage[] {
  const { config, state } = run.core;
  const messages: AgentMessage[] = [];
  if (
    run.request.kind === "continue" && run.turn === 1 &&
    config.continuePrompt !== null
  ) {
    messages.push(systemMessage(config.continuePrompt));
  }
  if (state.noToolResponseCount > 0) {
    const { maxNoToolResponses } = config.runtimePolicy;
    messages.push(
      systemMessage(
        toolCompletionRetryPrompt(
          state.noToolResponseCount,
          maxNoToolResponses,
        ),
      ),
    );
  }
  return messages;
}

async function evaluatePressure(
  run: ActiveRun,
  context: ContextBuildResult,
): Promise<CompactionPreparation | null> {
  const { compactionPolicy: policy, contextTokenEstimator: estimator } =
    run.core.config;
  if (policy === null || run.compaction === null) return null;
  const decision = policy.evaluateRequest(
    context,
    estimator === null ? {} : { estimator },
  );
  const preparation = decision.shouldCompact ? run.compaction.prepare() : null;
  await run.emit({
    kind: "context_pressure_evaluated",
    turn: run.turn,
    decision,
    preparation,
  });
  return preparation;
}
