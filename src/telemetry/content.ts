import type { Attributes } from "@opentelemetry/api";
import type { JsonObject } from "../base/json.ts";
import type { ContentPart, TaskInput } from "../messages/content.ts";
import type { AgentMessage, AssistantMessage } from "../messages/message.ts";
import type { AgentRunResult } from "../messages/result.ts";
import type { ModelToolCall } from "../messages/tool.ts";
import type { ModelRequest, ModelResponseCompleted } from "../model/adapter.ts";
import type { ToolCallContext } from "../tools/middleware.ts";
import type { StepOutcome } from "../tools/outcome.ts";
import { ATTRIBUTE } from "./semconv.ts";

/** What a piece of content is. */
export type ContentKind =
  | "input"
  | "output"
  | "instructions"
  | "tool_definitions"
  | "tool_arguments"
  | "tool_result";

/** A piece of content on its way to an attribute. */
export interface Content {
  /** Name of the attribute. */
  readonly attribute: string;
  /** What it is. */
  readonly kind: ContentKind;
  /** Plain data in the form of the conventions. */
  readonly value: unknown;
}

/** What a run is asked. */
export function taskContent(task: TaskInput | undefined): Content[] {
  if (task === undefined) return [];
  return [{
    attribute: ATTRIBUTE.inputMessages,
    kind: "input",
    value: [{ role: "user", parts: contentParts(task) }],
  }];
}

/** What a run answers. */
export function resultContent(result: AgentRunResult): Content[] {
  if (result.output === null) return [];
  return [{
    attribute: ATTRIBUTE.outputMessages,
    kind: "output",
    value: [{
      role: "assistant",
      parts: contentParts(result.output),
      finish_reason: result.stopReason,
    }],
  }];
}

/** What a model is asked: instructions, messages and tools. */
export function requestContent({ context }: ModelRequest): Content[] {
  const { llmMessages, tools } = context;
  const instructions = llmMessages.filter(isInstruction);
  const conversation = llmMessages.filter((message) => !isInstruction(message));
  return [
    ...(instructions.length > 0
      ? [
        {
          attribute: ATTRIBUTE.systemInstructions,
          kind: "instructions",
          value: instructions.flatMap(({ content }) => contentParts(content)),
        } as const,
      ]
      : []),
    {
      attribute: ATTRIBUTE.inputMessages,
      kind: "input",
      value: conversation.map(messageForm),
    },
    ...(tools.length > 0
      ? [
        {
          attribute: ATTRIBUTE.toolDefinitions,
          kind: "tool_definitions",
          value: tools.map((tool) => ({ type: tool.type, ...tool.function })),
        } as const,
      ]
      : []),
  ];
}

/** What a model answers. */
export function responseContent(response: ModelResponseCompleted): Content[] {
  return [{
    attribute: ATTRIBUTE.outputMessages,
    kind: "output",
    value: [{
      role: "assistant",
      parts: answerParts(response.message),
      finish_reason: response.finishReason ?? "unknown",
    }],
  }];
}

/** What a tool is asked. */
export function argumentsContent(call: ToolCallContext): Content[] {
  return [{
    attribute: ATTRIBUTE.toolArguments,
    kind: "tool_arguments",
    value: call.arguments,
  }];
}

/** What a tool answers. */
export function outcomeContent(outcome: StepOutcome): Content[] {
  return [{
    attribute: ATTRIBUTE.toolResult,
    kind: "tool_result",
    value: outcome.data,
  }];
}

/**
 * Writes content as attributes.
 *
 * @param redact Returns what to write instead; `undefined` leaves it out.
 */
export function contentAttributes(
  contents: readonly Content[],
  redact: (kind: ContentKind, value: unknown) => unknown,
): Attributes {
  const attributes: Attributes = {};
  for (const { attribute, kind, value } of contents) {
    const shown = redact(kind, value);
    const json = shown === undefined ? undefined : JSON.stringify(shown);
    if (json !== undefined) attributes[attribute] = json;
  }
  return attributes;
}

function isInstruction(message: AgentMessage): boolean {
  return message.role === "system" || message.role === "developer";
}

function messageForm(message: AgentMessage): JsonObject {
  switch (message.role) {
    case "assistant":
      return {
        role: "assistant",
        parts: [
          ...contentParts(message.content),
          ...(message.tool_calls ?? []).map((call) =>
            callPart({ id: call.id, ...call.function })
          ),
        ],
      };
    case "tool":
      return {
        role: "tool",
        parts: [{
          type: "tool_call_response",
          id: message.tool_call_id,
          response: message.content,
        }],
      };
    default:
      return { role: message.role, parts: contentParts(message.content) };
  }
}

function answerParts(message: AssistantMessage): JsonObject[] {
  return [
    ...contentParts(message.content),
    ...message.toolCalls.map(callPart),
  ];
}

function callPart({ id, name, arguments: text }: ModelToolCall): JsonObject {
  return { type: "tool_call", id, name, arguments: parsed(text) };
}

function contentParts(content: TaskInput | null): JsonObject[] {
  if (content === null || content === "") return [];
  if (typeof content === "string") return [{ type: "text", content }];
  return content.map(partForm);
}

function partForm(part: ContentPart): JsonObject {
  switch (part.type) {
    case "text":
      return { type: "text", content: part.text };
    case "image_url":
      return { type: "uri", modality: "image", uri: part.image_url.url };
    case "input_audio":
      return {
        type: "blob",
        modality: "audio",
        mime_type: `audio/${part.input_audio.format}`,
        content: part.input_audio.data,
      };
    case "file":
      return part.file.file_id === undefined
        ? { type: "uri", modality: "file", uri: part.file.file_data ?? "" }
        : { type: "file", modality: "file", file_id: part.file.file_id };
  }
}

/** Arguments as an object, as the conventions want them; what is no JSON stays a text. */
function parsed(text: string): JsonObject | string {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
