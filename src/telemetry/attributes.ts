import type { Attributes, AttributeValue } from "@opentelemetry/api";
import { isJsonObject } from "../base/json.ts";
import type { AgentInfo } from "../messages/agent_info.ts";
import type { AgentRunResult } from "../messages/result.ts";
import type { ModelUsage } from "../messages/usage.ts";
import type {
  ModelOptions,
  ModelRequest,
  ModelResponseCompleted,
  ModelTarget,
} from "../model/adapter.ts";
import { ModelProviderError } from "../model/errors.ts";
import type { ToolCallContext } from "../tools/middleware.ts";
import type { StepOutcome } from "../tools/outcome.ts";
import { ATTRIBUTE, OPERATION } from "./semconv.ts";

/** The name an agent is shown by. */
export function agentName(agent: AgentInfo): string {
  return agent.name ?? agent.agentId;
}

/** What is known of a run before it starts. */
export function agentAttributes(agent: AgentInfo): Attributes {
  return present({
    [ATTRIBUTE.operation]: OPERATION.agent,
    [ATTRIBUTE.provider]: agent.provider ?? "unknown",
    [ATTRIBUTE.agentName]: agentName(agent),
    [ATTRIBUTE.agentId]: agent.agentId,
    [ATTRIBUTE.agentDescription]: agent.description,
    [ATTRIBUTE.conversationId]: agent.conversationId,
    [ATTRIBUTE.requestModel]: agent.model,
  });
}

/** What a run came to; token counts only if all requests reported theirs. */
export function resultAttributes(result: AgentRunResult): Attributes {
  const { usage } = result;
  const known = usage.complete && usage.requestCount > 0;
  return present({
    [ATTRIBUTE.runId]: result.runId ?? undefined,
    [ATTRIBUTE.runStatus]: result.status,
    [ATTRIBUTE.runStopReason]: result.stopReason,
    [ATTRIBUTE.runTurns]: result.turns,
    ...(known && usageAttributes(usage)),
  });
}

/** What is known of a model request before it is sent. */
export function requestAttributes(request: ModelRequest): Attributes {
  return present({
    ...targetAttributes(request.target),
    ...optionAttributes(request.options),
    [ATTRIBUTE.conversationId]: request.agent.conversationId,
    [ATTRIBUTE.requestStream]: true,
  });
}

/** Where a model request goes; also the attributes of its measurements. */
export function targetAttributes(target: ModelTarget): Attributes {
  return present({
    [ATTRIBUTE.operation]: OPERATION.chat,
    [ATTRIBUTE.provider]: target.provider,
    [ATTRIBUTE.requestModel]: target.model,
    ...serverAttributes(target.baseUrl),
  });
}

/** What a model answered. @param firstMs Milliseconds to the first delta, if there was one. */
export function responseAttributes(
  response: ModelResponseCompleted,
  firstMs: number | undefined,
): Attributes {
  const { finishReason, usage } = response;
  return present({
    [ATTRIBUTE.finishReasons]: finishReason ? [finishReason] : undefined,
    [ATTRIBUTE.timeToFirstChunk]: firstMs === undefined
      ? undefined
      : firstMs / 1000,
    ...(usage && usageAttributes(usage)),
  });
}

/** Token counts as far as they are known. */
function usageAttributes(usage: ModelUsage): Attributes {
  return present({
    [ATTRIBUTE.inputTokens]: usage.inputTokens,
    [ATTRIBUTE.outputTokens]: usage.outputTokens,
    [ATTRIBUTE.cacheReadTokens]: usage.cacheReadTokens ?? undefined,
    [ATTRIBUTE.cacheWriteTokens]: usage.cacheWriteTokens ?? undefined,
    [ATTRIBUTE.reasoningTokens]: usage.reasoningTokens ?? undefined,
  });
}

/** What is known of a tool call before it begins. */
export function toolAttributes(call: ToolCallContext): Attributes {
  return present({
    [ATTRIBUTE.operation]: OPERATION.tool,
    [ATTRIBUTE.toolName]: call.toolName,
    [ATTRIBUTE.toolType]: "function",
    [ATTRIBUTE.toolCallId]: call.toolCallId,
    [ATTRIBUTE.toolDescription]: call.toolDefinition?.description || undefined,
  });
}

/** Error type of something thrown: the kind of a model error, else the name of the class. */
export function thrownErrorType(error: unknown): string {
  if (error instanceof ModelProviderError) return error.kind;
  if (typeof error !== "object" || error === null) return "_OTHER";
  return error.constructor?.name || "_OTHER";
}

/** Error type of what a tool answered; `undefined` for a good answer. */
export function outcomeErrorType(outcome: StepOutcome): string | undefined {
  if (outcome.control === "reject") return "tool_rejected";
  if (outcome.control === "cancel") return "tool_cancelled";
  const { data } = outcome;
  if (!isJsonObject(data) || data.status !== "error") return undefined;
  return typeof data.code === "string" ? data.code : "_OTHER";
}

// The names of chat completions, which adapters of other services understand as well.
function optionAttributes(options: ModelOptions): Attributes {
  const { n, stop, response_format: format } = options;
  return {
    ...numbers({
      [ATTRIBUTE.requestTemperature]: options.temperature,
      [ATTRIBUTE.requestTopP]: options.top_p,
      [ATTRIBUTE.requestTopK]: options.top_k,
      [ATTRIBUTE.requestSeed]: options.seed,
      [ATTRIBUTE.requestMaxTokens]: options.max_completion_tokens ??
        options.max_tokens,
      [ATTRIBUTE.requestFrequencyPenalty]: options.frequency_penalty,
      [ATTRIBUTE.requestPresencePenalty]: options.presence_penalty,
      [ATTRIBUTE.requestChoiceCount]: n === 1 ? undefined : n,
    }),
    ...present({
      [ATTRIBUTE.requestStopSequences]: texts(stop),
      [ATTRIBUTE.outputType]: isJsonObject(format)
        ? format.type === "text" ? "text" : "json"
        : undefined,
    }),
  };
}

function serverAttributes(baseUrl: string | undefined): Attributes {
  if (baseUrl === undefined || !URL.canParse(baseUrl)) return {};
  const { hostname, port, protocol } = new URL(baseUrl);
  return {
    [ATTRIBUTE.serverAddress]: hostname,
    [ATTRIBUTE.serverPort]: Number(port) || (protocol === "http:" ? 80 : 443),
  };
}

function texts(value: unknown): string[] | undefined {
  const list = (Array.isArray(value) ? value : [value]).filter((item) =>
    typeof item === "string"
  );
  return list.length > 0 ? list : undefined;
}

function numbers(values: Readonly<Record<string, unknown>>): Attributes {
  return Object.fromEntries(
    Object.entries(values).filter(([, value]) => typeof value === "number"),
  ) as Attributes;
}

function present(
  values: Readonly<Record<string, AttributeValue | undefined>>,
): Attributes {
  return Object.fromEntries(
    Object.entries(values).filter(([, value]) => value !== undefined),
  );
}
