import { frozen } from "../base/freeze.ts";
import { toolMessage } from "../messages/message.ts";
import type { ModelToolCall } from "../messages/tool.ts";
import type { StepOutcome, ToolCallResult } from "./outcome.ts";
import { serializeToolResult } from "./serialize.ts";

/** The result of a call that the tool answered. @throws {TypeError} Its data cannot be serialised. */
export function dataResult(
  call: ModelToolCall,
  outcome: StepOutcome,
): ToolCallResult {
  const content = serializeToolResult(outcome.data);
  const { control } = outcome;
  return settled(call, content, {
    control,
    output: control === "continue" ? null : content,
    error: null,
    cancelled: false,
  });
}

/** The result of a call that failed; the run goes on. */
export function errorResult(
  call: ModelToolCall,
  error: string,
): ToolCallResult {
  return settled(call, failure("error", call, error), {
    control: "continue",
    output: null,
    error,
    cancelled: false,
  });
}

/** The result of a call that an abort ended or that was never executed. */
export function cancelledResult(
  call: ModelToolCall,
  reason: string,
): ToolCallResult {
  return settled(call, failure("cancelled", call, reason), {
    control: "continue",
    output: null,
    error: reason,
    cancelled: true,
  });
}

function failure(
  status: "error" | "cancelled",
  call: ModelToolCall,
  error: string,
): string {
  return JSON.stringify({ status, tool: call.name, error });
}

function settled(
  call: ModelToolCall,
  content: string,
  rest: Omit<ToolCallResult, "messages">,
): ToolCallResult {
  const messages = frozen([toolMessage(call.id, content)]);
  return frozen({ messages, ...rest });
}
