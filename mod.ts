/**
 * An agent harness core: the loop between a model and tools, with control over
 * it, on every JavaScript runtime.
 *
 * This entry holds everything that needs no npm package: the agent, tools,
 * context and compaction, events, sessions in memory, the pipeline. Add
 * `@ejagent/core/chat` or `@ejagent/core/openai` for a model adapter, and the
 * entry of your platform for files, servers and the environment.
 *
 * @example Ask a model
 * ```ts ignore
 * import { Agent, defineTool } from "@ejagent/core";
 * import { ChatModelAdapter, modelConfigFromEnv } from "@ejagent/core/chat";
 * import { environment } from "@ejagent/core/deno";
 *
 * const clock = defineTool({
 *   name: "now",
 *   description: "Tells the time.",
 *   effect: "read_only",
 *   execute: () => new Date().toISOString(),
 * });
 * const agent = new Agent({
 *   agentId: "assistant",
 *   model: new ChatModelAdapter(modelConfigFromEnv(environment())),
 *   tools: [clock],
 * });
 * for await (const event of agent.stream("What time is it?")) {
 *   if (event.kind === "assistant_text_delta") console.log(event.delta);
 * }
 * await agent.shutdown();
 * ```
 *
 * @module
 */

// The agent
export { Agent } from "./src/agent/agent.ts";
export { type AgentConfig, type AgentOptions } from "./src/agent/options.ts";
export {
  createRuntimePolicy,
  type RuntimePolicy,
} from "./src/agent/runtime_policy.ts";
export {
  DEFAULT_SYSTEM_PROMPT,
  EXPLICIT_FINISH_PROTOCOL_PROMPT,
  TOOL_COMPLETION_RETRY_PROMPT,
  TOOL_PROTOCOL_PROMPT,
} from "./src/agent/prompts.ts";
export {
  type BehaviorAction,
  type BehaviorAnswer,
  behaviorContinue,
  type BehaviorDecision,
  type BehaviorHook,
  BehaviorHookError,
  behaviorStop,
  type TurnSnapshot,
} from "./src/agent/behavior.ts";
export {
  ContinueRejectedError,
  type ContinueRejectedReason,
} from "./src/agent/continuation.ts";
export {
  type ControlReceipt,
  type PendingSteering,
  type SteeringOutcome,
  SteeringQueue,
  type SteeringReceipt,
} from "./src/agent/steering.ts";
export {
  FollowUpDiscardedError,
  type FollowUpDiscardReason,
  FollowUpError,
  type FollowUpFailurePolicy,
  FollowUpHandle,
  FollowUpRejectedError,
} from "./src/agent/follow_up.ts";
export type { AgentLifecycle, ShutdownOptions } from "./src/agent/lifecycle.ts";
export type { CompactOptions } from "./src/agent/compaction.ts";
export { AgentOrchestrator } from "./src/agent/run.ts";
export {
  ActiveRun,
  type CoreRequest,
  type RunAdditions,
} from "./src/agent/active_run.ts";
export { type AgentCore } from "./src/agent/core.ts";
export { type OperationOptions } from "./src/agent/run_chain.ts";
export { type RecoverSessionOptions } from "./src/agent/restoration.ts";
export { AgentState } from "./src/agent/state.ts";
export { UsageMeter } from "./src/agent/usage_meter.ts";

// Pipeline
export {
  type AgentLike,
  type AgentRunStream,
  type RunOptions,
} from "./src/pipeline/agent_like.ts";
export {
  AgentBusyError,
  AgentReentrancyError,
  AgentShutdownError,
  AgentShuttingDownError,
  AgentStartupError,
} from "./src/pipeline/errors.ts";
export {
  PipelineAgent,
  type PipelineAgentOptions,
} from "./src/pipeline/pipeline_agent.ts";
export { wrapAgent } from "./src/pipeline/wrap_agent.ts";
export { mapEvents } from "./src/pipeline/map_events.ts";
export {
  type AgentLayer,
  type AgentMiddleware,
  type AgentNext,
  AgentPipelineError,
  type AgentRequest,
  type AgentStream,
  type Middleware,
  type ModelMiddleware,
  type ToolMiddleware,
} from "./src/pipeline/middleware.ts";
export {
  type HistoryProvider,
  type HistoryRun,
  InMemoryHistoryProvider,
  type LoadedHistory,
  type RunOutcome,
} from "./src/pipeline/history.ts";
export {
  ContextClosedError,
  type ContextContribution,
  type ContextProvider,
  type ContextRun,
  UnsupportedContextError,
} from "./src/pipeline/context_provider.ts";
export { contextMiddleware } from "./src/pipeline/context_middleware.ts";
export {
  type AgentFactory,
  agentTool,
  type AgentToolOptions,
} from "./src/pipeline/agent_tool.ts";
export { type ProviderStates } from "./src/pipeline/provider_pass.ts";
export {
  SessionHistoryProvider,
  type SessionHistoryProviderOptions,
} from "./src/pipeline/session_history.ts";

