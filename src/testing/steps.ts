import { unlessAborted } from "../base/abort.ts";
import { isJsonObject, type JsonObject } from "../base/json.ts";
import { requireList, requireType } from "../base/require.ts";
import type { AgentMessage, AssistantMessage } from "../messages/message.ts";
import { assistantMessage } from "../messages/message.ts";
import type { ModelToolCall, OpenAIFunctionTool } from "../messages/tool.ts";
import { modelUsage, type ModelUsageInput } from "../messages/usage.ts";
import type {
  ModelDelta,
  ModelResponseCompleted,
  ModelStreamEvent,
  ModelThinkingDelta,
} from "../model/adapter.ts";

/** A model request as a script sees it, the same in memory and over HTTP. */
export interface ScriptRequest {
  /** Number of the request, from 0. */
  readonly index: number;
  /** What the model may see, oldest first, in the form of the function-calling API. */
  readonly messages: readonly AgentMessage[];
  /** Tools that are offered. */
  readonly tools: readonly OpenAIFunctionTool[];
  /** Aborts with the request. */
  readonly signal: AbortSignal;
}

/** A whole answer at once. */
export interface AnswerStep {
  /** Tells the steps apart. */
  readonly kind: "answer";
  /** The very event that is yielded, its message frozen. */
  readonly response: ModelResponseCompleted;
}

/** Pieces of an answer, then another step. */
export interface DeltasStep {
  /** Tells the steps apart. */
  readonly kind: "deltas";
  /** Yielded one by one. */
  readonly deltas: readonly ModelDelta[];
  /** Played after them. */
  readonly then: ScriptStep;
}

/** A failure. */
export interface FailStep {
  /** Tells the steps apart. */
  readonly kind: "fail";
  /** Thrown as it is. */
  readonly error: unknown;
}

/** Where the events of an {@linkcode EventsStep} come from. */
export type EventSource =
  | Iterable<ModelStreamEvent>
  | AsyncIterable<ModelStreamEvent>
  | ((
    request: ScriptRequest,
  ) => Iterable<ModelStreamEvent> | AsyncIterable<ModelStreamEvent>);

/** Any events whatever, also such as break the contract of a stream. */
export interface EventsStep {
  /** Tells the steps apart. */
  readonly kind: "events";
  /** Yielded unchecked. */
  readonly source: EventSource;
}

/** A model that waits for the test. */
export interface BlockStep {
  /** Tells the steps apart. */
  readonly kind: "block";
  /** Fulfils as soon as a request waits here. */
  readonly entered: Promise<void>;
  /** Lets the request go on with a step; the one given to {@linkcode block} by default. */
  release(step?: ScriptStep): void;
  /** Called by whoever plays the step. @returns What to play next. */
  enter(signal: AbortSignal): Promise<ScriptStep>;
}

/** What a scripted model does when it is asked once. */
export type ScriptStep =
  | AnswerStep
  | DeltasStep
  | FailStep
  | EventsStep
  | BlockStep;

/** Kinds of steps that a script may hold. */
export type StepKinds<Step extends { readonly kind: string }> = Readonly<
  Record<Step["kind"], true>
>;

/** The kinds that a scripted model plays. */
export const scriptKinds: StepKinds<ScriptStep> = {
  answer: true,
  deltas: true,
  fail: true,
  events: true,
  block: true,
};

/** True for an object of one of these kinds. */
export function isStep(
  step: unknown,
  kinds: Readonly<Record<string, true>>,
): boolean {
  return isJsonObject(step) && typeof step.kind === "string" &&
    Object.hasOwn(kinds, step.kind);
}

/** What an answer reports beside its message. */
export interface AnswerOptions {
  /** Token counts; null, the default, means that the provider did not say. */
  readonly usage?: ModelUsageInput | null | undefined;
  /** Why it stopped. @default `"tool_calls"` for an answer with calls, else `"stop"` */
  readonly finishReason?: string | null | undefined;
}

/** What an answer of calls may say beside them. */
export interface CallsOptions extends AnswerOptions {
  /** Text in front of the calls. @default {null} */
  readonly content?: string | null | undefined;
}

/** One call of {@linkcode calls}; a bare name stands for a call without arguments. */
export type ScriptedCall = string | {
  /** Name of the tool. */
  readonly name: string;
  /** Arguments, or their raw JSON text. @default {{}} */
  readonly arguments?: JsonObject | string;
  /** Id of the call. @default `"c1"`, `"c2"` and so on within the answer */
  readonly id?: string;
};

/** Answers with a text; null is an answer without text and calls. */
export function text(
  content: string | null,
  options: AnswerOptions = {},
): AnswerStep {
  requireType(
    content === null || typeof content === "string",
    "The text of a step",
    "a string or null",
  );
  return answer(assistantMessage(content), options);
}

/**
 * Answers with tool calls.
 *
 * @example Two calls in one answer
 * ```ts
 * import { calls } from "@ejagent/core/testing";
 * import { deepEqual } from "node:assert/strict";
 *
 * const step = calls(["list", { name: "read", arguments: { path: "a.txt" } }]);
 * deepEqual(step.response.message.toolCalls, [
 *   { id: "c1", name: "list", arguments: "{}" },
 *   { id: "c2", name: "read", arguments: '{"path":"a.txt"}' },
 * ]);
 * ```
 */
