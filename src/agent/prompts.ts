/** Used when an agent is given no system prompt. */
export const DEFAULT_SYSTEM_PROMPT: string =
  "You are a capable assistant. Answer precisely, and say so when you do not know.";

/** Second system message of an agent that has tools. */
export const TOOL_PROTOCOL_PROMPT: string =
  "You can call tools. After calling tools, wait for their results before you decide what to do " +
  "next. Do not repeat a call that did not help: change its arguments or try another way.";

/** Further system message of an agent that must finish through a tool. */
export const EXPLICIT_FINISH_PROTOCOL_PROMPT: string =
  "Plain text does not end your task. When the task is done, call the tool that completes it.";

/** Reminder in the request after an answer without a call, when an explicit finish is required. */
export const TOOL_COMPLETION_RETRY_PROMPT: string =
  "Your last answer called no tool, so the task is still open. Go on with the tools, and call the " +
  "tool that completes the task when it is done.";

/**
 * The reminder for the given number of consecutive answers without a call.
 *
 * @param count Answers without a call so far, from 1.
 * @param limit Number of such answers that ends the run.
 */
export function toolCompletionRetryPrompt(
  count: number,
  limit: number,
): string {
  if (count < 2) return TOOL_COMPLETION_RETRY_PROMPT;
  return `${TOOL_COMPLETION_RETRY_PROMPT} This is retry ${count} of ${limit}.`;
}
