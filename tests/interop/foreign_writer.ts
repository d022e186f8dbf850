import { readJournal } from "./journal_reader.ts";
import type { Json } from "./python_journals.ts";

/**
 * Adds a whole run to the journal of another program, as a writer that knows the format alone would:
 * it reads the journal, takes the head of the branch as the parent, and appends three lines.
 */
export function addForeignRun(
  bytes: Uint8Array,
  run: {
    readonly sessionId: string;
    readonly agentId: string;
    readonly runId: string;
  },
): Uint8Array {
  const { runId, sessionId, agentId } = run;
  const { heads, records } = readJournal(bytes);
  const usage = {
    cache_read_tokens: null,
    cache_write_tokens: null,
    input_tokens: 1,
    output_tokens: 1,
    reasoning_tokens: null,
    reported_request_count: 1,
    request_count: 1,
    total_tokens: 2,
  };
  const steps: readonly [string, number, Json][] = [
    ["run_started", 1, { run_id: runId, task: `foreign task ${runId}` }],
    ["message_appended", 3, {
      message: { content: `foreign answer ${runId}`, role: "assistant" },
      run_id: runId,
    }],
    ["run_finished", 5, {
      result: {
        error: null,
        output: "foreign",
        status: "completed",
        stop_reason: "text_response",
        turns: 1,
        usage,
      },
      run_id: runId,
    }],
  ];
  let parent = (heads.main as Json)?.record_id ?? null;
  const lines = steps.map(([type, sequence, data], index) => {
    const record_id = `${runId}-${index}`;
    const line = JSON.stringify({
      agent_id: agentId,
      branch_id: "main",
      data,
      journal_schema_version: 1,
      parent_id: parent,
      record_id,
      revision: records.length + index + 1,
      sequence,
      session_id: sessionId,
      type,
    });
    parent = record_id;
    return `${line}\n`;
  });
  const added = new TextEncoder().encode(lines.join(""));
  const committed = bytes.subarray(0, bytes.lastIndexOf(10) + 1);
  const whole = new Uint8Array(committed.length + added.length);
  whole.set(committed);
  whole.set(added, committed.length);
  return whole;
}