// Events
export {
  type AgentContinued,
  type AgentEvent,
  agentEvent,
  type AgentEventEnvelope,
  type AgentEventKind,
  type AgentEventPayload,
  type AgentFinished,
  type AgentStarted,
  type AssistantTextDelta,
  type AssistantThinkingDelta,
  type CompactionCompleted,
  type CompactionFailed,
  type CompactionStarted,
  type ContextPressureEvaluated,
  type MessageCompleted,
  type SteeringApplied,
  type SteeringDiscarded,
  type ToolCompleted,
  type ToolProgressed,
  type ToolStarted,
  type TurnCompleted,
  type TurnStarted,
} from "./src/events/event.ts";
export {
  type AgentEventSink,
  AgentEventSinkError,
  CompositeAgentEventSink,
} from "./src/events/sink.ts";
export { type EmitterOptions, EventEmitter } from "./src/events/emitter.ts";

// Messages and results
export { type AgentInfo } from "./src/messages/agent_info.ts";
export {
  type AudioPart,
  type ContentPart,
  contentText,
  type FilePart,
  type ImagePart,
  type TaskInput,
  type TextPart,
} from "./src/messages/content.ts";
export {
  type ControlInput,
  type ControlInputKind,
  type ControlStatus,
} from "./src/messages/control.ts";
export {
  type AgentMessage,
  type AssistantAgentMessage,
  type AssistantMessage,
  assistantMessage,
  type MessageMetadata,
  PROVIDER_DATA_KEY,
  type SystemMessage,
  systemMessage,
  toAgentMessage,
  type ToolCallEntry,
  type ToolMessage,
  toolMessage,
  type UserMessage,
  userMessage,
} from "./src/messages/message.ts";
export {
  AgentRunError,
  type AgentRunResult,
  type FailureCode,
  type FailurePhase,
  resultToWire,
  type RunFailure,
  runFailure,
  runResult,
  type RunResultInput,
  type RunStatus,
  STATUS_OF_STOP_REASON,
  type StopReason,
  throwIfNotCompleted,
  type WireRunResult,
} from "./src/messages/result.ts";
export {
  type AgentStateSnapshot,
  type AgentStateView,
  type AgentStatus,
} from "./src/messages/state.ts";
export {
  type ModelToolCall,
  type OpenAIFunctionTool,
  type ToolControl,
  type ToolDefinitionView,
  type ToolEffect,
  type ToolProgressUpdate,
} from "./src/messages/tool.ts";
export {
  type ModelUsage,
  modelUsage,
  type ModelUsageInput,
  NO_USAGE,
  type RunUsage,
  runUsage,
  type RunUsageInput,
  runUsageToWire,
  usageToWire,
  type WireModelUsage,
  type WireRunUsage,
} from "./src/messages/usage.ts";

// Model
export {
  type ContextBuildResult,
  type ContextRepairs,
  type ModelAdapter,
  type ModelCall,
  type ModelDelta,
  type ModelOptions,
  type ModelRequest,
  type ModelResponse,
  type ModelResponseCompleted,
  type ModelStream,
  type ModelStreamEvent,
  type ModelTarget,
  type ModelTextDelta,
  type ModelThinkingDelta,
  UNKNOWN_TARGET,
} from "./src/model/adapter.ts";
export {
  ContextOverflowError,
  ModelAuthenticationError,
  type ModelErrorKind,
  type ModelErrorOptions,
  ModelProtocolError,
  ModelProviderError,
  ModelRateLimitError,
  ModelTimeoutError,
} from "./src/model/errors.ts";
export { type ModelLayer, type ModelNext } from "./src/model/layer.ts";
export {
  type ProviderData,
  providerDataOf,
} from "./src/model/provider_data.ts";

