import { frozenCopy } from "../base/freeze.ts";
import { requireMethods, requireObject, requireType } from "../base/require.ts";
import { requireMessages } from "../messages/require_messages.ts";
import type { RunOptions } from "./agent_like.ts";

/** Checks the options of an operation. @throws {TypeError} One has the wrong type. */
export function requireOperationOptions(
  options: Pick<RunOptions, "signal" | "scope">,
): void {
  const { signal, scope } = requireObject("The options", options);
  // Told by its shape: test environments bring a class of their own.
  const aborts = signal === undefined || "addEventListener" in Object(signal);
  requireType(aborts, "signal", "an AbortSignal");
  if (scope !== undefined) requireMethods("scope", scope, ["fork"]);
}

/**
 * Checks the options of a run and detaches them from the caller.
 *
 * @throws {TypeError} One has the wrong type.
 */
export function requireRunOptions(options: RunOptions): RunOptions {
  requireOperationOptions(options);
  const { contextMessages = [], modelOptions = {} } = options;
  return {
    ...options,
    contextMessages: frozenCopy(
      requireMessages("contextMessages", contextMessages),
    ),
    modelOptions: frozenCopy(requireObject("modelOptions", modelOptions)),
  };
}
