import { frozen } from "../base/freeze.ts";
import {
  requireBoolean,
  requireInteger,
  requireNumber,
  requireObject,
} from "../base/require.ts";

/** Limits and switches of every run of an agent. */
export interface RuntimePolicy {
  /** Turns that a run may take, at least 1. @default {20} */
  readonly maxSteps: number;
  /** Consecutive answers without a call that end a run which must finish explicitly, at least 1. @default {3} */
  readonly maxNoToolResponses: number;
  /** The n-th identical call in a row ends the run, at least 2; `Infinity` switches the guard off. @default {3} */
  readonly maxRepeatedToolCalls: number;
  /**
   * Tokens after which no further turn begins, at least 1; null for no budget.
   * Needs a model that reports its usage: a run of which a request did not say
   * what it cost stops as `usage_unavailable`. Requests that were refused or
   * never arrived cost nothing.
   *
   * @default {null}
   */
  readonly maxRunTokens: number | null;
  /** True if only a tool can complete a run. @default {false} */
  readonly requireExplicitFinish: boolean;
  /** True if neighbouring read-only calls of one answer run at the same time. @default {false} */
  readonly parallelToolCalls: boolean;
  /** Calls that run at the same time, at least 1; null for no limit. @default {null} */
  readonly maxParallelToolCalls: number | null;
  /** Milliseconds that abandoned work gets to clean up after an abort, one budget per abort. @default {1000} */
  readonly abortGraceMs: number;
}

/**
 * Checks limits and fills in the defaults.
 *
 * Defaults: `maxSteps` 20, `maxNoToolResponses` 3, `maxRepeatedToolCalls` 3,
 * `maxRunTokens` null, `requireExplicitFinish` false, `parallelToolCalls` false,
 * `maxParallelToolCalls` null, `abortGraceMs` 1000.
 *
 * @throws {TypeError} The policy is no object, or a member has the wrong type.
 * @throws {RangeError} A member is below its minimum.
 *
 * @example Allow longer runs
 * ```ts
 * import { createRuntimePolicy } from "@ejagent/core";
 * import { equal } from "node:assert/strict";
 *
 * equal(createRuntimePolicy({ maxSteps: 50 }).maxSteps, 50);
 * ```
 *
 * @see EJAgent Core 0.6.0, runtime policy, for the defaults.
 */
export function createRuntimePolicy(
  policy: Partial<RuntimePolicy> = {},
): RuntimePolicy {
  requireObject("runtimePolicy", policy);
  return frozen({
    maxSteps: integerIn(policy, "maxSteps", 20),
    maxNoToolResponses: integerIn(policy, "maxNoToolResponses", 3),
    maxRepeatedToolCalls: policy.maxRepeatedToolCalls === Infinity
      ? Infinity
      : requireInteger(
        "maxRepeatedToolCalls",
        policy.maxRepeatedToolCalls ?? 3,
        2,
      ),
    maxRunTokens: integerIn(policy, "maxRunTokens", null),
    requireExplicitFinish: switchIn(policy, "requireExplicitFinish"),
    parallelToolCalls: switchIn(policy, "parallelToolCalls"),
    maxParallelToolCalls: integerIn(policy, "maxParallelToolCalls", null),
    abortGraceMs: requireNumber("abortGraceMs", policy.abortGraceMs ?? 1000, 0),
  });
}

type Name<Value> = {
  [Key in keyof RuntimePolicy]: RuntimePolicy[Key] extends Value ? Key : never;
}[keyof RuntimePolicy];

function integerIn<Missing extends number | null>(
  policy: Partial<RuntimePolicy>,
  name: Name<number | null>,
  missing: Missing,
): number | Missing {
  const value = policy[name] ?? null;
  return value === null ? missing : requireInteger(name, value, 1);
}

function switchIn(
  policy: Partial<RuntimePolicy>,
  name: Name<boolean>,
): boolean {
  return requireBoolean(name, policy[name] ?? false);
}
