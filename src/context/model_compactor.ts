import { throwIfAborted } from "../base/abort.ts";
import { frozen } from "../base/freeze.ts";
import { isJsonObject } from "../base/json.ts";
import {
  requireInteger,
  requireMethods,
  requireText,
} from "../base/require.ts";
import type { AgentMessage } from "../messages/message.ts";
import { addUsage, type ModelUsage } from "../messages/usage.ts";
import type { ContextBuildResult, ModelAdapter } from "../model/adapter.ts";
import { asResponse, requireCompleted } from "../model/fold.ts";
import {
  CompactionError,
  type CompactionRequest,
  type Compactor,
  type CompactorOutput,
} from "./compaction.ts";
import { defaultEstimator, type MessageTokenEstimator } from "./estimator.ts";
import { mergedSummary, summaryMessage } from "./summary.ts";
import { tokensOfMessage } from "./token_sums.ts";
import { safeCuts } from "./turns.ts";

/**
 * Makes the request that asks a model for a summary: the application's own
 * prompt around the messages and the previous summary.
 */
export type CompactionContextBuilder = (
  request: CompactionRequest,
) => ContextBuildResult | PromiseLike<ContextBuildResult>;

/** What a {@linkcode ModelCompactor} is made of. */
export interface ModelCompactorOptions {
  /** The model that writes; whoever owns it starts it and shuts it down. */
  readonly model: ModelAdapter;
  /** Makes the request. */
  readonly contextBuilder: CompactionContextBuilder;
  /** Who is named as the author of the summary, for example the name of the model. */
  readonly source: string;
  /**
   * Tokens of messages and previous summary that one request may hold; leave
   * room for the prompt and the answer. Larger input is summarised piece by
   * piece, each request merging the summary so far with the next messages.
   *
   * @default {Infinity}
   */
  readonly maxInputTokens?: number | undefined;
  /** Measures the input. @default {new HeuristicMessageTokenEstimator()} */
  readonly estimator?: MessageTokenEstimator | undefined;
}

/**
 * Lets a model write the summaries.
 *
 * It writes no prompt of its own and asks without streaming; calls in the
 * answer are ignored.
 *
 * @example Ask for a summary in the words of the application
 * ```ts
 * import {
 *   AgentContextBuilder,
 *   assistantMessage,
 *   type ModelAdapter,
 *   ModelCompactor,
 *   systemMessage,
 * } from "@ejagent/core";
 *
 * const model: ModelAdapter = {
 *   complete: () => Promise.resolve(assistantMessage("They talked about Lisbon.")),
 * };
 * const builder = new AgentContextBuilder();
 * const compactor = new ModelCompactor({
 *   model,
 *   source: "small-model",
 *   contextBuilder: ({ preparation, previousSummary }) =>
 *     builder.build({
 *       messages: [
 *         systemMessage(`Summarise the conversation. So far: ${previousSummary?.content ?? "-"}`),
 *         ...preparation.messagesToSummarize,
 *       ],
 *     }),
 * });
 * ```
 */
export class ModelCompactor implements Compactor {
  readonly #model: ModelAdapter;
  readonly #buildContext: CompactionContextBuilder;
  readonly #source: string;
  readonly #maxInputTokens: number;
  readonly #estimator: MessageTokenEstimator;

  /**
   * Borrows the model.
   *
   * @throws {TypeError} A member of the wrong type.
   * @throws {RangeError} A blank source or no positive `maxInputTokens`.
   */
  constructor(options: ModelCompactorOptions) {
    requireMethods("model", options.model, ["complete"]);
    if (typeof options.contextBuilder !== "function") {
      throw new TypeError("contextBuilder must be a function");
    }
    this.#model = options.model;
    this.#buildContext = options.contextBuilder;
    this.#source = requireText("source", options.source);
    this.#maxInputTokens = options.maxInputTokens === undefined
      ? Infinity
      : requireInteger("maxInputTokens", options.maxInputTokens, 1);
    this.#estimator = options.estimator ?? defaultEstimator;
  }

  /**
   * Summarises the messages of a request, together with its previous summaries.
   *
   * @throws {AgentCancelledError} The signal is aborted.
   * @throws {CompactionError} The model answered with nothing, or a single
   * exchange does not fit into `maxInputTokens`.
   * @throws {TypeError} The context builder returned no context.
   */
  async compact(
    request: CompactionRequest,
    options: { readonly signal: AbortSignal },
  ): Promise<CompactorOutput> {
    let open: CompactionRequest | null = request;
    let content = "";
    let usage: ModelUsage | null = null;
    while (open !== null) {
      const piece = this.#firstPiece(open);
      const answer = await this.#ask(piece, options.signal);
      content = answer.content;
      usage = addUsage(usage, answer.usage);
      open = this.#rest(open, piece, content);
    }
    return { content, source: this.#source, usage };
  }

  async #ask(
    request: CompactionRequest,
    signal: AbortSignal,
  ): Promise<{ content: string; usage: ModelUsage | null }> {
    throwIfAborted(signal);
    const context = await this.#buildContext(request);
    if (!isJsonObject(context) || !Array.isArray(context.llmMessages)) {
      throw new TypeError("contextBuilder must return a built context");
    }
    throwIfAborted(signal);
    const { message, usage } = requireCompleted({
      kind: "completed",
      ...asResponse(await this.#model.complete(context, { signal })),
    });
    throwIfAborted(signal);
    const content = message.content?.trim() ?? "";
    if (content === "") {
      throw new CompactionError("The model answered with empty content");
    }
    return { content, usage: usage ?? null };
  }

  #firstPiece(request: CompactionRequest): CompactionRequest {
    if (this.#maxInputTokens === Infinity) return request;
    const { messagesToSummarize } = request.preparation;
    const safe = safeCuts(messagesToSummarize);
    let tokens = 0;
    for (const summary of request.previousSummaries) {
      tokens += tokensOfMessage(summaryMessage(summary), this.#estimator);
    }
    let end = 0;
    for (const [index, message] of messagesToSummarize.entries()) {
      tokens += tokensOfMessage(message, this.#estimator);
      if (tokens > this.#maxInputTokens) break;
      if (safe[index + 1] ?? true) end = index + 1;
    }
    if (end === 0) {
      throw new CompactionError(
        "A single exchange and the summary so far exceed maxInputTokens; raise it",
      );
    }
    return withMessages(request, messagesToSummarize.slice(0, end));
  }

  /** What is left after a piece, with the summary so far; null if that was all. */
  #rest(
    request: CompactionRequest,
    piece: CompactionRequest,
    content: string,
  ): CompactionRequest | null {
    const { messagesToSummarize } = request.preparation;
    const done = piece.preparation.messagesToSummarize;
    if (done.length === messagesToSummarize.length) return null;
    const summary = mergedSummary({ content, source: this.#source }, piece);
    return frozen({
      ...withMessages(request, messagesToSummarize.slice(done.length)),
      previousSummary: summary,
      previousSummaries: frozen([summary]),
    });
  }
}

function withMessages(
  request: CompactionRequest,
  messages: readonly AgentMessage[],
): CompactionRequest {
  return frozen({
    ...request,
    preparation: frozen({
      ...request.preparation,
      messagesToSummarize: frozen(messages),
    }),
  });
}
