import {
  type Clock,
  consoleLogger,
  type IdSource,
  type Logger,
  randomIds,
  systemClock,
} from "../base/ports.ts";
import type {
  ContextBuildResult,
  ModelAdapter,
  ModelCall,
  ModelDelta,
  ModelResponse,
  ModelStreamEvent,
  ModelTarget,
} from "../model/adapter.ts";
import { ModelProviderError } from "../model/errors.ts";
import { AnswerAssembler } from "./assemble.ts";
import { BodyWriter } from "./body.ts";
import { type ChatCompat, completeCompat, providerOf } from "./compat.ts";
import {
  createModelConfig,
  type ModelConfig,
  type ModelConfigInput,
} from "./config.ts";
import { type ChatEndpoint, chatEndpoint } from "./endpoint.ts";
import {
  emptyAnswer,
  incompleteAnswer,
  notStartedError,
  type Operation,
  providerError,
  toModelError,
} from "./errors.ts";
import { Exchange } from "./exchange.ts";
import { bodyMembers } from "./model_options.ts";
import { parsePayload, PayloadReader } from "./payloads.ts";
import { readRefusal } from "./refusal.ts";
import {
  type ChatRequest,
  type ChatTransport,
  fetchTransport,
} from "./transport.ts";

/** Options of {@linkcode ChatModelAdapter}. */
export interface ChatModelOptions {
  /** Carries the requests. @default {fetchTransport()} */
  readonly transport?: ChatTransport;
  /** Where the server departs from the OpenAI API. */
  readonly compat?: Partial<ChatCompat>;
  /** More headers for every request, or others in place of the adapter's own. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Bounds the waits. @default {systemClock} */
  readonly clock?: Clock;
  /** Names calls that came without an id. @default {randomIds} */
  readonly ids?: IdSource;
  /** Told about impossible token counts. @default {consoleLogger} */
  readonly logger?: Logger;
}

/**
 * Talks to any server with the OpenAI chat completions API.
 *
 * One adapter may serve many agents at once: each `startup` wants its own
 * `shutdown`, and the last one closes the transport. It sends each request once
 * and keeps the bytes of what it sent, so that a growing conversation is not
 * written anew for every turn; for that, messages must be frozen, as those of an
 * agent are.
 *
 * Options of a request that are sent, in snake or camel case: `temperature`,
 * `top_p`, `max_tokens`, `max_completion_tokens`, `stop`, `seed`,
 * `presence_penalty`, `frequency_penalty`, `logit_bias`, `tool_choice`,
 * `parallel_tool_calls`, `response_format`, `reasoning_effort`, `verbosity`,
 * `service_tier`, `prompt_cache_key`, `safety_identifier`, `user`, and
 * `extra_body`, an object of members that only this server knows. Null takes back
 * the temperature of the configuration.
 *
 * Failures are `ModelProviderError`s that say what to do; none holds the key.
 *
 * @example Give a model to an agent
 * ```ts
 * import { Agent } from "@ejagent/core";
 * import { ChatModelAdapter } from "@ejagent/core/chat";
 *
 * const agent = new Agent({
 *   agentId: "assistant",
 *   model: new ChatModelAdapter({
 *     model: "gpt-5-mini",
 *     apiKey: "sk-...",
 *     baseUrl: "https://api.openai.com/v1",
 *   }),
 *   systemPrompt: "You are brief.",
 * });
 * ```
 */
export class ChatModelAdapter implements ModelAdapter {
  /** Where requests go, for observers. */
  readonly target: ModelTarget;
  /** The habits of the server that are in force. */
  readonly compat: ChatCompat;
  readonly #config: ModelConfig;
  readonly #endpoint: ChatEndpoint;
  readonly #transport: ChatTransport;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #bodies: BodyWriter;
  readonly #clock: Clock;
  readonly #ids: IdSource;
  readonly #logger: Logger;
  #users = 0;
  #ready: Promise<void> | void = undefined;

  /**
   * Opens nothing yet.
   *
   * @throws {TypeError} A member of the configuration or of `compat` has the wrong type.
   * @throws {RangeError} A value is out of range, or `baseUrl` is no http address.
   */
  constructor(config: ModelConfigInput, options: ChatModelOptions = {}) {
    this.#config = createModelConfig(config);
    this.#endpoint = chatEndpoint(this.#config.baseUrl);
    const { hostname, baseUrl } = this.#endpoint;
    this.compat = completeCompat(hostname, options.compat ?? {});
    this.target = Object.freeze({
      provider: providerOf(hostname),
      model: this.#config.model,
      baseUrl,
    });
    this.#transport = options.transport ?? fetchTransport();
    this.#headers = headersOf(this.#config, options.headers ?? {});
    this.#bodies = new BodyWriter(this.compat);
    this.#clock = options.clock ?? systemClock;
    this.#ids = options.ids ?? randomIds;
    this.#logger = options.logger ?? consoleLogger;
  }

