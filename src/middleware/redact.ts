import { deepFreeze } from "../base/freeze.ts";
import { requireType } from "../base/require.ts";
import type { TaskInput } from "../messages/content.ts";
import type { AgentMessage } from "../messages/message.ts";
import type { ModelStream } from "../model/adapter.ts";
import type { ModelMiddleware } from "../pipeline/middleware.ts";

/** Replaces what nobody is to read in a text; returns the same text if there is nothing. */
export type Redact = (text: string) => string;

/** What {@linkcode redactModel} covers. */
export interface RedactModelOptions {
  /**
   * Redacts what the model says too. A secret may be split between deltas, so
   * the answer is then shown as a whole when it is complete.
   *
   * @default {false}
   */
  readonly answers?: boolean | undefined;
}

/**
 * Keeps texts from the provider: everything that is sent passes through a function.
 *
 * Covers the text of all messages and the arguments of earlier calls, not
 * pictures, files and tool descriptions. The conversation itself keeps what was
 * said. With `answers` the redacted text is what becomes history; calls are
 * executed as the model made them.
 *
 * A message that was changed goes without the opaque data that its provider
 * gave along, which might hold the same text.
 *
 * @throws {TypeError} `redact` is no function.
 *
 * @example Keys stay here
 * ```ts
 * import { Agent } from "@ejagent/core";
 * import { redactModel } from "@ejagent/core/middleware";
 * import { ScriptedModel, text } from "@ejagent/core/testing";
 * import { equal } from "node:assert/strict";
 *
 * const model = new ScriptedModel([text("I see no key.")]);
 * const agent = new Agent({
 *   agentId: "a",
 *   model,
 *   middleware: [redactModel((text) => text.replaceAll(/sk-\w+/g, "[key]"))],
 * });
 * await agent.run("Is sk-12345 valid?");
 *
 * equal(model.contexts[0]?.llmMessages.at(-1)?.content, "Is [key] valid?");
 * equal(agent.messages[1]?.content, "Is sk-12345 valid?");
 * ```
 */
export function redactModel(
  redact: Redact,
  options: RedactModelOptions = {},
): ModelMiddleware {
  requireType(typeof redact === "function", "redact", "a function");
  // The same message stays the same object, so that adapters can keep what they made of it.
  const known = new WeakMap<AgentMessage, AgentMessage>();
  const redacted = (message: AgentMessage) => {
    let changed = known.get(message);
    if (changed === undefined) {
      changed = redactMessage(message, redact);
      known.set(message, changed);
    }
    return changed;
  };
  return {
    name: "redactModel",
    aroundModel(request, next) {
      const { context } = request;
      const llmMessages = context.llmMessages.map(redacted);
      const answer = next({ ...request, context: { ...context, llmMessages } });
      return options.answers ? redactAnswer(answer, redact) : answer;
    },
  };
}

function redactMessage(message: AgentMessage, redact: Redact): AgentMessage {
  const changed = withRedactedText(message, redact);
  // An unchanged message keeps its identity, and with it the provider's data.
  return JSON.stringify(changed) === JSON.stringify(message)
    ? message
    : deepFreeze(changed);
}

function withRedactedText(
  message: AgentMessage,
  redact: Redact,
): AgentMessage {
  switch (message.role) {
    case "user":
      return { ...message, content: redactContent(message.content, redact) };
    case "assistant":
      return {
        ...message,
        content: message.content === null ? null : redact(message.content),
        ...(message.tool_calls !== undefined && {
          tool_calls: message.tool_calls.map((call) => ({
            ...call,
            function: {
              ...call.function,
              arguments: redact(call.function.arguments),
            },
          })),
        }),
      };
    default:
      return { ...message, content: redact(message.content) };
  }
}

function redactContent(content: TaskInput, redact: Redact): TaskInput {
  if (typeof content === "string") return redact(content);
  return content.map((part) =>
    part.type === "text" ? { ...part, text: redact(part.text) } : part
  );
}

async function* redactAnswer(
  stream: ModelStream,
  redact: Redact,
): ModelStream {
  let thinking = "";
  let step = await stream.next();
  for (; !step.done; step = await stream.next()) {
    if (step.value.kind === "thinking_delta") thinking += step.value.delta;
  }
  const { message } = step.value;
  const content = message.content === null ? null : redact(message.content);
  yield { kind: "thinking_delta", delta: redact(thinking) };
  yield { kind: "text_delta", delta: content ?? "" };
  return { ...step.value, message: { ...message, content } };
}
