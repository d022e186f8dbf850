import { AgentConfigurationError } from "../base/errors.ts";
import { frozen, frozenList } from "../base/freeze.ts";
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
  requireList,
  requireMember,
  requireMethods,
  requireNumber,
  requireObject,
  requireString,
  requireText,
} from "../base/require.ts";
import {
  type AutoCompactionParts,
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
  readonly name?: string | undefined;
  /** What the agent is for. */
  readonly description?: string | undefined;
  /** First system message; the empty string leaves it out. @default {DEFAULT_SYSTEM_PROMPT} */
  readonly systemPrompt?: string | undefined;
  /** What `defineTool` made, handlers, or lists of them; in the order the model sees them. */
  readonly tools?: readonly ToolInput[] | undefined;
  /** Wraps runs, model requests and tool calls; the first is the outermost. */
  readonly middleware?: readonly Middleware[] | undefined;
  /** Asked after each turn that did not end the run, in order. */
  readonly behaviorHooks?: readonly BehaviorHook[] | undefined;
  /** Instructions that can be made active by name. */
  readonly skills?: SkillCatalog | undefined;
  /** Where the conversation comes from and goes to. @default {new InMemoryHistoryProvider()} */
  readonly history?: HistoryProvider | undefined;
  /** Add context to each run, in order. */
  readonly contextProviders?: readonly ContextProvider[] | undefined;
  /** Makes requests of the history. @default {new AgentContextBuilder()} */
  readonly contextBuilder?: AgentContextBuilder | undefined;
  /** Measures requests against a budget and plans compactions. */
  readonly compactionPolicy?: CompactionPolicy | undefined;
  /** Lets runs compact by themselves; needs `compactionPolicy` and `compactor`. */
  readonly autoCompactionPolicy?: Partial<AutoCompactionPolicy> | undefined;
  /** Writes summaries. */
  readonly compactor?: Compactor | undefined;
  /** Replaces the token estimate. */
  readonly contextTokenEstimator?: MessageTokenEstimator | undefined;
  /** Limits and switches of every run. */
  readonly runtimePolicy?: Partial<RuntimePolicy> | undefined;
  /** Observes all runs. */
  readonly eventSink?: AgentEventSink | undefined;
  /** Steering inputs that may wait at a time. @default {16} */
  readonly steeringQueueCapacity?: number | undefined;
  /** Follow-ups that may wait at a time. @default {16} */
  readonly followUpQueueCapacity?: number | undefined;
  /** What happens to waiting follow-ups when a run does not complete. @default {"discard"} */
  readonly followUpFailurePolicy?: FollowUpFailurePolicy | undefined;
  /** Milliseconds one call of a sink may take; omitted means no bound. */
  readonly sinkTimeoutMs?: number | undefined;
  /** Milliseconds that each `afterRun` and `save` may take. @default {10000} */
  readonly providerTimeoutMs?: number | undefined;
  /** System message in the first request of a continue run; never stored. */
  readonly continuePrompt?: string | undefined;
  /** Told what was contained. @default {warnings to the console} */
  readonly logger?: Logger | undefined;
  /** Supplies time. @default {the platform's clock} */
  readonly clock?: Clock | undefined;
  /** Supplies ids. @default {random UUIDs without dashes} */
  readonly ids?: IdSource | undefined;
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
 * Checks options; touches nothing outside. `null` counts as left out.
 *
 * @throws {TypeError} A member has the wrong type.
 * @throws {RangeError} A member is blank or out of range, or automatic compaction lacks its parts.
 * @throws {AgentConfigurationError} Middleware that wraps nothing, or providers that share a source id.
 */
export function resolveOptions(options: AgentOptions): AgentConfig {
  requireObject("The options of an agent", options);
  const agentId = requireText("agentId", options.agentId);
  requireMethods("A model, such as a ChatModelAdapter,", options.model, [
    "complete",
  ]);
  const runtimePolicy = createRuntimePolicy(options.runtimePolicy ?? {});
  const handlers = toHandlers(listIn(options, "tools"));
  const history: HistoryProvider = portIn(options, "history", "load") ??
    new InMemoryHistoryProvider();
  const contextProviders = frozenList(listIn(options, "contextProviders"));
  requireUniqueSources([history, ...contextProviders]);
  const eventSink = portIn(options, "eventSink", "emit");
  requireOneRecorder(history.sink, eventSink);
  const compactionPolicy = portIn(options, "compactionPolicy", "openRuntime");
  const compactor = portIn(options, "compactor", "compact");
  const { sinkTimeoutMs = null } = options;
  return frozen({
    agentId,
    model: options.model,
    name: textIn(options, "name"),
    description: textIn(options, "description"),
    handlers,
    middleware: frozen(
      listIn(options, "middleware").map(requireMiddleware),
    ),
    behaviorHooks: frozen(
      listIn(options, "behaviorHooks").map(requireHook),
    ),
    skills: portIn(options, "skills", "discover"),
    history,
    contextProviders,
    contextBuilder: portIn(options, "contextBuilder", "build") ??
      new AgentContextBuilder(),
    compactionPolicy,
    autoCompactionPolicy: requireAutoCompaction(
      options.autoCompactionPolicy ?? null,
      { policy: compactionPolicy, compactor },
    ),
    compactor,
    contextTokenEstimator: portIn(
      options,
      "contextTokenEstimator",
      "estimateMessage",
      "estimateTools",
    ),
    runtimePolicy,
    eventSink,
    steeringQueueCapacity: capacityIn(options, "steeringQueueCapacity"),
    followUpQueueCapacity: capacityIn(options, "followUpQueueCapacity"),
    followUpFailurePolicy: requireMember(
      "followUpFailurePolicy",
      options.followUpFailurePolicy ?? "discard",
      failurePolicies,
    ),
    sinkTimeoutMs: sinkTimeoutMs === null
      ? null
      : requireNumber("sinkTimeoutMs", sinkTimeoutMs, 0),
    providerTimeoutMs: requireNumber(
      "providerTimeoutMs",
      options.providerTimeoutMs ?? 10_000,
      0,
    ),
    continuePrompt: textIn(options, "continuePrompt"),
    logger: containedLogger(
      portIn(options, "logger", "warn") ?? consoleLogger,
    ),
    clock: portIn(options, "clock", "now", "setTimer") ?? systemClock,
    ids: portIn(options, "ids", "next") ?? randomIds,
    systemMessages: systemMessages(
      textIn(options, "systemPrompt") ?? DEFAULT_SYSTEM_PROMPT,
      handlers.length > 0,
      runtimePolicy.requireExplicitFinish,
    ),
  });
}

type TextOption = "name" | "description" | "systemPrompt" | "continuePrompt";
type ListOption =
  | "tools"
  | "middleware"
  | "behaviorHooks"
  | "contextProviders";

function textIn(options: AgentOptions, name: TextOption): string | null {
  const text = options[name] ?? null;
  return text === null ? null : requireString(name, text);
}

function listIn<Name extends ListOption>(
  options: AgentOptions,
  name: Name,
): NonNullable<AgentOptions[Name]> {
  return requireList(name, options[name] ?? []);
}

/** An object that is told by its functions. */
function portIn<Name extends keyof AgentOptions>(
  options: AgentOptions,
  name: Name,
  ...methods: string[]
): NonNullable<AgentOptions[Name]> | null {
  const port = options[name] ?? null;
  if (port !== null) requireMethods(name, port, methods);
  return port;
}

function capacityIn(
  options: AgentOptions,
  name: "steeringQueueCapacity" | "followUpQueueCapacity",
): number {
  return requireInteger(name, options[name] ?? 16, 1);
}

function systemMessages(
  prompt: string,
  hasTools: boolean,
  explicitFinish: boolean,
): readonly AgentMessage[] {
  const texts = [
    prompt,
    hasTools ? TOOL_PROTOCOL_PROMPT : "",
    explicitFinish ? EXPLICIT_FINISH_PROTOCOL_PROMPT : "",
  ];
  return frozen(texts.filter((text) => text !== "").map(systemMessage));
}

function requireHook(hook: BehaviorHook): BehaviorHook {
  requireMethods("A behavior hook", hook, ["afterTurn"]);
  return hook;
}

function requireAutoCompaction(
  input: Partial<AutoCompactionPolicy> | null,
  parts: AutoCompactionParts,
): AutoCompactionPolicy | null {
  if (input === null) return null;
  const policy = autoCompactionPolicy(input);
  requireAutoCompactionParts(policy, parts);
  return policy;
}

// Two recorders on one branch would take each other for an intruder.
function requireOneRecorder(
  own: AgentEventSink | undefined,
  eventSink: AgentEventSink | null,
): void {
  if (!isRecorder(own) || eventSink === null) return;
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
