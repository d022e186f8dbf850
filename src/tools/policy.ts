import { frozen } from "../base/freeze.ts";
import {
  requireInteger,
  requireMember,
  requireText,
  requireType,
} from "../base/require.ts";
import type { AgentStateView } from "../messages/state.ts";
import type { ToolEffect } from "../messages/tool.ts";
import type { ToolCallContext } from "./middleware.ts";

/** What a policy may decide about a call. */
export type ToolPolicyAction = "allow" | "deny" | "require_approval";

/** A decision about one call. */
export interface ToolPolicyDecision {
  /** Whether the call is executed, refused, or put before somebody. */
  readonly action: ToolPolicyAction;
  /** Why; a refused call tells it to the model. */
  readonly reason?: string | undefined;
  /** The rule that decided. */
  readonly ruleId?: string | undefined;
}

/**
 * Decides about calls before they reach a tool.
 *
 * Everything but `evaluate` is optional and called with the middleware's own
 * life: in order, before and after the agent's runs.
 */
export interface ToolExecutionPolicy {
  /** Makes the policy ready. */
  startup?(): void | Promise<void>;
  /** Gives back what `startup` took. */
  shutdown?(): void | Promise<void>;
  /** Called at the start of every run. */
  onTaskStart?(): void | Promise<void>;
  /**
   * Decides about one call. Calls that run side by side are evaluated
   * concurrently. A rejection refuses the call.
   */
  evaluate(
    context: ToolCallContext,
  ): ToolPolicyDecision | Promise<ToolPolicyDecision>;
}

/** Looks closer at a call; must answer with `true` or `false`. */
export type ToolPolicyPredicate = (
  context: ToolCallContext,
) => boolean | Promise<boolean>;

/**
 * What a rule of a {@linkcode RuleBasedToolPolicy} is made from. A rule without
 * selectors matches every call.
 */
export interface ToolPolicyRuleInit {
  /** Unique among the rules of a policy. */
  readonly ruleId: string;
  /** What happens to calls that the rule matches. */
  readonly action: ToolPolicyAction;
  /** Selects tools by their exact names. */
  readonly toolNames?: Iterable<string> | undefined;
  /** Selects tools by their effects; an unknown tool counts as side-effecting. */
  readonly effects?: Iterable<ToolEffect> | undefined;
  /** Selects calls; asked only if the other selectors match. */
  readonly when?: ToolPolicyPredicate | undefined;
  /** How many matching calls of a run are let through; the others are denied. */
  readonly maxCallsPerRun?: number | undefined;
  /** Why. */
  readonly reason?: string | undefined;
}

/** A checked and frozen rule. */
export interface ToolPolicyRule extends ToolPolicyRuleInit {
  /** Selects tools by their exact names; undefined selects all. */
  readonly toolNames: readonly string[] | undefined;
  /** Selects tools by their effects; undefined selects all. */
  readonly effects: readonly ToolEffect[] | undefined;
}

/** What a {@linkcode RuleBasedToolPolicy} does when no rule matches. */
export interface RuleBasedToolPolicyOptions {
  /** What happens to calls that no rule matches. @default {"deny"} */
  readonly defaultAction?: ToolPolicyAction | undefined;
  /** Reason given with it. */
  readonly defaultReason?: string | undefined;
}

/**
 * Checks a rule and detaches it from the caller.
 *
 * @throws {TypeError} A member has the wrong type.
 * @throws {RangeError} A text is blank, a selector is empty, or a limit is below
 * one or on a rule that denies.
 */
export function toolPolicyRule(init: ToolPolicyRuleInit): ToolPolicyRule {
  const ruleId = requireText("ruleId", init.ruleId);
  const action = requireMember("action", init.action, actions);
  const { when, maxCallsPerRun, reason } = init;
  if (when !== undefined && typeof when !== "function") {
    throw new TypeError("when must be a function");
  }
  if (maxCallsPerRun !== undefined) {
    requireInteger("maxCallsPerRun", maxCallsPerRun, 1);
    if (action === "deny") {
      throw new RangeError(
        "maxCallsPerRun must not be set on a rule that denies",
      );
    }
  }
  return frozen({
    ruleId,
    action,
    toolNames: selector(
      "toolNames",
      init.toolNames,
      (name) => requireText("A tool name", name),
    ),
    effects: selector(
      "effects",
      init.effects,
      (effect) => requireMember("effects", effect, effects),
    ),
    when,
    maxCallsPerRun,
    reason: reason === undefined ? undefined : requireText("reason", reason),
  });
}

/**
 * Checks what a policy decided.
 *
 * @returns Null if it is no decision.
 */
export function toolPolicyDecision(value: unknown): ToolPolicyDecision | null {
  const decision = value as Partial<ToolPolicyDecision> | null | undefined;
  const valid = typeof decision === "object" && decision !== null &&
    typeof decision.action === "string" &&
    Object.hasOwn(actions, decision.action) &&
    isReason(decision.reason) && isReason(decision.ruleId);
  return valid ? decision as ToolPolicyDecision : null;
}

/** True for a text that says something, and for none at all. */
export function isReason(value: unknown): value is string | undefined {
  return value === undefined ||
    typeof value === "string" && value.trim() !== "";
}

