import { SummaryEntry } from "../context/summary.ts";
import {
  type AgentMessage,
  systemMessage,
  toolMessage,
} from "../messages/message.ts";
import { resultToWire, runResult } from "../messages/result.ts";
import type {
  SessionRecordData,
  SessionRecordDraft,
  SessionRecordKind,
} from "../session/record.ts";
import type { SessionTreeStorage } from "../session/storage.ts";

/** The session that contract cases use. */
export const s = "contract-session";

/** A draft of the session and its agent. */
export function draftOf<K extends SessionRecordKind>(
  kind: K,
  sequence: number,
  data: SessionRecordData[K],
): SessionRecordDraft {
  const draft = {
    kind,
    sessionId: s,
    agentId: "contract-agent",
    sequence,
    data,
  };
  return draft as unknown as SessionRecordDraft;
}

/** A run with a task begins. */
export function started(
  runId: string,
  task = `task of ${runId}`,
  branchId = "main",
): SessionRecordDraft {
  return { ...draftOf("run_started", 1, { run_id: runId, task }), branchId };
}

/** A run without a task begins. */
export function continued(runId: string): SessionRecordDraft {
  return draftOf("run_continued", 1, { run_id: runId });
}

/** A steering input is applied. */
export function steered(
  runId: string,
  sequence: number,
  content: string,
): SessionRecordDraft {
  const data = {
    run_id: runId,
    input_id: `input-${sequence}`,
    content,
    target_turn: 1,
  };
  return draftOf("steering_applied", sequence, data);
}

/** The model answers with a text. */
export function answered(
  runId: string,
  sequence: number,
  content: string,
): SessionRecordDraft {
  const message: AgentMessage = { role: "assistant", content };
  return draftOf("message_appended", sequence, { run_id: runId, message });
}

/** The model answers with calls. */
export function called(
  runId: string,
  sequence: number,
  ids: readonly string[],
): SessionRecordDraft {
  const tool_calls = ids.map((id) => ({
    id,
    type: "function" as const,
    function: { name: "act", arguments: "{}" },
  }));
  const message: AgentMessage = {
    role: "assistant",
    content: null,
    tool_calls,
  };
  return draftOf("message_appended", sequence, { run_id: runId, message });
}

/** A call is answered. */
export function toolAnswered(
  runId: string,
  sequence: number,
  id: string,
): SessionRecordDraft {
  const messages = [toolMessage(id, "done")];
  return draftOf("messages_appended", sequence, { run_id: runId, messages });
}

/** The conversation is replaced by a summary. */
export function compacted(
  id: string,
  sequence: number,
  content: string,
): SessionRecordDraft {
  const summary = new SummaryEntry({
    content,
    source: "contract",
    historyStartIndex: 0,
    firstKeptIndex: 2,
    summarizedMessageCount: 2,
    tokensBefore: 20,
  });
  const messages = [systemMessage(content)];
  return draftOf("compaction_applied", sequence, {
    operation_id: id,
    summary: summary.toJSON(),
    messages,
  });
}

/** A run completes. */
export function finished(runId: string, sequence: number): SessionRecordDraft {
  const result = resultToWire(
    runResult({ stopReason: "text_response", turns: 1, output: "done" }),
  );
  return draftOf("run_finished", sequence, { run_id: runId, result });
}

/** Records a whole run: task, answer, end. */
export async function recordRun(
  storage: SessionTreeStorage,
  runId: string,
  branchId = "main",
): Promise<void> {
  for (
    const draft of [
      started(runId),
      answered(runId, 3, `answer of ${runId}`),
      finished(runId, 5),
    ]
  ) {
    await storage.append({ ...draft, branchId });
  }
}

/** Records several runs on `main`. */
export async function recordRuns(
  storage: SessionTreeStorage,
  runIds: readonly string[],
): Promise<void> {
  for (const runId of runIds) await recordRun(storage, runId);
}
