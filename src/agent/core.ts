import { frozenCopy } from "../base/freeze.ts";
import type { CompactionPolicy } from "../context/budget.ts";
import type { CompactionRuntime } from "../context/compaction_runtime.ts";
import { type EmitterOptions, EventEmitter } from "../events/emitter.ts";
import type { AgentEventPayload } from "../events/event.ts";
import { type AgentEventSink, flattenSinks } from "../events/sink.ts";
import type { AgentInfo } from "../messages/agent_info.ts";
import type { ModelLayer } from "../model/layer.ts";
import type { AgentLayer, Middleware } from "../pipeline/middleware.ts";
import type { ProviderStates } from "../pipeline/provider_pass.ts";
import { ToolRuntime } from "../tools/runtime.ts";
import type { AgentConfig } from "./options.ts";
import { AgentState } from "./state.ts";

/** What the rooms of one agent share. */
export interface AgentCore {
  /** How the agent was configured. */
  readonly config: AgentConfig;
  /** Who it is. */
  readonly info: AgentInfo;
  /** What it remembers. */
  readonly state: AgentState;
  /** Its tools and the life cycle of its middleware. */
  readonly tools: ToolRuntime;
  /** Single sinks, required ones first. */
  readonly sinks: readonly AgentEventSink[];
  /** Agent middleware that is active since the last start-up, outermost first. */
  agentLayers: readonly AgentLayer[];
  /** Model middleware that is active since the last start-up, outermost first. */
  modelLayers: readonly ModelLayer[];
  /** What context providers keep for the life of the agent. */
  readonly providerStates: ProviderStates;
}

/**
 * The core of one agent.
 *
 * @param middleware Read at start-up, so that more can be added before.
 */
export function agentCore(
  config: AgentConfig,
  middleware: readonly Middleware[],
): AgentCore {
  return {
    config,
    info: infoOf(config),
    state: new AgentState(config.systemMessages),
    tools: new ToolRuntime({
      ...config.runtimePolicy,
      handlers: config.handlers,
      // Read at start-up, so that use() can still add to it.
      get layers() {
        return middleware.filter((entry) => canBeActive(config, entry));
      },
      logger: config.logger,
    }),
    sinks: flattenSinks([
      ...(config.history.sink === undefined ? [] : [config.history.sink]),
      ...(config.eventSink === null ? [] : [config.eventSink]),
    ]),
    agentLayers: [],
    modelLayers: [],
    providerStates: new Map(),
  };
}

/** What delivers the events of one run, or of one explicit compaction. */
export function openEmitter(
  { config, sinks }: AgentCore,
  run: Pick<EmitterOptions, "runId" | "observe" | "cancellation">,
): EventEmitter {
  const { agentId, sinkTimeoutMs, clock, logger } = config;
  return new EventEmitter({
    ...run,
    agentId,
    sinks,
    sinkTimeoutMs,
    clock,
    logger,
  });
}

/** What shortens the conversation of the agent. */
export function openCompaction(
  { config, state }: AgentCore,
  policy: CompactionPolicy,
  emit: (event: AgentEventPayload) => Promise<void> | undefined,
): CompactionRuntime {
  return policy.openRuntime({
    conversation: state.conversation,
    ids: config.ids,
    emit,
    splitTurns: config.autoCompactionPolicy?.enabled ?? false,
    estimator: config.contextTokenEstimator ?? undefined,
  });
}

function infoOf(config: AgentConfig): AgentInfo {
  const { target } = config.model;
  // The copy leaves out what is undefined.
  return frozenCopy({
    agentId: config.agentId,
    name: config.name ?? undefined,
    description: config.description ?? undefined,
    provider: target?.provider,
    model: target?.model,
    conversationId: config.history.conversationId,
    remote: false,
  }) as AgentInfo;
}

// Middleware for tools alone is left out where no tool can ever appear.
function canBeActive(config: AgentConfig, entry: Middleware): boolean {
  return entry.aroundRun !== undefined || entry.aroundModel !== undefined ||
    config.handlers.length > 0 || config.contextProviders.length > 0;
}