// Tools
export {
  type DefinedTool,
  defineTool,
  type DefineToolOptions,
  isDefinedTool,
  type ToolArguments,
  type ToolArgumentsInput,
  type ToolData,
  type ToolInput,
  type ToolParameters,
  ToolSet,
} from "./src/tools/define_tool.ts";
export {
  isToolDefinition,
  normalizeToolDefinition,
  normalizeToolDefinitions,
  type NormalizeToolOptions,
  ToolDefinition,
  type ToolDefinitionInit,
  type ToolDefinitionInput,
} from "./src/tools/definition.ts";
export {
  DuplicateToolError,
  ToolDefinitionError,
  type ToolDefinitionErrorOptions,
  ToolShutdownError,
  UnknownToolError,
} from "./src/tools/errors.ts";
export {
  type InvalidArgument,
  type InvalidArguments,
} from "./src/tools/invalid_arguments.ts";
export {
  type ToolDispatchOptions,
  type ToolExecutionContext,
} from "./src/tools/execution_context.ts";
export {
  BaseHandler,
  MethodToolHandler,
  type MethodToolHandlerOptions,
  type ToolHandler,
} from "./src/tools/handler.ts";
export { type InferJsonSchema } from "./src/tools/infer_schema.ts";
export {
  composeToolMiddlewares,
  type ToolCallContext,
  type ToolChain,
  type ToolLayer,
  type ToolNext,
} from "./src/tools/middleware.ts";
export {
  cancel,
  complete,
  isStepOutcome,
  proceed,
  reject,
  type StepOutcome,
  type ToolCallResult,
} from "./src/tools/outcome.ts";
export {
  type ToolProgressInput,
  type ToolProgressReporter,
} from "./src/tools/progress.ts";
export {
  type ToolAdditions,
  type ToolDispatchRequest,
  ToolRuntime,
  type ToolRuntimeOptions,
} from "./src/tools/runtime.ts";
export {
  ToolSchemaConfigurationError,
  type ToolSchemaErrorOptions,
} from "./src/tools/schema_error.ts";
export { serializeToolResult } from "./src/tools/serialize.ts";
export {
  type StandardInput,
  type StandardIssue,
  type StandardOutput,
  type StandardResult,
  type StandardSchema,
  type StandardSchemaProps,
} from "./src/tools/standard_schema.ts";
export {
  type ToolTurn,
  type ToolTurnOutcome,
  type ToolTurnReport,
} from "./src/tools/turn.ts";
export {
  isReason,
  RuleBasedToolPolicy,
  type RuleBasedToolPolicyOptions,
  type ToolExecutionPolicy,
  type ToolPolicyAction,
  type ToolPolicyDecision,
  toolPolicyDecision,
  type ToolPolicyPredicate,
  type ToolPolicyRule,
  toolPolicyRule,
  type ToolPolicyRuleInit,
} from "./src/tools/policy.ts";
export {
  type ApprovalLimits,
  approvalRequest,
  ApprovalTimeoutError,
  requestApproval,
  type ToolApprovalDecision,
  toolApprovalDecision,
  type ToolApprovalFunction,
  type ToolApprovalOptions,
  type ToolApprovalRequest,
  type ToolApprover,
} from "./src/tools/approval.ts";
export {
  formatToolCallPreview,
  type ToolCallPreviewOptions,
} from "./src/tools/preview.ts";
export {
  ToolPolicyMiddleware,
  type ToolPolicyMiddlewareOptions,
} from "./src/tools/policy_middleware.ts";

// Context and compaction
export {
  type CompactionDecision,
  type CompactionDecisionReason,
  CompactionPolicy,
  type CompactionPolicyInput,
  ContextBudget,
  type ContextBudgetInput,
  type PolicyPrepareOptions,
} from "./src/context/budget.ts";
export {
  AgentContextBuilder,
  type ContextBuilderOptions,
  type ContextParts,
} from "./src/context/builder.ts";
export {
  CompactionError,
  type CompactionEvent,
  type CompactionFacts,
  type CompactionInstalled,
  type CompactionNotDone,
  type CompactionRequest,
  type CompactionResult,
  type CompactionSkipped,
  type CompactionStatus,
  type CompactionTrigger,
  type Compactor,
  type CompactorOutput,
} from "./src/context/compaction.ts";
export {
  type CompactionOrder,
  type CompactionPlanner,
  CompactionRuntime,
  type CompactionRuntimeOptions,
} from "./src/context/compaction_runtime.ts";
export {
  type AutoCompactionInput,
  type AutoCompactionParts,
  type AutoCompactionPolicy,
  autoCompactionPolicy,
} from "./src/context/auto_compaction.ts";
export { Conversation } from "./src/context/conversation.ts";
export {
  type ContextUsageEstimate,
  type ContextUsageEstimateInput,
  type ContextUsageSource,
  estimateContextUsage,
  type EstimateOptions,
} from "./src/context/estimate.ts";
export {
  type HeuristicEstimatorOptions,
  HeuristicMessageTokenEstimator,
  type MessageTokenEstimator,
} from "./src/context/estimator.ts";
export {
  type CompactionContextBuilder,
  ModelCompactor,
  type ModelCompactorOptions,
} from "./src/context/model_compactor.ts";
export {
  type BarrierTreatment,
  type CompactionPreparation,
  prepareCompaction,
  type PrepareCompactionOptions,
} from "./src/context/prepare.ts";
export { type SkillCatalog } from "./src/context/skills.ts";
export {
  mergedSummary,
  shortenedHistory,
  type SummarizedPart,
  SummaryEntry,
  type SummaryEntryInput,
  summaryMessage,
  type WireSummaryEntry,
} from "./src/context/summary.ts";

