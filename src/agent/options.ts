import { AgentConfigurationError } from "../base/errors.ts";
import {
  type Clock,
  consoleLogger,
  containedLogger,
  type IdSource,
  type Logger,
} from "../base/ports.ts";
import { randomIds, systemClock } from "../base/ports.ts";
import {
  requireInteger,
  requireMember,
  requireMethods,
  requireNumber,
  requireText,
} from "../base/require.ts";
import {
  type AutoCompactionPolicy,
  autoCompactionPolicy,
  requireAutoCompactionParts,
} from "../context/auto_compaction.ts";
import { AgentContextBuilder } from "../context/builder.ts";
import type { CompactionPolicy } from "../context/budget.ts";
import type { Compactor } from "../context/compaction.ts";
import type { MessageTokenEstimator } from "../context/estimator.ts";
import type { SkillCatalog } from "../context/skills.ts";
import { type AgentEventSink, flattenSinks } from "../events/sink.ts";
import { type AgentMessage, systemMessage } from "../messages/message.ts";
import type { ModelAdapter } from "../model/adapter.ts";
import {
  type ContextProvider,
  requireUniqueSources,
} from "../pipeline/context_provider.ts";
import {
  type HistoryProvider,
  InMemoryHistoryProvider,
} from "../pipeline/history.ts";
import { type Middleware, requireMiddleware } from "../pipeline/middleware.ts";
import { isRecorder } from "../session/restore.ts";
import { toHandlers, type ToolInput } from "../tools/define_tool.ts";
import type { ToolHandler } from "../tools/handler.ts";
import type { BehaviorHook } from "./behavior.ts";
import type { FollowUpFailurePolicy } from "./follow_up.ts";
import {
  DEFAULT_SYSTEM_PROMPT,
  EXPLICIT_FINISH_PROTOCOL_PROMPT,
  TOOL_PROTOCOL_PROMPT,
} from "./prompts.ts";
import { createRuntimePolicy, type RuntimePolicy } from "./runtime_policy.ts";

/** How an agent is made. Lists are copied; the objects in them stay the caller's. */
export interface AgentOptions {
  /** Stable id, stamped on every event; trimmed. */
  readonly agentId: string;
  /** Talks to the model; started and shut down by the agent. */
  readonly model: ModelAdapter;
  /** Shown instead of the id. */
  readonly name?: string;
  /** What the agent is for. */
  readonly description?: string;
  /** First system message; the empty string leaves it out. @default {DEFAULT_SYSTEM_PROMPT} */
  readonly systemPrompt?: string;
  /** What `defineTool` made, handlers, or lists of them; in the order the model sees them. */
  readonly tools?: readonly ToolInput[];
  /** Wraps runs, model requests and tool calls; the first is the outermost. */
  readonly middleware?: readonly Middleware[];
  /** Asked after each turn that did not end the run, in order. */
  readonly behaviorHooks?: readonly BehaviorHook[];
  /** Instructions that can be made active by name. */
  readonly skills?: SkillCatalog;
  /** Where the conversation comes from and goes to. @default {new InMemoryHistoryProvider()} */
  readonly history?: HistoryProvider;
  /** Add context to each run, in order. */
  readonly contextProviders?: readonly ContextProvider[];
  /** Makes requests of the history. @default {new AgentContextBuilder()} */
  readonly contextBuilder?: AgentContextBuilder;
  /** Measures requests against a budget and plans compactions. */
  readonly compactionPolicy?: CompactionPolicy;
  /** Lets runs compact by themselves; needs `compactionPolicy` and `compactor`. */
  readonly autoCompactionPolicy?: Partial<AutoCompactionPolicy>;
  /** Writes summaries. */
  readonly compactor?: Compactor;
  /** Replaces the token estimate. */
  readonly contextTokenEstimator?: MessageTokenEstimator;
  /** Limits and switches of every run. */
  readonly runtimePolicy?: Partial<RuntimePolicy>;
  /** Observes all runs. */
  readonly eventSink?: AgentEventSink;
  /** Steering inputs that may wait at a time. @default {16} */
  readonly steeringQueueCapacity?: number;
  /** Follow-ups that may wait at a time. @default {16} */
  readonly followUpQueueCapacity?: number;
  /** What happens to waiting follow-ups when a run does not complete. @default {"discard"} */
  readonly followUpFailurePolicy?: FollowUpFailurePolicy;
  /** Milliseconds one call of a sink may take; omitted means no bound. */
  readonly sinkTimeoutMs?: number;
  /** Milliseconds that each `afterRun` and `save` may take. @default {10000} */
  readonly providerTimeoutMs?: number;
  /** System message in the first request of a continue run; never stored. */
  readonly continuePrompt?: string;
  /** Told what was contained. @default {warnings to the console} */
  readonly logger?: Logger;
  /** Supplies time. @default {the platform's clock} */
  readonly clock?: Clock;
  /** Supplies ids. @default {random UUIDs without dashes} */
  readonly ids?: IdSource;
}

