import type { SessionRecordDraft } from "../../src/session/record.ts";

/** The session that the programs write to, and the run that is open in it. */
export const sessionId = "shared session";
export const runId = "run";

/** The first record: it opens the run that all writers add messages to. */
export function runStarted(): SessionRecordDraft {
  return {
    kind: "run_started",
    sessionId,
    branchId: "main",
    agentId: "writer",
    sequence: 1,
    data: { run_id: runId, task: "write" },
  };
}

/** One message of a writer. */
export function messageAppended(content: string): SessionRecordDraft {
  return {
    kind: "message_appended",
    sessionId,
    branchId: "main",
    agentId: "writer",
    sequence: 2,
    data: { run_id: runId, message: { role: "assistant", content } },
  };
}
