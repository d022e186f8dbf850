import type { AgentEvent } from "../events/event.ts";
import { toAgentMessage } from "../messages/message.ts";
import { resultToWire } from "../messages/result.ts";
import type { ModelToolCall } from "../messages/tool.ts";
import type { SessionRecordDraft } from "./record.ts";

/** What a record says about its event. */
export type EventChange = Pick<SessionRecordDraft, "kind" | "data">;

/**
 * The change of the session that an event stands for; null for events that
 * leave no trace in it.
 *
 * @param marksStart Says for which calls it is written down that they begin.
 */
export function changeOf(
  event: AgentEvent,
  marksStart: (call: ModelToolCall) => boolean,
): EventChange | null {
  const { runId: run_id } = event;
  switch (event.kind) {
    case "agent_started": {
      const { task, content } = event;
      const parts = typeof content === "string" ? undefined : content;
      return {
        kind: "run_started",
        data: { run_id, task, ...(parts && { content: parts }) },
      };
    }
    case "agent_continued":
      return { kind: "run_continued", data: { run_id } };
    case "message_completed":
      return {
        kind: "message_appended",
        data: { run_id, message: toAgentMessage(event.message, event.usage) },
      };
    case "steering_applied": {
      const { inputId: input_id, content } = event.control;
      return {
        kind: "steering_applied",
        data: { run_id, input_id, content, target_turn: event.targetTurn },
      };
    }
    case "tool_started":
      return marksStart(event.toolCall)
        ? startMark(run_id, event.toolCall)
        : null;
    case "tool_completed":
      return {
        kind: "messages_appended",
        data: { run_id, messages: event.result.messages },
      };
    case "compaction_completed": {
      const { summary, messages, operationId: operation_id } = event.result;
      if (summary === null) return null;
      return {
        kind: "compaction_applied",
        data: { operation_id, summary: summary.toJSON(), messages },
      };
    }
    case "agent_finished":
      return {
        kind: "run_finished",
        data: { run_id, result: resultToWire(event.result) },
      };
    default:
      return null;
  }
}

// A record without messages, so that readers who do not know the mark see nothing.
function startMark(
  run_id: string,
  { id: tool_call_id, name }: ModelToolCall,
): EventChange {
  return {
    kind: "messages_appended",
    data: { run_id, messages: [], tool_started: { tool_call_id, name } },
  };
}
