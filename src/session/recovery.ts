import { frozen } from "../base/freeze.ts";
import { isJsonObject } from "../base/json.ts";
import type { Clock } from "../base/ports.ts";
import { interruptedToolMessage } from "../context/interrupted.ts";
import type { AgentMessage, ToolMessage } from "../messages/message.ts";
import {
  resultToWire,
  runResult,
  type WireRunResult,
} from "../messages/result.ts";
import {
  type ModelUsage,
  modelUsage,
  type RunUsage,
  runUsage,
} from "../messages/usage.ts";
import { SessionConflictError } from "./errors.ts";
import type { SessionRecordDraft } from "./record.ts";
import { stateOf } from "./session.ts";
import type { OpenRun } from "./state.ts";
import type {
  RecoverOptions,
  SessionCheckout,
  SessionRecoveryResult,
  SessionTreeStorage,
} from "./storage.ts";
import { itemsOf } from "./strand.ts";
import { timeText } from "./time_text.ts";

/** Which run is to be closed, and the time to write down. */
export interface RecoveryRequest extends RecoverOptions {
  readonly sessionId: string;
  readonly clock: Clock;
}

const maxAttempts = 16;

/**
 * Closes the unfinished run of a branch.
 *
 * It appends and does nothing else, so it may stop anywhere and be repeated.
 */
export async function recoverInterruptedRun(
  storage: SessionTreeStorage,
  request: RecoveryRequest,
): Promise<SessionRecoveryResult> {
  for (let attempt = 1;; attempt++) {
    const checkout = await storage.checkout(request.sessionId, request);
    const run = checkout === null
      ? undefined
      : stateOf(checkout.session).openRuns[0];
    if (checkout === null || run === undefined) {
      return frozen({ status: "clean" });
    }
    try {
      return await closeRun(storage, checkout, { ...request, run });
    } catch (error) {
      // Somebody extended or finished the run meanwhile, which is respected.
      if (!(error instanceof SessionConflictError) || attempt === maxAttempts) {
        throw error;
      }
    }
  }
}

async function closeRun(
  storage: SessionTreeStorage,
  { session, head, branch }: SessionCheckout,
  { run, clock, signal, reason = "process_lost" }: RecoveryRequest & {
    readonly run: OpenRun;
  },
): Promise<SessionRecoveryResult> {
  const { sessionId, agentId } = session;
  const { branchId } = branch;
  const { runId } = run;
  let expectedHead = head.recordId;
  let sequence = run.lastSequence;
  const append = async (change: Pick<SessionRecordDraft, "kind" | "data">) => {
    const draft = {
      sessionId,
      branchId,
      agentId,
      sequence: ++sequence,
      ...change,
    };
    const record = await storage.append(draft as SessionRecordDraft, {
      expectedHead,
      signal,
    });
    expectedHead = record.recordId;
  };

  const messages = itemsOf(stateOf(session).entries)
    .filter((entry) => entry.runId === runId)
    .map((entry) => entry.message);
  const results = interruptedResults(messages, run.startedCallIds);
  const interruptedIds = results.map((message) => message.tool_call_id);
  if (results.length > 0) {
    await append({
      kind: "messages_appended",
      data: { run_id: runId, messages: results },
    });
  }
  await append({
    kind: "run_finished",
    data: {
      run_id: runId,
      result: interruptedRunResult(messages, reason),
      recovery: {
        version: 1,
        reason,
        interrupted_tool_call_ids: interruptedIds,
        recovered_at: timeText(clock),
      },
    },
  });
  const recovered = await storage.checkout(sessionId, { branchId });
  return frozen({
    status: "recovered",
    runId,
    interruptedToolCallIds: frozen(interruptedIds),
    checkout: recovered!,
  });
}

interface OpenCall {
  readonly id: string;
  readonly name: string;
}

/**
 * Results for the calls of the newest answer that no later message answers.
 *
 * Ids may come again in later answers, so only what follows the answer counts.
 */
function interruptedResults(
  messages: readonly AgentMessage[],
  startedIds: readonly string[],
): readonly ToolMessage[] {
  const place = messages.findLastIndex((message) =>
    message.role === "assistant"
  );
  const answered = new Set(
    messages.slice(place + 1).map((message) =>
      message.role === "tool" && message.tool_call_id
    ),
  );
  const open = callsOf(messages[place]).filter(({ id }) => !answered.has(id));
  // Calls with side effects run alone: behind one that was begun and never came
  // back, none was begun that is not marked as well.
  const firstStarted = open.findIndex(({ id }) => startedIds.includes(id));
  return open.map(({ id, name }, index) => {
    const isBehind = firstStarted !== -1 && index > firstStarted;
    return interruptedToolMessage({
      id,
      name,
      started: !isBehind || startedIds.includes(id),
    });
  });
}

// Journals may hold any JSON as a message.
function callsOf(message: AgentMessage | undefined): readonly OpenCall[] {
  const calls: unknown = message?.role === "assistant"
    ? message.tool_calls
    : undefined;
  if (!Array.isArray(calls)) return [];
  return calls.flatMap((call): OpenCall[] => {
    if (!isJsonObject(call) || typeof call.id !== "string" || call.id === "") {
      return [];
    }
    const name = isJsonObject(call.function) ? call.function.name : undefined;
    return [{ id: call.id, name: typeof name === "string" ? name : "unknown" }];
  });
}

function interruptedRunResult(
  messages: readonly AgentMessage[],
  reason: string,
): WireRunResult {
  const answers = messages.filter((message) => message.role === "assistant");
  return resultToWire(runResult({
    stopReason: "runtime_error",
    turns: answers.length,
    error: `run interrupted: ${reason}`,
    usage: usageOf(answers),
  }));
}

function usageOf(answers: readonly AgentMessage[]): RunUsage {
  const reports = answers.flatMap((answer) => reportOf(answer) ?? []);
  const sum = (counts: readonly number[]) =>
    counts.reduce((total, count) => total + count, 0);
  // A part is unknown as soon as one report lacks it.
  const part = (counts: readonly (number | null)[]) =>
    counts.length === 0 || counts.includes(null)
      ? null
      : sum(counts as readonly number[]);
  return runUsage({
    inputTokens: sum(reports.map((usage) => usage.inputTokens)),
    outputTokens: sum(reports.map((usage) => usage.outputTokens)),
    cacheReadTokens: part(reports.map((usage) => usage.cacheReadTokens)),
    cacheWriteTokens: part(reports.map((usage) => usage.cacheWriteTokens)),
    reasoningTokens: part(reports.map((usage) => usage.reasoningTokens)),
    requestCount: answers.length,
    reportedRequestCount: reports.length,
  });
}

// Nobody checks the usage beside a message when it is stored.
function reportOf(answer: AgentMessage): ModelUsage | null {
  const wire = answer.role === "assistant" ? answer.usage : undefined;
  if (!isJsonObject(wire)) return null;
  try {
    return modelUsage({
      inputTokens: wire.input_tokens,
      outputTokens: wire.output_tokens,
      cacheReadTokens: wire.cache_read_tokens,
      cacheWriteTokens: wire.cache_write_tokens,
      reasoningTokens: wire.reasoning_tokens,
    });
  } catch {
    return null;
  }
}
