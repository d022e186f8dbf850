import { frozenCopy } from "../base/freeze.ts";
import { requireMethods, requireObject, requireType } from "../base/require.ts";
import { requireMessages } from "../messages/require_messages.ts";
import type { RunOptions } from "./agent_like.ts";

type OperationOptions = Pick<RunOptions, "signal" | "scope">;

/**
 * Checks the options of an operation. `null` counts as left out.
 *
 * @throws {TypeError} One has the wrong type.
 */
export function requireOperationOptions(
  options: OperationOptions,
): OperationOptions {
  const given = requireObject("The options", options ?? {});
  const signal = given.signal ?? undefined;
  const scope = given.scope ?? undefined;
  // Told by its shape: test environments bring a class of their own.
  const aborts = signal === undefined || "addEventListener" in Object(signal);
  requireType(aborts, "signal", "an AbortSignal");
  if (scope !== undefined) requireMethods("scope", scope, ["fork"]);
  return { signal, scope };
}

/**
 * Checks the options of a run and detaches them from the caller.
 *
 * @throws {TypeError} One has the wrong type.
 */
export function requireRunOptions(options: RunOptions): RunOptions {
  return {
    ...requireOperationOptions(options),
    contextMessages: frozenCopy(
      requireMessages("contextMessages", options?.contextMessages ?? []),
    ),
    modelOptions: frozenCopy(
      requireObject("modelOptions", options?.modelOptions ?? {}),
    ),
  };
}