/** Checked options with their defaults; `null` stands for what was left out. */
export interface AgentConfig {
  /** Stable id, stamped on every event; trimmed. */
  readonly agentId: string;
  /** Talks to the model; started and shut down by the agent. */
  readonly model: ModelAdapter;
  /** Shown instead of the id. */
  readonly name: string | null;
  /** What the agent is for. */
  readonly description: string | null;
  /** Owners of the tools, in the order the model sees them. */
  readonly handlers: readonly ToolHandler[];
  /** Wraps runs, model requests and tool calls; the first is the outermost. */
  readonly middleware: readonly Middleware[];
  /** Asked after each turn that did not end the run, in order. */
  readonly behaviorHooks: readonly BehaviorHook[];
  /** Instructions that can be made active by name. */
  readonly skills: SkillCatalog | null;
  /** Where the conversation comes from and goes to. */
  readonly history: HistoryProvider;
  /** Add context to each run, in order. */
  readonly contextProviders: readonly ContextProvider[];
  /** Makes requests of the history. */
  readonly contextBuilder: AgentContextBuilder;
  /** Measures requests against a budget and plans compactions. */
  readonly compactionPolicy: CompactionPolicy | null;
  /** Lets runs compact by themselves; needs `compactionPolicy` and `compactor`. */
  readonly autoCompactionPolicy: AutoCompactionPolicy | null;
  /** Writes summaries. */
  readonly compactor: Compactor | null;
  /** Replaces the token estimate. */
  readonly contextTokenEstimator: MessageTokenEstimator | null;
  /** Limits and switches of every run. */
  readonly runtimePolicy: RuntimePolicy;
  /** Observes all runs. */
  readonly eventSink: AgentEventSink | null;
  /** Steering inputs that may wait at a time. */
  readonly steeringQueueCapacity: number;
  /** Follow-ups that may wait at a time. */
  readonly followUpQueueCapacity: number;
  /** What happens to waiting follow-ups when a run does not complete. */
  readonly followUpFailurePolicy: FollowUpFailurePolicy;
  /** Milliseconds one call of a sink may take; omitted means no bound. */
  readonly sinkTimeoutMs: number | null;
  /** Milliseconds that each `afterRun` and `save` may take. */
  readonly providerTimeoutMs: number;
  /** System message in the first request of a continue run; never stored. */
  readonly continuePrompt: string | null;
  /** Told what was contained. */
  readonly logger: Logger;
  /** Supplies time. */
  readonly clock: Clock;
  /** Supplies ids. */
  readonly ids: IdSource;
  /** The system messages that every history of the agent begins with. */
  readonly systemMessages: readonly AgentMessage[];
}

const failurePolicies: Readonly<Record<FollowUpFailurePolicy, true>> = {
  discard: true,
  continue: true,
};

/**
 * Checks options; touches nothing outside.
 *
 * @throws {TypeError} A member has the wrong type.
 * @throws {RangeError} A member is blank or out of range, or automatic compaction lacks its parts.
 * @throws {AgentConfigurationError} Middleware that wraps nothing, or providers that share a source id.
 */
