/**
 * Base of every error this package throws on purpose.
 *
 * Programs branch on `code`, a stable literal of each class, never on the
 * message. Wrong arguments are plain `TypeError` and `RangeError` instead.
 *
 * @example Tell our errors from others
 * ```ts
 * import { EJAgentError } from "@ejagent/core";
 *
 * try {
 *   throw new Error("not ours");
 * } catch (error) {
 *   if (error instanceof EJAgentError) throw error;
 * }
 * ```
 */
export abstract class EJAgentError extends Error {
  /** Stable name of the failure, for example `"agent_busy"`. */
  abstract readonly code: string;

  /**
   * Makes the error and names it after its class.
   *
   * @param message What went wrong and what to do about it, without a final period.
   * @param options `cause`: the error this one was made from.
   */
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** An object is configured in a way that can never work. */
export class AgentConfigurationError extends EJAgentError {
  /** Always `"agent_configuration"`. */
  override readonly code = "agent_configuration";
}

/**
 * Renders anything that was thrown as text that is never empty.
 *
 * @returns The message of an error, else its name; `String(value)` of any other value.
 */
export function errorText(error: unknown): string {
  try {
    const text = error instanceof Error
      ? nonBlank(error.message) ?? nonBlank(error.name)
      : nonBlank(String(error));
    return text ?? (error instanceof Error ? "Error" : "unknown error");
  } catch {
    // What was thrown may itself throw when it is read.
    return "unknown error";
  }
}

function nonBlank(text: unknown): string | undefined {
  return typeof text === "string" && text.trim() !== "" ? text : undefined;
}