/**
 * Decides by the first rule that matches, in order.
 *
 * Agents may share one: every run has limits of its own, those of a sub-agent and
 * of agents that run side by side too.
 *
 * @example Reads are free, writes need somebody's consent, the rest is denied
 * ```ts
 * import { RuleBasedToolPolicy } from "@ejagent/core";
 *
 * export const policy = new RuleBasedToolPolicy([
 *   { ruleId: "reads", action: "allow", effects: ["read_only"] },
 *   { ruleId: "writes", action: "require_approval", toolNames: ["write_file"] },
 * ]);
 * ```
 */
export class RuleBasedToolPolicy implements ToolExecutionPolicy {
  /** The rules, in order. */
  readonly rules: readonly ToolPolicyRule[];
  readonly #fallback: ToolPolicyDecision;
  /** By agent, which its state stands for: an agent has one run at a time. */
  readonly #runs = new WeakMap<AgentStateView, RunCounts>();
  readonly #outsideRuns: CallCounts = new Map();
  #startCount = 0;

  /**
   * Checks and copies the rules.
   *
   * @param rules The first that matches decides.
   * @throws {TypeError} A member of a rule or an option has the wrong type.
   * @throws {RangeError} A rule contradicts itself, or two have the same id.
   */
  constructor(
    rules: Iterable<ToolPolicyRuleInit>,
    options: RuleBasedToolPolicyOptions = {},
  ) {
    requireType(Symbol.iterator in Object(rules), "rules", "a list of rules");
    this.rules = frozen([...rules].map(toolPolicyRule));
    requireUniqueIds(this.rules);
    const { defaultAction = "deny", defaultReason } = options;
    this.#fallback = frozen({
      action: requireMember("defaultAction", defaultAction, actions),
      reason: defaultReason === undefined
        ? undefined
        : requireText("defaultReason", defaultReason),
    });
  }

  /**
   * Gives every rule its full number of calls again. Runs that are under way, of
   * other agents, keep their counts.
   */
  onTaskStart(): void {
    this.#startCount += 1;
    this.#outsideRuns.clear();
  }

  /**
   * Finds the first rule that matches. A rule with a limit counts the attempt,
   * whatever becomes of the call; once it is used up it denies.
   *
   * @throws {TypeError} A predicate answered with something else than `true` or `false`.
   */
  async evaluate(context: ToolCallContext): Promise<ToolPolicyDecision> {
    for (const rule of this.rules) {
      if (await matches(rule, context)) return this.#apply(rule, context);
    }
    return this.#fallback;
  }

  // No await in here: calls that run side by side share the count.
  #apply(rule: ToolPolicyRule, context: ToolCallContext): ToolPolicyDecision {
    const { ruleId, action, reason, maxCallsPerRun } = rule;
    if (maxCallsPerRun !== undefined) {
      const usedCalls = this.#countsFor(context);
      const used = usedCalls.get(ruleId) ?? 0;
      if (used >= maxCallsPerRun) {
        return {
          action: "deny",
          ruleId,
          reason: `call limit reached for rule "${ruleId}"`,
        };
      }
      usedCalls.set(ruleId, used + 1);
    }
    return { action, ruleId, reason };
  }

  /** A direct dispatch uses up what the run before it left. */
  #countsFor({ runId, state }: ToolCallContext): CallCounts {
    const latest = this.#runs.get(state);
    const startCount = this.#startCount;
    if (runId === "") {
      return latest?.startCount === startCount
        ? latest.usedCalls
        : this.#outsideRuns;
    }
    if (latest?.runId === runId) return latest.usedCalls;
    const usedCalls: CallCounts = new Map();
    this.#runs.set(state, { runId, usedCalls, startCount });
    return usedCalls;
  }
}

/** How many calls every rule has matched, by its id. */
type CallCounts = Map<string, number>;

interface RunCounts {
  readonly runId: string;
  readonly usedCalls: CallCounts;
  /** How many runs had started when the run made its first call. */
  readonly startCount: number;
}

const actions: Readonly<Record<ToolPolicyAction, true>> = {
  allow: true,
  deny: true,
  require_approval: true,
};

const effects: Readonly<Record<ToolEffect, true>> = {
  read_only: true,
  side_effecting: true,
};

async function matches(
  rule: ToolPolicyRule,
  context: ToolCallContext,
): Promise<boolean> {
  const effect = context.toolDefinition?.effect ?? "side_effecting";
  if (rule.toolNames?.includes(context.toolName) === false) return false;
  if (rule.effects?.includes(effect) === false) return false;
  if (rule.when === undefined) return true;
  const answer = await rule.when(context);
  if (typeof answer !== "boolean") {
    throw new TypeError(
      `The predicate of rule "${rule.ruleId}" must answer with true or false`,
    );
  }
  return answer;
}

function selector<T>(
  name: string,
  values: Iterable<T> | undefined,
  check: (value: T) => T,
): readonly T[] | undefined {
  if (values === undefined) return undefined;
  if (typeof values === "string") throw new TypeError(`${name} must be a list`);
  const list = [...values].map(check);
  if (list.length === 0) {
    throw new RangeError(
      `${name} must not be empty; leave it out to select all`,
    );
  }
  return frozen(list);
}

function requireUniqueIds(rules: readonly ToolPolicyRule[]): void {
  const ids = new Set<string>();
  for (const { ruleId } of rules) {
    if (ids.has(ruleId)) {
      throw new RangeError(`Two rules have the id "${ruleId}"`);
    }
    ids.add(ruleId);
  }
}
