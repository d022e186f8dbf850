import type { JsonObject } from "../base/json.ts";
import { errorText } from "../base/errors.ts";
import type { ModelUsage } from "../messages/usage.ts";
import type {
  ModelResponseCompleted,
  ModelStreamEvent,
} from "../model/adapter.ts";
import {
  type ModelErrorKind,
  ModelProviderError,
  ModelRateLimitError,
} from "../model/errors.ts";
import { ScriptError } from "./script.ts";
import { respond, type RespondStep, sseEvent } from "./server_steps.ts";

/** Members that every chunk of one response repeats. */
export interface WireEnvelope {
  /** Id of the response. */
  readonly id: string;
  /** Seconds since the Unix epoch. */
  readonly created: number;
  /** The model that was asked for. */
  readonly model: string;
  /** True if usage was asked for; a chunk of its own reports it. */
  readonly includeUsage: boolean;
  /** Told about failures that became an error event. */
  readonly onError: (error: unknown) => void;
}

/**
 * Writes an answer as the server-sent events of the chat completions API.
 *
 * A failure becomes an error event and ends the stream; events that end without
 * an answer leave it without a finish reason and `[DONE]`.
 */
export async function* wireEvents(
  events: AsyncIterable<ModelStreamEvent>,
  envelope: WireEnvelope,
): AsyncGenerator<string, void, void> {
  try {
    yield* chunkEvents(events, envelope);
  } catch (error) {
    envelope.onError(error);
    yield sseEvent(JSON.stringify(errorBody(error)));
  }
}

async function* chunkEvents(
  events: AsyncIterable<ModelStreamEvent>,
  envelope: WireEnvelope,
): AsyncGenerator<string, void, void> {
  const chunk = (delta: JsonObject, finishReason: string | null = null) =>
    sseEvent(JSON.stringify({
      ...chunkHead(envelope),
      choices: [{ index: 0, delta, finish_reason: finishReason }],
      ...(envelope.includeUsage && { usage: null }),
    }));

  yield chunk({ role: "assistant", content: "" });
  let sent = "";
  for await (const event of events) {
    switch (event.kind) {
      case "text_delta":
        sent += event.delta;
        yield chunk({ content: event.delta });
        break;
      case "thinking_delta":
        yield chunk({ reasoning_content: event.delta });
        break;
      case "completed": {
        const { message, usage, finishReason } = event;
        const rest = restOf(message.content ?? "", sent);
        if (rest !== "") yield chunk({ content: rest });
        for (const fragment of callFragments(message)) {
          yield chunk({ tool_calls: [fragment] });
        }
        if (typeof finishReason === "string") yield chunk({}, finishReason);
        if (envelope.includeUsage && usage) {
          yield sseEvent(JSON.stringify({
            ...chunkHead(envelope),
            choices: [],
            usage: wireUsage(usage),
          }));
        }
        yield sseEvent("[DONE]");
        return;
      }
      default:
        throw new ScriptError(
          `No chunk can express the event ${JSON.stringify(event)}`,
        );
    }
  }
}

/** Writes an answer as one JSON body. */
export async function wireBody(
  events: AsyncIterable<ModelStreamEvent>,
  envelope: WireEnvelope,
): Promise<JsonObject> {
  let reasoning = "";
  for await (const event of events) {
    if (event.kind === "thinking_delta") reasoning += event.delta;
    if (event.kind !== "completed") continue;
    const { message, usage, finishReason = null } = event;
    return {
      id: envelope.id,
      object: "chat.completion",
      created: envelope.created,
      model: envelope.model,
      choices: [{
        index: 0,
        message: {
          role: "assistant",
          content: message.content,
          ...(reasoning !== "" && { reasoning_content: reasoning }),
          ...(message.toolCalls.length > 0 && {
            tool_calls: message.toolCalls.map((
              { id, name, arguments: args },
            ) => ({
              id,
              type: "function",
              function: { name, arguments: args },
            })),
          }),
        },
        finish_reason: finishReason,
      }],
      ...(usage && { usage: wireUsage(usage) }),
    };
  }
  throw new ScriptError("The scripted events end without an answer");
}