export function calls(
  list: readonly ScriptedCall[],
  options: CallsOptions = {},
): AnswerStep {
  const toolCalls = requireList("The calls", list).map(toToolCall);
  return answer(
    assistantMessage(options.content ?? null, toolCalls),
    options,
  );
}

/** Answers with a message as it is, for example one with provider data. */
export function answer(
  message: AssistantMessage,
  options: AnswerOptions = {},
): AnswerStep {
  const usual = message.toolCalls.length > 0 ? "tool_calls" : "stop";
  return {
    kind: "answer",
    response: Object.freeze({
      kind: "completed",
      message,
      usage: options.usage ? modelUsage(options.usage) : null,
      finishReason: options.finishReason === undefined
        ? usual
        : options.finishReason,
    }),
  };
}

/**
 * Streams pieces, then plays another step: an answer, a failure or a block.
 *
 * @param pieces Texts, and thoughts made by {@linkcode thinking}, in order.
 * @param then By default an answer with the texts joined.
 *
 * @example An answer that breaks off
 * ```ts
 * import { deltas, fail, thinking } from "@ejagent/core/testing";
 *
 * const step = deltas([thinking("hm"), "Hel"], fail(new Error("connection lost")));
 * ```
 */
export function deltas(
  pieces: readonly (string | ModelDelta)[],
  then?: ScriptStep,
): DeltasStep {
  requireType(
    then === undefined || isStep(then, scriptKinds),
    "What follows deltas",
    "a step; make one with text(), calls(), fail() or block()",
  );
  const list = pieces.map((piece): ModelDelta =>
    typeof piece === "string" ? { kind: "text_delta", delta: piece } : piece
  );
  return {
    kind: "deltas",
    deltas: list,
    then: then ?? text(textOf(list)),
  };
}

/** A piece of thinking for {@linkcode deltas}. */
export function thinking(delta: string): ModelThinkingDelta {
  return { kind: "thinking_delta", delta };
}

/** Fails with an error; over HTTP its kind and status decide the response. */
export function fail(error: unknown): FailStep {
  return { kind: "fail", error };
}

/** Yields events unchecked, to see what becomes of a stream that breaks its contract. */
export function events(source: EventSource): EventsStep {
  return { kind: "events", source };
}

/**
 * Waits until the test opens the gate; rejects with the reason if the request
 * is aborted first.
 *
 * @param then Played after a bare `release()`.
 * @param options `ignoreAbort`: go on waiting after an abort.
 *
 * @example Do something while the model works
 * ```ts
 * import { block, ScriptedModel, text } from "@ejagent/core/testing";
 * import { Agent } from "@ejagent/core";
 * import { equal } from "node:assert/strict";
 *
 * const gate = block();
 * const agent = new Agent({ agentId: "a", model: new ScriptedModel([gate]) });
 * const run = agent.run("Hello");
 * await gate.entered;
 * equal(agent.state.status, "running");
 * gate.release(text("Hi"));
 * equal((await run).output, "Hi");
 * ```
 */
export function block(
  then: ScriptStep = text("released"),
  options: { readonly ignoreAbort?: boolean } = {},
): BlockStep {
  let announce!: () => void;
  let open!: (step: ScriptStep) => void;
  const entered = new Promise<void>((resolve) => announce = resolve);
  const opened = new Promise<ScriptStep>((resolve) => open = resolve);
  return {
    kind: "block",
    entered,
    release: (step = then) => open(step),
    enter(signal) {
      announce();
      return options.ignoreAbort ? opened : unlessAborted(opened, signal);
    },
  };
}

/** The events of one step. */
export async function* playStep(
  step: ScriptStep,
  request: ScriptRequest,
): AsyncGenerator<ModelStreamEvent, void, void> {
  switch (step.kind) {
    case "answer":
      yield step.response;
      return;
    case "deltas":
      yield* step.deltas;
      yield* playStep(step.then, request);
      return;
    case "fail":
      throw step.error;
    case "events":
      yield* typeof step.source === "function"
        ? step.source(request)
        : step.source;
      return;
    case "block":
      yield* playStep(await step.enter(request.signal), request);
  }
}

function toToolCall(call: ScriptedCall, index: number): ModelToolCall {
  requireType(
    typeof call === "string" ||
      isJsonObject(call) && typeof call.name === "string",
    "A call",
    'the name of a tool or an object such as { name: "add", arguments: { a: 1 } }',
  );
  const { name, id, arguments: args = {} } = typeof call === "string"
    ? { name: call }
    : call;
  return {
    id: id ?? `c${index + 1}`,
    name,
    arguments: typeof args === "string" ? args : JSON.stringify(args),
  };
}

function textOf(list: readonly ModelDelta[]): string | null {
  const joined = list.map((piece) =>
    piece.kind === "text_delta" ? piece.delta : ""
  ).join("");
  return joined === "" ? null : joined;
}