  /** Makes the transport ready; wants a `shutdown` of its own. */
  async startup(): Promise<void> {
    this.#users++;
    try {
      if (this.#users === 1) {
        this.#ready = this.#transport.startup?.(this.#config);
      }
      await this.#ready;
    } catch (error) {
      this.#users--;
      throw error;
    }
  }

  /** Closes the transport if nobody else uses it; does nothing if it is closed. */
  async shutdown(): Promise<void> {
    if (this.#users === 0 || --this.#users > 0) return;
    await this.#transport.shutdown?.();
  }

  /** Asks without streaming. @throws {ModelProviderError} The request failed. */
  async complete(
    context: ContextBuildResult,
    call: ModelCall,
  ): Promise<ModelResponse> {
    for await (const event of this.#ask(context, call, false)) {
      if (event.kind !== "completed") continue;
      const { message, usage = null, finishReason = null } = event;
      return { message, usage, finishReason };
    }
    throw incompleteAnswer(this.#operation(false), false);
  }

  /** Asks and yields the answer as it comes. @throws {ModelProviderError} The request failed. */
  stream(
    context: ContextBuildResult,
    call: ModelCall,
  ): AsyncGenerator<ModelStreamEvent, void, void> {
    return this.#ask(context, call, true);
  }

  async *#ask(
    context: ContextBuildResult,
    call: ModelCall,
    streaming: boolean,
  ): AsyncGenerator<ModelStreamEvent, void, void> {
    if (this.#users === 0) throw notStartedError();
    call.signal.throwIfAborted();
    const operation = this.#operation(streaming);
    const exchange = new Exchange({
      signal: call.signal,
      clock: this.#clock,
      operation,
    });
    const payloads = new PayloadReader(operation);
    const answer = new AnswerAssembler({
      operation,
      compat: this.compat,
      ids: this.#ids,
      logger: this.#logger,
      now: this.#clock.now(),
    });
    const deltas: ModelDelta[] = [];
    try {
      const request = this.#request(context, call, streaming, exchange.signal);
      const response = await exchange.open(() => this.#transport.send(request));
      if (!response.ok) {
        throw providerError(operation, {
          status: response.status,
          headers: response.headers,
          body: await readRefusal(exchange, call.signal),
          now: this.#clock.now(),
        });
      }
      for (let ended = false; !ended;) {
        const bytes = await exchange.read();
        const texts = bytes === undefined
          ? payloads.end()
          : payloads.push(bytes);
        for (const text of texts) {
          answer.push(parsePayload(text, operation), deltas);
          for (const delta of deltas) yield delta;
          deltas.length = 0;
        }
        ended = bytes === undefined || payloads.done;
      }
      answer.flush(deltas);
      for (const delta of deltas) yield delta;
      call.signal.throwIfAborted();
      if (payloads.isEmpty) throw emptyAnswer(operation);
      yield answer.completed(payloads);
    } catch (error) {
      call.signal.throwIfAborted();
      if (error instanceof ModelProviderError) throw error;
      exchange.throwIfInterrupted();
      throw toModelError(operation, error, {
        answering: exchange.answering,
        started: answer.started,
        now: this.#clock.now(),
      });
    } finally {
      if (payloads.done) await exchange.drain();
      exchange.close();
    }
  }

  #request(
    context: ContextBuildResult,
    call: ModelCall,
    streaming: boolean,
    signal: AbortSignal,
  ): ChatRequest {
    const { model, temperature, includeUsage } = this.#config;
    const { llmMessages, tools } = context;
    const body = this.#bodies.write(llmMessages, tools, {
      model,
      ...bodyMembers(temperature, call.options ?? {}, tools.length > 0),
      ...(streaming && { stream: true }),
      ...(streaming && includeUsage &&
        { stream_options: { include_usage: true } }),
    });
    const accept = streaming ? "text/event-stream" : "application/json";
    return {
      url: this.#endpoint.url,
      headers: { accept, ...this.#headers },
      body,
      signal,
    };
  }

  #operation(streaming: boolean): Operation {
    const { model, timeoutMs, apiKey } = this.#config;
    const { baseUrl, query } = this.#endpoint;
    return {
      name: streaming ? "Chat completion stream" : "Chat completion",
      baseUrl,
      model,
      timeoutMs,
      secrets: [apiKey, query, ...Object.values(this.#headers)].filter(
        isWorthHiding,
      ),
      emptyBodyMeansOverflow: this.compat.emptyBodyMeansOverflow,
    };
  }
}

function headersOf(
  config: ModelConfig,
  more: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const headers: Record<string, string> = {
    "content-type": "application/json",
    authorization: `Bearer ${config.apiKey}`,
  };
  for (const [name, value] of Object.entries(more)) {
    headers[name.toLowerCase()] = value;
  }
  return Object.freeze(headers);
}

// Shorter ones are placeholders, and hiding them would tear words apart.
function isWorthHiding(text: string): boolean {
  return text.length >= 8;
}
