import { macrotask } from "../base/abort.ts";
import { frozen } from "../base/freeze.ts";
import type { AssistantMessage } from "../messages/message.ts";
import type { ActiveRun } from "./active_run.ts";
import {
  type BehaviorHook,
  BehaviorHookError,
  requireDecision,
} from "./behavior.ts";
import { modelTurn } from "./model_turn.ts";
import {
  abortStop,
  answerStop,
  budgetStop,
  failureStop,
  maxStepsStop,
  persistenceStop,
  type Stop,
} from "./stop_rules.ts";
import { toolTurn } from "./tool_turn.ts";

/** Models and tools that answer at once would keep timers and sockets from being served. */
const TURNS_WITHOUT_PAUSE = 64;

/** Takes turns until something ends the run. */
export async function turnLoop(run: ActiveRun): Promise<Stop> {
  const { maxSteps } = run.core.config.runtimePolicy;
  for (;;) {
    const early = turnBarrier(run) ??
      (run.turn >= maxSteps ? maxStepsStop(run) : budgetStop(run));
    if (early !== null) return decided(run, early);
    const turn = await oneTurn(run);
    const stop = turn.stop ?? await behaviorStop(run, turn.answer);
    if (stop !== null) return stop;
    if (run.turn % TURNS_WITHOUT_PAUSE === 0) await macrotask();
  }
}

/** Closes the run with a decision; an abort that came before it still wins. */
function decided(run: ActiveRun, stop: Stop): Stop {
  const beaten = run.cancellation.aborted && !run.closing;
  run.close();
  return beaten ? abortStop(run) : stop;
}

type TurnEnd =
  | { readonly stop: Stop }
  | { readonly stop: null; readonly answer: AssistantMessage };

/** One model request and the tools it asks for, between its two brackets. */
async function oneTurn(run: ActiveRun): Promise<TurnEnd> {
  const turn = ++run.turn;
  run.core.state.turn = turn;
  run.core.tools.beginTurn();
  await run.emit({ kind: "turn_started", turn });
  const end = await insideTurn(run).catch((error): TurnEnd => ({
    stop: decided(run, failureStop(run, error)),
  }));
  await run.emit({ kind: "turn_completed", turn });
  return end;
}

async function insideTurn(run: ActiveRun): Promise<TurnEnd> {
  const reply = await modelTurn(run);
  if ("stopReason" in reply) return { stop: decided(run, reply) };
  const { message, finishReason } = reply;
  const stop = message.toolCalls.length > 0
    ? await toolTurn(run, message.toolCalls, finishReason)
    : answerStop(run, message);
  if (stop !== null) return { stop: decided(run, stop) };
  return { stop, answer: message };
}

/** What ends a run between two turns whatever the turns brought. */
function turnBarrier(run: ActiveRun): Stop | null {
  if (run.cancellation.aborted) return abortStop(run);
  return run.emitter.failed ? persistenceStop(run) : null;
}

/** Asks the behaviour hooks after a turn that did not end the run. */
async function behaviorStop(
  run: ActiveRun,
  response: AssistantMessage,
): Promise<Stop | null> {
  for (const hook of run.core.config.behaviorHooks) {
    if (run.cancellation.aborted) return decided(run, abortStop(run));
    try {
      const answer = await run.cancellation.race(() =>
        askHook(run, hook, response)
      );
      const stop = requireDecision(hook, answer);
      if (stop !== null) {
        run.close();
        return {
          stopReason: "behavior_stop",
          output: stop.output ?? response.content,
        };
      }
    } catch (error) {
      const failure = error instanceof BehaviorHookError
        ? error
        : BehaviorHookError.threw(hook, error);
      return decided(run, failureStop(run, failure));
    }
  }
  return null;
}

function askHook(
  run: ActiveRun,
  hook: BehaviorHook,
  response: AssistantMessage,
) {
  const { config, state } = run.core;
  return hook.afterTurn(
    frozen({
      agentId: config.agentId,
      runId: run.id,
      turn: run.turn,
      task: run.taskText,
      response,
      usage: run.usage.total(),
      messages: state.conversation.messages,
    }),
    { signal: run.cancellation.signal },
  );
}
