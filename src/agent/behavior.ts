import { EJAgentError, errorText } from "../base/errors.ts";
import { frozen } from "../base/freeze.ts";
import { isJsonObject } from "../base/json.ts";
import type { AgentMessage, AssistantMessage } from "../messages/message.ts";
import type { RunUsage } from "../messages/usage.ts";

/** What a behaviour hook wants. */
export type BehaviorAction = "continue" | "stop";

/** The decision of a behaviour hook; made by {@linkcode behaviorContinue} and {@linkcode behaviorStop}. */
export type BehaviorDecision =
  | { readonly action: "continue" }
  | { readonly action: "stop"; readonly output?: string | null };

/** One finished turn, frozen and shared. */
export interface TurnSnapshot {
  /** The agent that runs. */
  readonly agentId: string;
  /** Its run. */
  readonly runId: string;
  /** The turn, from 1. */
  readonly turn: number;
  /** Text of the task; null for a continue run. */
  readonly task: string | null;
  /** What the model answered in this turn. */
  readonly response: AssistantMessage;
  /** Usage of the run so far. */
  readonly usage: RunUsage;
  /** The whole history, this turn's tool results included. */
  readonly messages: readonly AgentMessage[];
}

/**
 * Decides after each turn that did not end the run whether it goes on.
 *
 * Hooks are asked in order, one at a time; the first that stops wins. They are
 * not asked after a turn that ended the run. A hook that throws fails the run.
 *
 * @example Stop after a certain amount of output
 * ```ts
 * import { type BehaviorHook, behaviorStop } from "@ejagent/core";
 *
 * const brief: BehaviorHook = {
 *   name: "brief",
 *   afterTurn: (turn) => turn.usage.outputTokens > 10_000 ? behaviorStop() : null,
 * };
 * ```
 */
export interface BehaviorHook {
  /** Named in errors; @default {the name of its class} */
  readonly name?: string;
  /**
   * Judges one turn.
   *
   * @param options `signal`: aborts when the run does.
   * @returns Nothing or a continue decision to go on.
   */
  afterTurn(
    snapshot: TurnSnapshot,
    options: { readonly signal: AbortSignal },
  ): BehaviorAnswer | PromiseLike<BehaviorAnswer>;
}

/** What a behaviour hook returns. */
export type BehaviorAnswer = BehaviorDecision | null | undefined | void;

/** Lets the run go on. */
export function behaviorContinue(): BehaviorDecision {
  return frozen({ action: "continue" });
}

/**
 * Completes the run.
 *
 * @param output Output of the run; without it the text of the turn's answer.
 */
export function behaviorStop(output?: string | null): BehaviorDecision {
  if (output === undefined || output === null) {
    return frozen({ action: "stop" });
  }
  if (typeof output !== "string") {
    throw new TypeError("The output of a stop must be a string");
  }
  return frozen({ action: "stop", output });
}

/** A behaviour hook threw or returned no decision. */
export class BehaviorHookError extends EJAgentError {
  /** Always `"behavior_hook"`. */
  override readonly code = "behavior_hook";
  /** Name of the hook. */
  readonly hookName: string;

  /** Names the hook and what is wrong with it. */
  constructor(hookName: string, problem: string, options?: ErrorOptions) {
    super(`Behavior hook "${hookName}" ${problem}`, options);
    this.hookName = hookName;
  }

  /** The error for a hook that threw. */
  static threw(hook: BehaviorHook, cause: unknown): BehaviorHookError {
    return new BehaviorHookError(
      hookName(hook),
      `failed: ${errorText(cause)}`,
      { cause },
    );
  }
}

/** The decision behind a hook's answer; null to go on. @throws {BehaviorHookError} It is none. */
export function requireDecision(
  hook: BehaviorHook,
  answer: unknown,
): { readonly output: string | null } | null {
  if (answer === null || answer === undefined) return null;
  const decision = isJsonObject(answer) ? answer : {};
  const { action, output } = decision;
  if (action === "continue" && (output === undefined || output === null)) {
    return null;
  }
  if (
    action === "stop" &&
    (output === undefined || output === null || typeof output === "string")
  ) {
    return { output: output ?? null };
  }
  throw new BehaviorHookError(
    hookName(hook),
    "must return a decision: behaviorContinue(), behaviorStop() or nothing",
  );
}

function hookName(hook: BehaviorHook): string {
  return hook.name ?? hook.constructor?.name ?? "hook";
}
