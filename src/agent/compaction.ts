import { frozen } from "../base/freeze.ts";
import type { EventEmitter } from "../events/emitter.ts";
import type { CompactionPolicy } from "../context/budget.ts";
import type {
  CompactionResult,
  CompactionTrigger,
  Compactor,
} from "../context/compaction.ts";
import type { CompactionPreparation } from "../context/prepare.ts";
import { runResult } from "../messages/result.ts";
import { errorText } from "../base/errors.ts";
import type { ActiveRun } from "./active_run.ts";
import { type AgentCore, openCompaction, openEmitter } from "./core.ts";
import {
  historyRunAlone,
  loadForCompaction,
  saveHistory,
} from "./loaded_history.ts";
import type { Operation } from "./operation.ts";

/**
 * Compacts the history inside a run.
 *
 * @param preparation Plan of the pressure check; null to make a fresh one.
 * @returns What came of it; null if the agent has no parts for it.
 */
export async function compactInRun(
  run: ActiveRun,
  trigger: CompactionTrigger,
  preparation: CompactionPreparation | null,
): Promise<CompactionResult | null> {
  const { compactor } = run.core.config;
  const runtime = run.compaction;
  if (runtime === null || compactor === null) return null;
  run.phase = "compaction";
  const result = await runtime.compact({
    compactor: whileRecorded(compactor, run.emitter),
    trigger,
    cancellation: run.cancellation,
    ...(preparation !== null && { preparation }),
  });
  run.usage.compacted(result.usage);
  if (result.status === "completed") run.compacted = true;
  return result;
}

/** Options of an explicit compaction. */
export interface CompactOptions {
  /** Used instead of the configured one. */
  readonly compactor?: Compactor | undefined;
  /** Aborts the compaction. */
  readonly signal?: AbortSignal | undefined;
}

/** What an explicit compaction needs. */
export interface CompactionParts {
  /** Writes the summary. */
  readonly compactor: Compactor;
  /** Plans the cut. */
  readonly policy: CompactionPolicy;
  /** The operation that it is. */
  readonly operation: Operation;
}

/** Compacts the history outside any run, with an event sequence of its own. */
export async function compactAlone(
  core: AgentCore,
  parts: CompactionParts,
): Promise<CompactionResult> {
  const { config, state } = core;
  const { operation } = parts;
  const { cancellation } = operation;
  await loadForCompaction(core, cancellation);
  const runId = config.ids.next();
  const emitter = openEmitter(core, {
    runId,
    observe: undefined,
    cancellation,
  });
  const runtime = openCompaction(core, parts.policy, (event) => {
    // Once the history is replaced, or is not going to be, an abort comes too late.
    if (event.kind !== "compaction_started") operation.closing = true;
    return emitter.emit(event);
  });
  const before = state.conversation.messages;
  const result = await runtime.compact({
    compactor: whileRecorded(parts.compactor, emitter),
    trigger: "explicit",
    cancellation,
  });
  if (result.status !== "completed") return result;
  if (emitter.failed) {
    state.conversation.replace(before);
    return unrecorded(result, emitter.failure);
  }
  await saveCompaction(core, runId);
  return result;
}

/** Asks nobody for a summary that could not be recorded. */
function whileRecorded(compactor: Compactor, emitter: EventEmitter): Compactor {
  return {
    compact(request, options) {
      if (emitter.failed) throw emitter.failure;
      return compactor.compact(request, options);
    },
  };
}

function unrecorded(
  facts: CompactionResult,
  cause: unknown,
): CompactionResult {
  return frozen({
    ...facts,
    status: "failed",
    summary: null,
    messages: null,
    error: `The compaction could not be recorded: ${errorText(cause)}`,
  });
}

/** Lets the history provider keep the shorter conversation. */
async function saveCompaction(core: AgentCore, runId: string): Promise<void> {
  const { history, logger } = core.config;
  const { conversation, lastRunResult } = core.state;
  if (history.save === undefined) return;
  const run = historyRunAlone(core, { kind: "compaction", runId });
  try {
    await saveHistory(core, run, {
      result: lastRunResult ?? runResult({ stopReason: "text_response" }),
      messages: [],
      conversation: conversation.messages.slice(conversation.systemCount),
      compacted: true,
    });
  } catch (error) {
    logger.warn(
      `history provider "${history.sourceId}" could not save a compaction`,
      { error: errorText(error) },
    );
  }
}
