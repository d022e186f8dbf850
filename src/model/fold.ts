import { deepFreeze } from "../base/freeze.ts";
import { isJsonObject } from "../base/json.ts";
import type { AssistantMessage } from "../messages/message.ts";
import { type ModelUsage, modelUsage } from "../messages/usage.ts";
import type {
  ContextBuildResult,
  ModelAdapter,
  ModelCall,
  ModelDelta,
  ModelRequest,
  ModelResponse,
  ModelResponseCompleted,
  ModelStream,
  ModelStreamEvent,
} from "./adapter.ts";
import { errorText } from "../base/errors.ts";
import { ModelProtocolError } from "./errors.ts";

/** The stream of an adapter, made from `complete` if it has no own. */
export function streamOf(
  adapter: ModelAdapter,
  context: ContextBuildResult,
  call: ModelCall,
): AsyncIterable<ModelStreamEvent> {
  return adapter.stream === undefined
    ? completeAsStream(adapter, context, call)
    : adapter.stream(context, call);
}

/** The stream of an adapter in the form in which model middleware hands it on. */
export async function* modelStreamOf(
  adapter: ModelAdapter,
  request: ModelRequest,
): ModelStream {
  for await (const event of streamOf(adapter, request.context, request)) {
    if (event.kind === "completed") return event;
    yield requireDelta(event);
  }
  throw incompleteStream();
}

async function* completeAsStream(
  adapter: ModelAdapter,
  context: ContextBuildResult,
  call: ModelCall,
): AsyncGenerator<ModelStreamEvent, void, void> {
  const response = await adapter.complete(context, call);
  yield { kind: "completed", ...asResponse(response) };
}

/** The answer of an adapter in its full form. @throws {ModelProtocolError} It is no object. */
export function asResponse(
  response: ModelResponse | AssistantMessage,
): ModelResponse {
  if (!isJsonObject(response)) {
    throw new ModelProtocolError("The model adapter returned no answer");
  }
  return "message" in response
    ? response as ModelResponse
    : { message: response };
}

/** A delta that observers may see. @throws {ModelProtocolError} For anything else. */
export function requireDelta(event: ModelStreamEvent): ModelDelta {
  if (event?.kind !== "text_delta" && event?.kind !== "thinking_delta") {
    throw new ModelProtocolError(
      `The model stream yielded an unknown event kind: ${
        String((event as ModelStreamEvent | undefined)?.kind)
      }`,
    );
  }
  if (typeof event.delta !== "string" || event.delta === "") {
    throw new ModelProtocolError(
      `The model stream yielded an empty ${event.kind}`,
    );
  }
  return event;
}

/**
 * Checks a completed response and freezes its message.
 *
 * @throws {ModelProtocolError} No message, calls that cannot be answered one by
 * one (without a name, without an id or with an id that occurs twice), or a usage
 * that cannot be.
 */
export function requireCompleted(
  event: ModelResponseCompleted,
): ModelResponseCompleted {
  const message = event?.message;
  if (
    !isJsonObject(message) ||
    !(message.content === null || typeof message.content === "string") ||
    !Array.isArray(message.toolCalls)
  ) {
    throw new ModelProtocolError(
      "The completed response holds no assistant message",
    );
  }
  const ids = new Set<string>();
  for (const call of message.toolCalls) {
    if (typeof call?.name !== "string" || call.name === "") {
      throw new ModelProtocolError("The model asked for a tool without a name");
    }
    if (typeof call.id !== "string" || call.id === "") {
      throw new ModelProtocolError(`The call of tool "${call.name}" has no id`);
    }
    if (ids.has(call.id)) {
      throw new ModelProtocolError(`The call id "${call.id}" occurs twice`);
    }
    if (typeof call.arguments !== "string") {
      throw new ModelProtocolError(
        `The arguments of call "${call.id}" are no text`,
      );
    }
    ids.add(call.id);
  }
  deepFreeze(message);
  const { usage } = event;
  return usage === undefined || usage === null
    ? event
    : { ...event, usage: checkedUsage(usage) };
}

function checkedUsage(usage: ModelUsage): ModelUsage {
  const { totalTokens: _, ...counts } = usage;
  try {
    return modelUsage(counts);
  } catch (error) {
    throw new ModelProtocolError(
      `The model adapter reported a wrong usage: ${errorText(error)}`,
      { cause: error },
    );
  }
}

/** The error for a stream that ended without its completed response. */
export function incompleteStream(): ModelProtocolError {
  return new ModelProtocolError(
    "The model stream ended without a completed response",
  );
}