// Base
export {
  AgentCancelledError,
  Cancellation,
  type CancellationOptions,
  closeIterator,
  DEFAULT_ABORT_REASON,
} from "./src/base/abort.ts";
export { AgentConfigurationError, EJAgentError } from "./src/base/errors.ts";
export { type JsonObject, type JsonValue } from "./src/base/json.ts";
export {
  type Clock,
  consoleLogger,
  type IdSource,
  type Logger,
  randomIds,
  systemClock,
} from "./src/base/ports.ts";
export { RunScope } from "./src/base/scope.ts";

// Sessions
export { AgentSession, type SessionRunPoint } from "./src/session/session.ts";
export type {
  RunRecovery,
  SessionCompaction,
  SessionEntry,
  SessionRun,
  SessionRunIntent,
} from "./src/session/state.ts";
export { sessionFromJson, sessionToJson } from "./src/session/session_codec.ts";
export {
  SESSION_SCHEMA_VERSION,
  type WireSessionCompaction,
  type WireSessionDocument,
  type WireSessionEntry,
  type WireSessionRun,
} from "./src/session/session_document.ts";
export {
  type BranchCreatedData,
  type CheckpointData,
  type CompactionAppliedData,
  type MessageAppendedData,
  type MessagesAppendedData,
  type RunContinuedData,
  type RunFinishedData,
  type RunStartedData,
  SESSION_JOURNAL_SCHEMA_VERSION,
  type SessionBranchIntent,
  type SessionRecord,
  type SessionRecordContent,
  type SessionRecordData,
  type SessionRecordDraft,
  type SessionRecordEnvelope,
  type SessionRecordKind,
  type SteeringAppliedData,
  type WireRecovery,
} from "./src/session/record.ts";
export {
  sessionRecordFromJson,
  sessionRecordToJson,
} from "./src/session/record_codec.ts";
export type { SessionBranch } from "./src/session/tree.ts";
export { DEFAULT_SESSION_BRANCH } from "./src/session/ids.ts";
export {
  type AppendOptions,
  type BranchOptions,
  type CheckoutOptions,
  type ForkOptions,
  isTreeStorage,
  type JournalStorageOptions,
  type NewBranchOptions,
  type RecoverOptions,
  type RetryOptions,
  type RollbackOptions,
  type SaveOptions,
  type SessionCheckout,
  type SessionRecoveryResult,
  type SessionRetry,
  type SessionStorage,
  type SessionTreeStorage,
  type StorageCallOptions,
} from "./src/session/storage.ts";
export type {
  JournalAppendResult,
  JournalBackend,
  JournalCallOptions,
  JournalCapabilities,
  JournalEntry,
  JournalLine,
  JournalPosition,
} from "./src/session/journal.ts";
export { JournalTreeStorage } from "./src/session/tree_storage.ts";
export { MemoryJournal, MemorySessionStorage } from "./src/session/memory.ts";
export {
  SessionRecorder,
  type SessionRecorderOptions,
} from "./src/session/recorder.ts";
export {
  exportJournal,
  type ImportedJournal,
  importJournal,
  type ImportJournalOptions,
  type JournalOwner,
} from "./src/session/export.ts";
export type { JournalSource } from "./src/session/journal_source.ts";
export {
  type ConflictFacts,
  type DamageOptions,
  JournalReplacedError,
  type NotRetryableReason,
  type SessionArgumentCode,
  SessionArgumentError,
  SessionConflictError,
  SessionError,
  SessionLockTimeoutError,
  SessionSerializationError,
  type SessionStorageCode,
  SessionStorageError,
  SessionUnsupportedError,
  type StorageFailureOptions,
} from "./src/session/errors.ts";
