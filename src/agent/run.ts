import { AgentConfigurationError, errorText } from "../base/errors.ts";
import { type AgentMessage, userMessage } from "../messages/message.ts";
import { type AgentRunResult, runResult } from "../messages/result.ts";
import type { ContextAddition } from "../pipeline/context_provider.ts";
import type { HistoryRun, RunOutcome } from "../pipeline/history.ts";
import type { ToolRuntime } from "../tools/runtime.ts";
import { ProviderPass } from "../pipeline/provider_pass.ts";
import { ActiveRun, type CoreRequest } from "./active_run.ts";
import { ContinueRejectedError, conversationRefusal } from "./continuation.ts";
import type { AgentCore } from "./core.ts";
import { saveHistory, takeHistory } from "./loaded_history.ts";
import { TOOL_PROTOCOL_PROMPT } from "./prompts.ts";
import { activateSkill } from "./skill_activation.ts";
import {
  failureStop,
  persistenceStop,
  type Stop,
  unkeptStop,
} from "./stop_rules.ts";
import { turnLoop } from "./turn.ts";

/**
 * Takes one run of an agent from its first to its last event.
 *
 * Whatever goes wrong in between becomes part of the result; the promise rejects
 * only if no run was made.
 */
export class AgentOrchestrator {
  readonly #core: AgentCore;

  /** Runs on the parts of one agent. */
  constructor(core: AgentCore) {
    this.#core = core;
  }

  /**
   * Runs a task, or goes on without one. The agent's resources must be started.
   *
   * @throws {ContinueRejectedError} If the loaded conversation cannot go on without a task.
   * @throws {AgentCancelledError} If that was aborted before it could be loaded.
   */
  async run(request: CoreRequest): Promise<AgentRunResult> {
    const run = new ActiveRun(this.#core, request);
    const loading = await loadHistory(run);
    if (request.kind === "continue" && loading === undefined) {
      this.#requireContinuable(run);
    }
    const providers = providerPass(run);
    enter(run);
    await run.emit(startEvent(run));
    const stop = await decide(run, providers, loading);
    await discardSteering(run, stop);
    const result = await leave(run, providers, stop);
    this.#core.state.finish(result);
    return await run.emitter.finish(result, () => {
      const replaced = resultOf(run, persistenceStop(run));
      this.#core.state.finish(replaced);
      return replaced;
    });
  }

  #requireContinuable(run: ActiveRun): void {
    const { state } = this.#core;
    const refusal = conversationRefusal(
      state.lastRunResult,
      state.conversation.messages,
    );
    if (refusal === null) return;
    run.cancellation.throwIfAborted();
    run.close();
    throw new ContinueRejectedError(refusal, state.lastRunResult?.stopReason);
  }
}

interface Failure {
  readonly error: unknown;
}

/** Fetches the conversation. @returns What went wrong, if anything did. */
async function loadHistory(run: ActiveRun): Promise<Failure | undefined> {
  const { config } = run.core;
  if (run.cancellation.aborted) return undefined;
  try {
    await takeHistory(
      run.core,
      () =>
        run.cancellation.race(() =>
          config.history.load({
            ...aboutRun(run),
            signal: run.cancellation.signal,
          })
        ),
    );
  } catch (error) {
    return { error };
  }
  return undefined;
}

/** What providers are told about a run. */
function aboutRun(run: ActiveRun): Omit<HistoryRun, "signal"> {
  return {
    agent: run.core.info,
    runId: run.id,
    kind: run.request.kind,
    ...(run.taskText !== null && { task: run.taskText }),
    scope: run.request.scope,
  };
}

function providerPass(run: ActiveRun): ProviderPass | null {
  const { config, state, providerStates } = run.core;
  if (config.contextProviders.length === 0) return null;
  return new ProviderPass({
    providers: config.contextProviders,
    states: providerStates,
    timeoutMs: config.providerTimeoutMs,
    clock: config.clock,
    logger: config.logger,
    base: {
      ...aboutRun(run),
      kind: run.request.kind,
      history: state.conversation.messages,
    },
  });
}

function enter(run: ActiveRun): void {
  const { task } = run.request;
  run.core.state.begin(run.taskText);
  run.markStart();
  if (task !== undefined) run.commit(userMessage(task));
}

function startEvent(run: ActiveRun) {
  const { task } = run.request;
  if (task === undefined) return { kind: "agent_continued" } as const;
  return {
    kind: "agent_started",
    task: run.taskText ?? "",
    ...(typeof task !== "string" && { content: task }),
  } as const;
}

