import { isJsonObject } from "../base/json.ts";
import type { IdSource, Logger } from "../base/ports.ts";
import type { ModelUsage } from "../messages/usage.ts";
import type { ModelDelta, ModelResponseCompleted } from "../model/adapter.ts";
import type { ModelProviderError } from "../model/errors.ts";
import {
  choicelessAnswer,
  incompleteAnswer,
  namelessCall,
} from "./answer_errors.ts";
import { verdictOf } from "./classify.ts";
import type { ChatCompat } from "./compat.ts";
import { type Operation, providerError } from "./errors.ts";
import { ReasoningCollector, textParts } from "./reasoning.ts";
import { ThinkTagReader } from "./think_tags.ts";
import { ToolCallAssembler } from "./tool_calls.ts";
import { readUsage, reportsUsage } from "./usage.ts";

/** What an {@linkcode AnswerAssembler} needs to know. */
export interface AssemblyOptions {
  /** What errors speak about. */
  readonly operation: Operation;
  /** Habits of the server. */
  readonly compat: ChatCompat;
  /** Names calls that have no name of their own. */
  readonly ids: IdSource;
  /** Told about impossible token counts. */
  readonly logger: Logger;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** How a body ended. */
export interface AnswerEnd {
  /** True if `[DONE]` was read. */
  readonly done: boolean;
  /** True if the body was one whole document; nothing can be missing then. */
  readonly isDocument: boolean;
}

/** Puts one answer together out of its chunks, or out of one complete document. */
export class AnswerAssembler {
  readonly #options: AssemblyOptions;
  readonly #reasoning = new ReasoningCollector();
  readonly #calls = new ToolCallAssembler();
  readonly #thinkTags: ThinkTagReader | undefined;
  #text = "";
  #started = false;
  #streamed = false;
  #chosen = false;
  #finish: string | null = null;
  /** What the server said outside of any answer, until it answers. */
  #remark: Record<string, unknown> | undefined;
  #usage: Record<string, unknown> | undefined;
  #choiceUsage: Record<string, unknown> | undefined;

  constructor(options: AssemblyOptions) {
    this.#options = options;
    this.#thinkTags = options.compat.thinkTags
      ? new ThinkTagReader()
      : undefined;
  }

  /** True once a delta was handed out. */
  get started(): boolean {
    return this.#started;
  }

  /** True once the server has said why the answer ends. */
  get finished(): boolean {
    return this.#finish !== null;
  }

  /**
   * Takes in one chunk.
   *
   * @param chunk Parsed JSON of any shape.
   * @param deltas Gets what observers may see, thinking before text.
   * @throws {ModelProviderError} The chunk reports a failure.
   */
  push(chunk: unknown, deltas: ModelDelta[]): void {
    if (!isJsonObject(chunk)) return;
    this.#refuse(errorIn(chunk));
    if (reportsUsage(chunk.usage)) this.#usage = chunk.usage;
    const choice = firstChoice(chunk.choices);
    if (choice === undefined) {
      if (verdictOf(undefined, chunk).text !== "") this.#remark = chunk;
      return;
    }
    this.#chosen = true;
    this.#remark = undefined;
    this.#refuse(choice.error);
    if (reportsUsage(choice.usage)) this.#choiceUsage = choice.usage;
    if (this.#finish === null && typeof choice.finish_reason === "string") {
      this.#finish = choice.finish_reason || null;
    }
    const delta = this.#deltaOf(choice);
    if (delta === undefined) return;
    const thinking = this.#reasoning.push(delta);
    if (thinking !== "") {
      deltas.push({ kind: "thinking_delta", delta: thinking });
    }
    this.#pushText(delta.content, deltas);
    this.#pushText(delta.refusal, deltas);
    if (delta.tool_calls) this.#calls.push(delta.tool_calls);
    if (delta.function_call) this.#calls.pushLegacy(delta.function_call);
    if (deltas.length > 0) this.#started = true;
  }

  /** Adds what was held back until now to `deltas`. */
  flush(deltas: ModelDelta[]): void {
    const before = deltas.length;
    this.#thinkTags?.end(deltas);
    this.#keepText(deltas, before);
  }