export function resolveOptions(options: AgentOptions): AgentConfig {
  const agentId = requireText("agentId", options.agentId);
  requireMethods("model", options.model, ["complete"]);
  const runtimePolicy = createRuntimePolicy(options.runtimePolicy);
  const handlers = toHandlers(options.tools ?? []);
  const history: HistoryProvider = options.history ??
    new InMemoryHistoryProvider();
  const contextProviders = Object.freeze([...options.contextProviders ?? []]);
  requireUniqueSources([history, ...contextProviders]);
  requireOneRecorder(history.sink, options.eventSink);
  return Object.freeze({
    agentId,
    model: options.model,
    name: options.name ?? null,
    description: options.description ?? null,
    handlers,
    middleware: Object.freeze(
      (options.middleware ?? []).map(requireMiddleware),
    ),
    behaviorHooks: Object.freeze(
      (options.behaviorHooks ?? []).map(requireHook),
    ),
    skills: options.skills ?? null,
    history,
    contextProviders,
    contextBuilder: options.contextBuilder ?? new AgentContextBuilder(),
    compactionPolicy: options.compactionPolicy ?? null,
    autoCompactionPolicy: requireAutoCompaction(options),
    compactor: options.compactor ?? null,
    contextTokenEstimator: options.contextTokenEstimator ?? null,
    runtimePolicy,
    eventSink: options.eventSink === undefined
      ? null
      : requireSink(options.eventSink),
    steeringQueueCapacity: capacity(
      "steeringQueueCapacity",
      options.steeringQueueCapacity,
    ),
    followUpQueueCapacity: capacity(
      "followUpQueueCapacity",
      options.followUpQueueCapacity,
    ),
    followUpFailurePolicy: requireMember(
      "followUpFailurePolicy",
      options.followUpFailurePolicy ?? "discard",
      failurePolicies,
    ),
    sinkTimeoutMs: options.sinkTimeoutMs === undefined
      ? null
      : requireNumber("sinkTimeoutMs", options.sinkTimeoutMs, 0),
    providerTimeoutMs: requireNumber(
      "providerTimeoutMs",
      options.providerTimeoutMs ?? 10_000,
      0,
    ),
    continuePrompt: options.continuePrompt ?? null,
    logger: containedLogger(options.logger ?? consoleLogger),
    clock: options.clock ?? systemClock,
    ids: options.ids ?? randomIds,
    systemMessages: systemMessages(
      options.systemPrompt ?? DEFAULT_SYSTEM_PROMPT,
      handlers.length > 0,
      runtimePolicy.requireExplicitFinish,
    ),
  });
}

function systemMessages(
  prompt: string,
  hasTools: boolean,
  explicitFinish: boolean,
): readonly AgentMessage[] {
  if (typeof prompt !== "string") {
    throw new TypeError("systemPrompt must be a string");
  }
  const texts = [
    prompt,
    hasTools ? TOOL_PROTOCOL_PROMPT : "",
    explicitFinish ? EXPLICIT_FINISH_PROTOCOL_PROMPT : "",
  ];
  return Object.freeze(texts.filter((text) => text !== "").map(systemMessage));
}

function capacity(name: string, value: number | undefined): number {
  return requireInteger(name, value ?? 16, 1);
}

function requireHook(hook: BehaviorHook): BehaviorHook {
  requireMethods("A behavior hook", hook, ["afterTurn"]);
  return hook;
}

function requireSink(sink: AgentEventSink): AgentEventSink {
  requireMethods("eventSink", sink, ["emit"]);
  return sink;
}

function requireAutoCompaction(
  options: AgentOptions,
): AutoCompactionPolicy | null {
  if (options.autoCompactionPolicy === undefined) return null;
  const policy = autoCompactionPolicy(options.autoCompactionPolicy);
  requireAutoCompactionParts(policy, {
    policy: options.compactionPolicy,
    compactor: options.compactor,
  });
  return policy;
}

// Two recorders on one branch would take each other for an intruder.
function requireOneRecorder(
  own: AgentEventSink | undefined,
  eventSink: AgentEventSink | undefined,
): void {
  if (!isRecorder(own) || eventSink === undefined) return;
  const clashes = flattenSinks([eventSink]).some((sink) =>
    isRecorder(sink) && sink.storage === own.storage &&
    sink.sessionId === own.sessionId && sink.branchId === own.branchId
  );
  if (clashes) {
    throw new AgentConfigurationError(
      `The history provider records session "${own.sessionId}" already; remove its SessionRecorder from eventSink`,
    );
  }
}
