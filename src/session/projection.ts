import { frozen } from "../base/freeze.ts";
import { isJsonObject } from "../base/json.ts";
import { runFailure } from "../messages/result.ts";
import { userMessage } from "../messages/message.ts";
import { readSummary } from "./decode.ts";
import { SessionSerializationError } from "./errors.ts";
import type { RunFinishedData, SessionRecord } from "./record.ts";
import { readResult } from "./result_codec.ts";
import { stateFromWire } from "./session_codec.ts";
import {
  addMessage,
  applyCompaction,
  beginContinue,
  beginTask,
  bindAgent,
  finishRun,
  noteStartedCall,
  type RunFinish,
  type RunRecovery,
  type SessionState,
} from "./state.ts";

/**
 * What a session becomes by one more record.
 *
 * @throws {SessionSerializationError} The record breaks a rule of the session.
 */
export function applyRecord(
  before: SessionState,
  record: SessionRecord,
): SessionState {
  const { sequence, agentId } = record;
  // Members that are an addition to the schema are taken only if they are what we write.
  const state = agentId === null ? before : bindAgent(before, agentId);
  switch (record.kind) {
    case "checkpoint":
      return replaceBy(record.data.document, record);
    case "branch_created":
      return state;
    case "run_started": {
      const { run_id: runId, task, content } = record.data;
      const parts = Array.isArray(content) ? content : task;
      return beginTask(state, { runId, sequence, task }, parts);
    }
    case "run_continued":
      return beginContinue(state, record.data.run_id, sequence);
    case "message_appended": {
      const { run_id: runId, message } = record.data;
      return addMessage(state, { runId, sequence, message });
    }
    case "messages_appended": {
      const { run_id: runId, messages, tool_started: started } = record.data;
      const noted = typeof started?.tool_call_id === "string"
        ? noteStartedCall(state, runId, started.tool_call_id)
        : state;
      return messages.reduce(
        (grown, message) => addMessage(grown, { runId, sequence, message }),
        noted,
      );
    }
    case "steering_applied": {
      const { run_id: runId, content } = record.data;
      return addMessage(state, {
        runId,
        sequence,
        message: userMessage(content),
      });
    }
    case "compaction_applied":
      return applyCompaction(state, {
        operationId: record.data.operation_id,
        sequence,
        summary: readSummary(record.data.summary, "data.summary"),
        messages: record.data.messages,
      });
    case "run_finished":
      return finishRun(state, finishOf(record.data, sequence));
  }
}

function replaceBy(
  document: unknown,
  { sessionId, agentId }: SessionRecord,
): SessionState {
  const state = stateFromWire(document);
  if (state.sessionId !== sessionId || state.agentId !== agentId) {
    throw new SessionSerializationError(
      "The document of a checkpoint must have the session and agent of its record",
    );
  }
  return state;
}

function finishOf(data: RunFinishedData, finishSequence: number): RunFinish {
  const { run_id: runId } = data;
  const recovery = data.recovery === undefined
    ? null
    : recoveryOf(data.recovery);
  const read = readResult(runId)(data.result, "data.result");
  // The journal tells an interruption from other failures by its recovery alone,
  // so that its result looks like any other to older readers.
  const isInterruption = recovery !== null && read.status === "failed" &&
    read.failure === null;
  const result = isInterruption
    ? frozen({
      ...read,
      failure: runFailure({
        phase: "runtime",
        code: "interrupted",
        message: read.error ?? "run interrupted",
        retryable: true,
      }),
    })
    : read;
  return { runId, finishSequence, result, recovery };
}

function recoveryOf(value: unknown): RunRecovery | null {
  if (!isJsonObject(value)) return null;
  const { reason, interrupted_tool_call_ids: ids, recovered_at: at } = value;
  return frozen({
    reason: typeof reason === "string" ? reason : null,
    interruptedToolCallIds: frozen(
      Array.isArray(ids) ? ids.map(String) : [],
    ),
    recoveredAt: typeof at === "string" ? at : null,
  });
}
