import { frozen } from "../base/freeze.ts";
import type { JsonObject } from "../base/json.ts";
import type { RunScope } from "../base/scope.ts";
import type { AgentInfo } from "../messages/agent_info.ts";
import type { AgentMessage, AssistantMessage } from "../messages/message.ts";
import type {
  OpenAIFunctionTool,
  ToolDefinitionView,
} from "../messages/tool.ts";
import type { ModelUsage } from "../messages/usage.ts";

/**
 * Options of a model request, for example `temperature`, `top_p`, `max_tokens`,
 * `tool_choice`; adapters pick what they know and ignore the rest.
 */
export type ModelOptions = JsonObject;

/** Where requests of an adapter go, for observers. */
export interface ModelTarget {
  /** Kind of service, for example `"openai"`. */
  readonly provider: string;
  /** Name of the model. */
  readonly model?: string;
  /** Base address of the service. */
  readonly baseUrl?: string;
}

/** Tool exchanges that had to be mended before a provider could be asked. */
export interface ContextRepairs {
  /** Ids of calls for which a missing answer was put in, in order. */
  readonly synthesised: readonly string[];
  /** Number of messages that were left out. */
  readonly dropped: number;
}

/** One complete request before it is put into a provider's own form. */
export interface ContextBuildResult {
  /** All messages with their metadata, oldest first. */
  readonly agentMessages: readonly AgentMessage[];
  /** What the provider may see: the same without metadata, exchanges complete. */
  readonly llmMessages: readonly AgentMessage[];
  /** Tools in the form of the function-calling API; empty without tools. */
  readonly tools: readonly OpenAIFunctionTool[];
  /** The definitions behind `tools`, same order. */
  readonly toolDefinitions: readonly ToolDefinitionView[];
  /** What was mended in `llmMessages`. */
  readonly repairs: ContextRepairs;
}

/** What an adapter is told about one request. */
export interface ModelCall {
  /** Aborts the request. */
  readonly signal: AbortSignal;
  /** Options over the adapter's own. */
  readonly options?: ModelOptions;
  /** Values of the run, for adapters that trace. */
  readonly scope?: RunScope;
}

/** One model request of a run, as model middleware sees and changes it. */
export interface ModelRequest extends ModelCall {
  /** What is asked. */
  readonly context: ContextBuildResult;
  /** Options of this run. */
  readonly options: ModelOptions;
  /** Where it goes. */
  readonly target: ModelTarget;
  /** Values of this request; a fork of the run's scope. */
  readonly scope: RunScope;
  /** The agent that asks. */
  readonly agent: AgentInfo;
  /** Its run. */
  readonly runId: string;
  /** Turn of the run, from 1. */
  readonly turn: number;
  /** 1, or 2 after an overflow was recovered. */
  readonly attempt: number;
}

/** A piece of the answer's text. */
export interface ModelTextDelta {
  /** Tells the events apart. */
  readonly kind: "text_delta";
  /** Not empty. */
  readonly delta: string;
}

/** A piece of the model's thinking; observers see it, history does not. */
export interface ModelThinkingDelta {
  /** Tells the events apart. */
  readonly kind: "thinking_delta";
  /** Not empty. */
  readonly delta: string;
}

/** The whole answer; always the last event of a stream. */
export interface ModelResponseCompleted {
  /** Tells the events apart. */
  readonly kind: "completed";
  /** What the model said; this alone becomes history. */
  readonly message: AssistantMessage;
  /** Null or absent if the provider did not report it. */
  readonly usage?: ModelUsage | null;
  /** The provider's own word for why it stopped. */
  readonly finishReason?: string | null;
}

/** A provisional piece of an answer. */
export type ModelDelta = ModelTextDelta | ModelThinkingDelta;

/** What a stream yields: deltas, then one completed response. */
export type ModelStreamEvent = ModelDelta | ModelResponseCompleted;

/** What model middleware returns: deltas, then the completed response as the return value. */
export type ModelStream = AsyncGenerator<
  ModelDelta,
  ModelResponseCompleted,
  void
>;

/** The answer to {@linkcode ModelAdapter.complete}. */
export interface ModelResponse {
  /** What the model said. */
  readonly message: AssistantMessage;
  /** Null or absent if the provider did not report it. */
  readonly usage?: ModelUsage | null;
  /** The provider's own word for why it stopped. */
  readonly finishReason?: string | null;
}

/**
 * Talks to one model.
 *
 * The loop only ever streams; an adapter without `stream` is asked through
 * `complete`. Adapters do not retry, do not start themselves and send only the
 * canonical keys of each message. They throw `ModelProviderError` or one of its
 * subclasses; while `call.signal` is aborted any rejection counts as the
 * cancellation. `startup` is called before the first request and again after a
 * `shutdown`.
 *
 * @example An adapter that repeats the last message
 * ```ts
 * import { assistantMessage, contentText, type ModelAdapter } from "@ejagent/core";
 *
 * const echo: ModelAdapter = {
 *   complete(context) {
 *     const last = context.llmMessages.at(-1);
 *     return Promise.resolve({ message: assistantMessage(contentText(last?.content ?? "")) });
 *   },
 * };
 * ```
 */
export interface ModelAdapter {
  /** Where requests go, for observers. */
  readonly target?: ModelTarget;
  /** Makes the adapter ready. */
  startup?(): Promise<void> | void;
  /** Gives back what `startup` took; injected clients stay open. */
  shutdown?(): Promise<void> | void;
  /** Asks once and returns the whole answer; a bare message means usage is unknown. */
  complete(
    context: ContextBuildResult,
    call: ModelCall,
  ): Promise<ModelResponse | AssistantMessage>;
  /** Asks once and yields the answer as it comes, the completed response last. */
  stream?(
    context: ContextBuildResult,
    call: ModelCall,
  ): AsyncIterable<ModelStreamEvent>;
}

/** Names an adapter that does not say where it goes. */
export const UNKNOWN_TARGET: ModelTarget = frozen({
  provider: "unknown",
});
