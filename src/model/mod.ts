/**
 * What a model adapter implements, and what model middleware wraps.
 *
 * Choose this entry to write an adapter for a provider without depending on the
 * agent. `@ejagent/core/chat` is an adapter for OpenAI-compatible servers.
 *
 * @example An adapter that answers with the length of what it was asked
 * ```ts
 * import { assistantMessage, type ModelAdapter } from "@ejagent/core/model";
 * import { equal } from "node:assert/strict";
 *
 * const counter: ModelAdapter = {
 *   complete: ({ llmMessages }) =>
 *     Promise.resolve({ message: assistantMessage(`${llmMessages.length} messages`) }),
 * };
 * equal(typeof counter.complete, "function");
 * ```
 *
 * @module
 */

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
} from "./adapter.ts";
export {
  ContextOverflowError,
  ModelAuthenticationError,
  type ModelErrorKind,
  type ModelErrorOptions,
  ModelProtocolError,
  ModelProviderError,
  ModelRateLimitError,
  ModelTimeoutError,
} from "./errors.ts";
export type { ModelLayer, ModelNext } from "./layer.ts";
export { type ProviderData, providerDataOf } from "./provider_data.ts";
export { EJAgentError } from "../base/errors.ts";
export type { JsonObject, JsonValue } from "../base/json.ts";
export { RunScope } from "../base/scope.ts";
export type { AgentInfo } from "../messages/agent_info.ts";
export type {
  AudioPart,
  ContentPart,
  FilePart,
  ImagePart,
  TextPart,
} from "../messages/content.ts";
export {
  type AgentMessage,
  type AssistantAgentMessage,
  type AssistantMessage,
  assistantMessage,
  type MessageMetadata,
  type SystemMessage,
  type ToolCallEntry,
  type ToolMessage,
  type UserMessage,
} from "../messages/message.ts";
export type {
  ModelToolCall,
  OpenAIFunctionTool,
  ToolDefinitionView,
  ToolEffect,
} from "../messages/tool.ts";
export {
  type ModelUsage,
  modelUsage,
  type ModelUsageInput,
  type WireModelUsage,
} from "../messages/usage.ts";