const statusOfKind: Readonly<Record<ModelErrorKind, number>> = {
  context_overflow: 400,
  rate_limit: 429,
  timeout: 504,
  authentication: 401,
  provider_error: 500,
};

/**
 * The HTTP response that stands for an error.
 *
 * A `ModelProviderError` keeps its status, or gets the usual one of its kind;
 * a mistake of the script is 400, so that nobody tries again; all else is 500.
 */
export function errorResponse(error: unknown): RespondStep {
  const headers: Record<string, string> = {};
  if (error instanceof ModelRateLimitError && error.retryAfterMs !== null) {
    headers["retry-after"] = String(Math.ceil(error.retryAfterMs / 1000));
    headers["retry-after-ms"] = String(error.retryAfterMs);
  }
  return respond(statusOf(error), { body: errorBody(error), headers });
}

/** An error object of the chat completions API. */
export function errorObject(
  message: string,
  code: string | null,
  type = "invalid_request_error",
): JsonObject {
  return { error: { message, type, param: null, code } };
}

function statusOf(error: unknown): number {
  if (error instanceof ScriptError) return 400;
  if (!(error instanceof ModelProviderError)) return 500;
  return error.status ?? statusOfKind[error.kind];
}

const wireCodes: Readonly<Partial<Record<ModelErrorKind, string>>> = {
  context_overflow: "context_length_exceeded",
  rate_limit: "rate_limit_exceeded",
  authentication: "invalid_api_key",
};

function errorBody(error: unknown): JsonObject {
  const message = errorText(error);
  if (error instanceof ScriptError) return errorObject(message, error.code);
  const kind = error instanceof ModelProviderError
    ? error.kind
    : "provider_error";
  const type = statusOfKind[kind] < 500
    ? "invalid_request_error"
    : "server_error";
  return errorObject(message, wireCodes[kind] ?? null, type);
}

function chunkHead(envelope: WireEnvelope): JsonObject {
  const { id, created, model } = envelope;
  return { id, object: "chat.completion.chunk", created, model };
}

function restOf(content: string, sent: string): string {
  if (content.startsWith(sent)) return content.slice(sent.length);
  throw new ScriptError(
    "Text that was sent cannot be taken back: " +
      "the deltas of an answer must be the beginning of its text",
  );
}

/** Each call in two fragments or more, as providers send them. */
function* callFragments(
  message: ModelResponseCompleted["message"],
): Generator<JsonObject, void, void> {
  for (const [index, call] of message.toolCalls.entries()) {
    yield {
      index,
      id: call.id,
      type: "function",
      function: { name: call.name, arguments: "" },
    };
    const characters = Array.from(call.arguments);
    const half = Math.ceil(characters.length / 2);
    for (const piece of [characters.slice(0, half), characters.slice(half)]) {
      if (piece.length === 0) continue;
      yield { index, function: { arguments: piece.join("") } };
    }
  }
}

function wireUsage(usage: ModelUsage): JsonObject {
  const { cacheReadTokens, cacheWriteTokens, reasoningTokens } = usage;
  const prompt = {
    ...(cacheReadTokens !== null && { cached_tokens: cacheReadTokens }),
    ...(cacheWriteTokens !== null && { cache_write_tokens: cacheWriteTokens }),
  };
  return {
    prompt_tokens: usage.inputTokens,
    completion_tokens: usage.outputTokens,
    total_tokens: usage.totalTokens,
    ...(Object.keys(prompt).length > 0 && { prompt_tokens_details: prompt }),
    ...(reasoningTokens !== null && {
      completion_tokens_details: { reasoning_tokens: reasoningTokens },
    }),
  };
}
