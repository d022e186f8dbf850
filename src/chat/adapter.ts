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
  ModelOptions,
  ModelResponse,
  ModelStreamEvent,
  ModelTarget,
} from "../model/adapter.ts";
import { ModelProviderError } from "../model/errors.ts";
import { openAIToolView } from "../tools/definition.ts";
import { emptyAnswer, incompleteAnswer } from "./answer_errors.ts";
import { AnswerAssembler } from "./assemble.ts";
import { BodyWriter } from "./body.ts";
import { type ChatCompat, completeCompat, providerOf } from "./compat.ts";
import {
  createModelConfig,
  type ModelConfig,
  type ModelConfigInput,
} from "./config.ts";
import { chatEndpoint } from "./endpoint.ts";
import { notStartedError, providerError, toModelError } from "./errors.ts";
import { Exchange } from "./exchange.ts";
import { bodyMembers, unknownOptions } from "./model_options.ts";
import { parsePayload, PayloadReader } from "./payloads.ts";
import { readRefusal } from "./refusal.ts";
import {
  type RequestForm,
  requireHeaders,
  streamingForm,
  wholeForm,
} from "./request_form.ts";
import { type ChatTransport, fetchTransport } from "./transport.ts";

/** Options of {@linkcode ChatModelAdapter}. */
export interface ChatModelOptions {
  /** Carries the requests. @default {fetchTransport()} */
  readonly transport?: ChatTransport | undefined;
  /** Where the server departs from the OpenAI API. */
  readonly compat?: Partial<ChatCompat> | undefined;
  /** More headers for every request, or others in place of the adapter's own. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Bounds the waits. @default {systemClock} */
  readonly clock?: Clock | undefined;
  /** Names calls that came without an id. @default {randomIds} */
  readonly ids?: IdSource | undefined;
  /** Told about impossible token counts. @default {consoleLogger} */
  readonly logger?: Logger | undefined;
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
 * the temperature of the configuration. Others are not sent; the logger is told
 * once of each.
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
  readonly #url: string;
  readonly #streaming: RequestForm;
  readonly #whole: RequestForm;
  readonly #bodies: BodyWriter;
  readonly #transport: ChatTransport;
  readonly #clock: Clock;
  readonly #ids: IdSource;
  readonly #logger: Logger;
  readonly #unknownOptions = new Set<string>();
  #users = 0;
  #ready: Promise<void> | void = undefined;

  /**
   * Opens nothing yet.
   *
   * @throws {TypeError} A member of the configuration or of `compat` has the wrong type.
   * @throws {RangeError} A value is out of range, a header cannot be sent, or
   * `baseUrl` is no http address.
   */
  constructor(input: ModelConfigInput, options: ChatModelOptions = {}) {
    const config = createModelConfig(input);
    const endpoint = chatEndpoint(config.baseUrl);
    const { hostname, baseUrl, url } = endpoint;
    const compat = completeCompat(hostname, options.compat ?? {});
    const headers = requireHeaders(options.headers ?? {});
    this.compat = compat;
    this.target = Object.freeze({
      provider: providerOf(hostname),
      model: config.model,
      baseUrl,
    });
    this.#config = config;
    this.#url = url;
    this.#streaming = streamingForm({ config, endpoint, compat, headers });
    this.#whole = wholeForm({ config, endpoint, compat, headers });
    this.#bodies = new BodyWriter(compat);
    this.#transport = options.transport ?? fetchTransport();
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
    for await (const event of this.#ask(context, call, this.#whole)) {
      if (event.kind !== "completed") continue;
      const { message, usage = null, finishReason = null } = event;
      return { message, usage, finishReason };
    }
    throw incompleteAnswer(this.#whole.operation, false);
  }

  /** Asks and yields the answer as it comes. @throws {ModelProviderError} The request failed. */
  stream(
    context: ContextBuildResult,
    call: ModelCall,
  ): AsyncGenerator<ModelStreamEvent, void, void> {
    return this.#ask(context, call, this.#streaming);
  }

  async *#ask(
    context: ContextBuildResult,
    call: ModelCall,
    form: RequestForm,
  ): AsyncGenerator<ModelStreamEvent, void, void> {
    if (this.#users === 0) throw notStartedError();
    const { signal } = call;
    signal.throwIfAborted();
    const { operation, headers } = form;
    const body = this.#body(context, call, form);
    const clock = this.#clock;
    const exchange = new Exchange({ signal, clock, operation });
    const payloads = new PayloadReader(operation);
    const answer = new AnswerAssembler({
      operation,
      compat: this.compat,
      ids: this.#ids,
      logger: this.#logger,
      now: clock.now(),
    });
    const deltas: ModelDelta[] = [];
    try {
      const response = await exchange.open((signal) =>
        this.#transport.send({ url: this.#url, headers, body, signal })
      );
      if (!response.ok) {
        throw providerError(operation, {
          // Browsers hide the status of a redirect that they do not follow.
          status: response.status || undefined,
          redirected: response.redirected || response.status === 0,
          headers: response.headers,
          body: await readRefusal(exchange, signal),
          now: clock.now(),
        });
      }
      for (let ended = false; !ended;) {
        // Comments that keep a connection alive may follow an answer for ever.
        if (answer.finished) exchange.shareTime();
        const bytes = await exchange.read();
        for (const text of payloads.push(bytes)) {
          const isLast = bytes === undefined;
          answer.push(parsePayload(text, operation, isLast), deltas);
          for (const delta of deltas) yield delta;
          deltas.length = 0;
        }
        ended = bytes === undefined || payloads.done;
      }
      answer.flush(deltas);
      for (const delta of deltas) yield delta;
      signal.throwIfAborted();
      if (payloads.isEmpty) throw emptyAnswer(operation);
      yield answer.completed(payloads);
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof ModelProviderError) throw error;
      exchange.throwIfInterrupted();
      throw toModelError(operation, error, {
        answering: exchange.answering,
        started: answer.started,
        now: clock.now(),
      });
    } finally {
      if (payloads.done) await exchange.drain();
      exchange.close();
    }
  }

  #body(
    { llmMessages, tools: shown, toolDefinitions }: ContextBuildResult,
    { options = {} }: ModelCall,
    { members }: RequestForm,
  ): Uint8Array<ArrayBuffer> {
    this.#warnOfUnknown(options);
    const { temperature } = this.#config;
    // The definitions are what is meant; a view of them may be stale.
    const tools = toolDefinitions.length === 0
      ? shown
      : toolDefinitions.map(openAIToolView);
    return this.#bodies.write(llmMessages, tools, {
      ...members,
      ...bodyMembers(temperature, options, tools.length > 0),
    });
  }

  #warnOfUnknown(options: ModelOptions): void {
    for (const name of unknownOptions(options)) {
      if (this.#unknownOptions.has(name)) continue;
      this.#unknownOptions.add(name);
      this.#logger.warn(
        `The model option "${name}" is unknown and not sent; put what only this server knows into extra_body`,
      );
    }
  }
}