  /** The whole answer. @throws {ModelProviderError} It is incomplete or reports a failure. */
  completed(end: AnswerEnd): ModelResponseCompleted {
    const { operation, compat, ids, logger } = this.#options;
    if (end.isDocument && !this.#chosen) {
      this.#refuse(this.#remark);
      throw choicelessAnswer(operation);
    }
    const finishReason = usualWord(this.#finish);
    if (finishReason === "error") {
      throw this.#failure({ message: "the provider gave up" });
    }
    if (finishReason === "model_context_window_exceeded") {
      throw this.#failure({ code: finishReason, message: finishReason });
    }
    const acceptable = end.isDocument ||
      (end.done && compat.acceptMissingFinish);
    if (finishReason === null && !acceptable) {
      this.#refuse(this.#remark);
      throw incompleteAnswer(operation, end.done);
    }

    const reported = this.#usage ?? this.#choiceUsage;
    const usage = reported === undefined ? null : readUsage(reported, logger);
    if (exceedsWindow(usage, compat)) {
      const message =
        `${usage!.inputTokens} input tokens exceed the context window ` +
        `of ${compat.contextWindow}`;
      throw this.#failure({ code: "context_window_exceeded", message });
    }
    const assembled = this.#calls.finish(ids);
    if (assembled === undefined) throw namelessCall(operation);
    return {
      kind: "completed",
      message: {
        content: this.#text === "" ? null : this.#text,
        toolCalls: assembled.calls,
        ...this.#reasoning.returned(assembled.extras, compat),
      },
      usage,
      finishReason,
    };
  }

  #refuse(error: unknown): void {
    if (error) throw this.#failure(error);
  }

  #failure(body: unknown): ModelProviderError {
    const { operation, now } = this.#options;
    return providerError(operation, {
      body,
      responseStarted: this.#started,
      now,
    });
  }

  // Some servers repeat the whole message behind its deltas.
  #deltaOf(
    choice: Record<string, unknown>,
  ): Record<string, unknown> | undefined {
    if (isJsonObject(choice.delta)) {
      this.#streamed = true;
      return choice.delta;
    }
    return !this.#streamed && isJsonObject(choice.message)
      ? choice.message
      : undefined;
  }

  #pushText(content: unknown, deltas: ModelDelta[]): void {
    const piece = typeof content === "string" ? content : textParts(content);
    if (piece === "") return;
    if (this.#thinkTags === undefined) {
      this.#text += piece;
      deltas.push({ kind: "text_delta", delta: piece });
      return;
    }
    const before = deltas.length;
    this.#thinkTags.push(piece, deltas);
    this.#keepText(deltas, before);
  }

  #keepText(deltas: readonly ModelDelta[], from: number): void {
    for (const { kind, delta } of deltas.slice(from)) {
      if (kind === "text_delta") this.#text += delta;
    }
  }
}

/** The word of OpenAI for a finish reason; above all for answers that were cut off. */
function usualWord(finish: string | null): string | null {
  if (finish === "function_call") return "tool_calls";
  return /^(model_length|max_(output_)?tokens)$/i.test(finish ?? "")
    ? "length"
    : finish;
}

/** The error that a chunk reports in one of the usual places. */
function errorIn(chunk: Record<string, unknown>): unknown {
  if (chunk.error) return chunk.error;
  const isFlat = chunk.object === "error" || chunk.type === "error" ||
    (chunk.choices === undefined && typeof chunk.message === "string" &&
      chunk.code !== undefined);
  return isFlat ? chunk : undefined;
}

function firstChoice(choices: unknown): Record<string, unknown> | undefined {
  if (!Array.isArray(choices)) return undefined;
  for (const choice of choices) {
    if (
      isJsonObject(choice) &&
      (choice.index === 0 || !Number.isInteger(choice.index))
    ) {
      return choice;
    }
  }
  return undefined;
}

function exceedsWindow(
  usage: ModelUsage | null,
  { contextWindow }: ChatCompat,
): boolean {
  return usage !== null && contextWindow !== undefined &&
    usage.inputTokens > contextWindow;
}