/** Prepares the run, takes its turns and closes it. @returns What ended it. */
async function decide(
  run: ActiveRun,
  providers: ProviderPass | null,
  loading: Failure | undefined,
): Promise<Stop> {
  try {
    run.phase = "prepare";
    if (loading !== undefined) throw loading.error;
    await run.cancellation.race(() => run.core.tools.onTaskStart());
    await activateSkill(run);
    if (providers !== null) {
      await takeAdditions(run, await providers.before(run.cancellation));
    }
    return await turnLoop(run);
  } catch (error) {
    run.close();
    return failureStop(run, error);
  }
}

async function takeAdditions(
  run: ActiveRun,
  additions: readonly ContextAddition[],
): Promise<void> {
  const { config, tools } = run.core;
  for (const addition of additions) await attach(tools, addition);
  const handlers = additions.flatMap((addition) => addition.handlers);
  const layers = additions.flatMap((addition) => addition.middleware);
  const instructions = additions.flatMap((addition) => addition.instructions);
  if (handlers.length > 0 && config.handlers.length === 0) {
    instructions.unshift(TOOL_PROTOCOL_PROMPT);
  }
  run.additions = {
    instructions: instructions.length === 0 ? null : instructions.join("\n"),
    messages: [
      ...run.request.contextMessages,
      ...additions.flatMap((addition) => addition.messages),
    ],
    modelLayers: layers,
    modelOptions: Object.assign(
      {},
      ...additions.map((addition) => addition.options),
    ),
  };
}

/** Starts what one provider brings along for this run. */
async function attach(
  tools: ToolRuntime,
  { sourceId, handlers, middleware: layers }: ContextAddition,
): Promise<void> {
  if (handlers.length === 0 && layers.length === 0) return;
  try {
    await tools.attach({ handlers, layers });
  } catch (error) {
    throw new AgentConfigurationError(
      `Context provider "${sourceId}" brings what cannot be used: ${
        errorText(error)
      }`,
      { cause: error },
    );
  }
}

/** Tells everyone whose steering came too late. */
async function discardSteering(run: ActiveRun, stop: Stop): Promise<void> {
  const reason = stop.stopReason;
  for (
    let input = run.steering.take();
    input !== undefined;
    input = run.steering.take()
  ) {
    input.settle({ kind: "discarded", reason });
    await run.emit({
      kind: "steering_discarded",
      control: input.control,
      reason,
    });
  }
}

/** Lets providers and history see the outcome, and gives back what was taken for this run. */
async function leave(
  run: ActiveRun,
  providers: ProviderPass | null,
  stop: Stop,
): Promise<AgentRunResult> {
  const { config, tools } = run.core;
  const recorded = !run.emitter.failed || stop.stopReason === "external_abort";
  let result = resultOf(run, recorded ? stop : persistenceStop(run));
  const outcome = outcomeOf(run, result);
  await providers?.after(outcome);
  result = await save(run, result, outcome);
  for (const error of await tools.detach()) {
    config.logger.warn("A tool resource of one run failed to shut down", {
      agentId: config.agentId,
      error: errorText(error),
    });
  }
  return result;
}

async function save(
  run: ActiveRun,
  result: AgentRunResult,
  outcome: RunOutcome,
): Promise<AgentRunResult> {
  const { history, logger } = run.core.config;
  if (history.save === undefined) return result;
  try {
    await saveHistory(run.core, aboutRun(run), outcome);
    return result;
  } catch (error) {
    const message = `history provider '${history.sourceId}' failed: ${
      errorText(error)
    }`;
    if (!result.succeeded) {
      logger.warn(message);
      return result;
    }
    return resultOf(run, unkeptStop(message, error));
  }
}

function outcomeOf(run: ActiveRun, result: AgentRunResult): RunOutcome {
  const { conversation } = run.core.state;
  return {
    result,
    messages: run.committed,
    get conversation(): readonly AgentMessage[] {
      return conversation.messages.slice(conversation.systemCount);
    },
    compacted: run.compacted,
    ...(result.failure?.cause !== undefined && { error: result.failure.cause }),
  };
}

function resultOf(run: ActiveRun, stop: Stop): AgentRunResult {
  return runResult({
    ...stop,
    runId: run.id,
    turns: run.turn,
    finishReason: run.finishReason,
    usage: run.usage.total(),
    compactionUsage: run.usage.compactionUsage,
  });
}
