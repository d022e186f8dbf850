/**
 * The names of the OpenTelemetry conventions for generative AI.
 *
 * The conventions still change, so every name stands here and nowhere else.
 *
 * @see OpenTelemetry Semantic Conventions 1.41.0, generative AI; the metrics of
 * agents and tools come from the repository that succeeds them and only add to it.
 */

/** Who instruments; its version is the one of the package. */
export const INSTRUMENTATION = {
  name: "@ejagent/core",
  version: "0.1.0",
} as const;

/** Values of `gen_ai.operation.name`. */
export const OPERATION = {
  agent: "invoke_agent",
  chat: "chat",
  tool: "execute_tool",
} as const;

/** Names of attributes. */
export const ATTRIBUTE = {
  operation: "gen_ai.operation.name",
  provider: "gen_ai.provider.name",
  agentId: "gen_ai.agent.id",
  agentName: "gen_ai.agent.name",
  agentDescription: "gen_ai.agent.description",
  conversationId: "gen_ai.conversation.id",
  outputType: "gen_ai.output.type",
  requestModel: "gen_ai.request.model",
  requestStream: "gen_ai.request.stream",
  requestChoiceCount: "gen_ai.request.choice.count",
  requestSeed: "gen_ai.request.seed",
  requestTemperature: "gen_ai.request.temperature",
  requestTopP: "gen_ai.request.top_p",
  requestTopK: "gen_ai.request.top_k",
  requestMaxTokens: "gen_ai.request.max_tokens",
  requestFrequencyPenalty: "gen_ai.request.frequency_penalty",
  requestPresencePenalty: "gen_ai.request.presence_penalty",
  requestStopSequences: "gen_ai.request.stop_sequences",
  finishReasons: "gen_ai.response.finish_reasons",
  timeToFirstChunk: "gen_ai.response.time_to_first_chunk",
  inputTokens: "gen_ai.usage.input_tokens",
  outputTokens: "gen_ai.usage.output_tokens",
  cacheReadTokens: "gen_ai.usage.cache_read.input_tokens",
  cacheWriteTokens: "gen_ai.usage.cache_creation.input_tokens",
  reasoningTokens: "gen_ai.usage.reasoning.output_tokens",
  tokenType: "gen_ai.token.type",
  toolName: "gen_ai.tool.name",
  toolCallId: "gen_ai.tool.call.id",
  toolDescription: "gen_ai.tool.description",
  toolType: "gen_ai.tool.type",
  toolArguments: "gen_ai.tool.call.arguments",
  toolResult: "gen_ai.tool.call.result",
  toolDefinitions: "gen_ai.tool.definitions",
  inputMessages: "gen_ai.input.messages",
  outputMessages: "gen_ai.output.messages",
  systemInstructions: "gen_ai.system_instructions",
  serverAddress: "server.address",
  serverPort: "server.port",
  errorType: "error.type",
  runId: "ejagent.run.id",
  runStatus: "ejagent.run.status",
  runStopReason: "ejagent.run.stop_reason",
  runTurns: "ejagent.run.turns",
} as const;

/** A histogram: its name, unit, meaning and advised bucket boundaries. */
export interface HistogramSpec {
  /** Name of the metric. */
  readonly name: string;
  /** What one measurement counts. */
  readonly unit: string;
  /** What it says. */
  readonly description: string;
  /** Upper bounds of the buckets. */
  readonly buckets: readonly number[];
}

/** What is measured. */
export type HistogramName =
  | "operationDuration"
  | "tokenUsage"
  | "agentDuration"
  | "inferenceCalls"
  | "toolCalls"
  | "toolDuration";

/** The histograms. */
export const HISTOGRAM: Readonly<Record<HistogramName, HistogramSpec>> = {
  operationDuration: {
    name: "gen_ai.client.operation.duration",
    unit: "s",
    description: "How long model requests take",
    buckets: powers(0.01, 2, 14),
  },
  tokenUsage: {
    name: "gen_ai.client.token.usage",
    unit: "{token}",
    description: "Tokens that model requests read and write",
    buckets: powers(1, 4, 14),
  },
  agentDuration: {
    name: "gen_ai.invoke_agent.duration",
    unit: "s",
    description: "How long runs take",
    buckets: powers(0.1, 2, 13),
  },
  inferenceCalls: {
    name: "gen_ai.invoke_agent.inference_calls",
    unit: "{inference_call}",
    description: "Model requests of a run",
    buckets: powers(1, 2, 8),
  },
  toolCalls: {
    name: "gen_ai.invoke_agent.tool_calls",
    unit: "{tool_call}",
    description: "Tool calls of a run",
    buckets: powers(1, 2, 8),
  },
  toolDuration: {
    name: "gen_ai.execute_tool.duration",
    unit: "s",
    description: "How long tool calls take",
    buckets: powers(0.01, 2, 14),
  },
};

function powers(
  first: number,
  factor: number,
  count: number,
): readonly number[] {
  // Rounded, so that a bucket of 40.96 is not one of 40.960000000000001.
  return Array.from(
    { length: count },
    (_, index) => Number((first * factor ** index).toPrecision(8)),
  );
}
