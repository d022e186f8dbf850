import { closeIterator, macrotask } from "../base/abort.ts";
import {
  type ContextBuildResult,
  type ModelDelta,
  type ModelRequest,
  type ModelResponseCompleted,
  type ModelStream,
  type ModelStreamEvent,
  UNKNOWN_TARGET,
} from "../model/adapter.ts";
import { ContextOverflowError } from "../model/errors.ts";
import {
  incompleteStream,
  requireCompleted,
  requireDelta,
  streamOf,
} from "../model/fold.ts";
import { composeModelLayers } from "../model/layer.ts";
import { AgentPipelineError } from "../pipeline/middleware.ts";
import type { ActiveRun } from "./active_run.ts";

/** Events of an adapter, which yields the response last, or of middleware, which returns it. */
type AnswerIterator = AsyncIterator<
  ModelStreamEvent,
  ModelResponseCompleted | undefined,
  undefined
>;

/** Deltas after which other work gets a turn: an abort comes from a timer or a socket. */
const DELTAS_WITHOUT_PAUSE = 1024;

/**
 * Sends one request through the model middleware; deltas become events as they
 * come.
 *
 * @param attempt 1, or 2 after an overflow was recovered.
 * @throws {ContextOverflowError} With `responseStarted` if deltas were shown.
 */
export async function requestModel(
  run: ActiveRun,
  context: ContextBuildResult,
  attempt: number,
): Promise<ModelResponseCompleted> {
  run.phase = "model";
  const reading = new Reading(run);
  const request = requestOf(run, context, attempt);
  try {
    return await run.cancellation.race(
      () => reading.answer(request),
      () => reading.close(),
    );
  } catch (error) {
    throw reading.started ? withStart(error) : error;
  } finally {
    reading.close();
  }
}

function requestOf(
  run: ActiveRun,
  context: ContextBuildResult,
  attempt: number,
): ModelRequest {
  const { core, additions } = run;
  return {
    context,
    attempt,
    turn: run.turn,
    runId: run.id,
    agent: core.info,
    options: { ...additions.modelOptions, ...run.request.modelOptions },
    target: core.config.model.target ?? UNKNOWN_TARGET,
    signal: run.cancellation.signal,
    scope: run.request.scope.fork(),
  };
}

/** The reading of one answer. */
class Reading {
  readonly #run: ActiveRun;
  #iterator: AnswerIterator | undefined;
  #asked = false;
  /** True once a delta was shown. */
  started = false;

  constructor(run: ActiveRun) {
    this.#run = run;
  }

  /** Opens the stream and reads it to the completed response. */
  answer(request: ModelRequest): Promise<ModelResponseCompleted> {
    const layers = [
      ...this.#run.core.modelLayers,
      ...this.#run.additions.modelLayers,
    ];
    if (layers.length === 0) return this.#askAdapter(request);
    const ask = composeModelLayers(layers, (inner) => this.#askAgain(inner));
    return this.#read(withoutEmptyDeltas(ask(request)));
  }

  /** Ends the reading without waiting. */
  close(): void {
    closeIterator(this.#iterator);
    this.#iterator = undefined;
  }

  async #askAdapter(request: ModelRequest): Promise<ModelResponseCompleted> {
    const { usage, core } = this.#run;
    usage.requestStarted();
    try {
      const stream = streamOf(core.config.model, request.context, request);
      const response = await this.#read(stream[Symbol.asyncIterator]());
      usage.reported(response.usage);
      return response;
    } catch (error) {
      usage.requestFailed(error, this.started);
      throw error;
    }
  }

  // Middleware may ask several times, but not after the reader has seen parts of an answer.
  #askAgain(request: ModelRequest): ModelStream {
    if (this.#asked && this.started) {
      throw new AgentPipelineError(
        "next() was called again after deltas of an earlier answer had been shown",
      );
    }
    this.#asked = true;
    return adapterStream(this.#run, request);
  }

  async #read(iterator: AnswerIterator): Promise<ModelResponseCompleted> {
    this.#iterator = iterator;
    for (let count = 1;; count++) {
      const step = await iterator.next();
      if (step.value?.kind === "completed") return requireCompleted(step.value);
      if (step.done) throw incompleteStream();
      const pending = this.#show(requireDelta(step.value));
      if (pending !== undefined) await pending;
      if (count % DELTAS_WITHOUT_PAUSE === 0) await macrotask();
    }
  }

  #show({ kind, delta }: ModelDelta): Promise<void> | undefined {
    const run = this.#run;
    run.cancellation.throwIfAborted();
    this.started = true;
    return run.emit({
      kind: kind === "text_delta"
        ? "assistant_text_delta"
        : "assistant_thinking_delta",
      turn: run.turn,
      delta,
    });
  }
}

/** What model middleware calls: the adapter's own stream, with its usage counted. */
async function* adapterStream(
  run: ActiveRun,
  request: ModelRequest,
): ModelStream {
  run.cancellation.throwIfAborted();
  const { model } = run.core.config;
  let started = false;
  let iterator: AsyncIterator<ModelStreamEvent> | undefined;
  run.usage.requestStarted();
  try {
    iterator = streamOf(model, request.context, request)
      [Symbol.asyncIterator]();
    for (;;) {
      const step = await iterator.next();
      if (step.done) throw incompleteStream();
      if (step.value?.kind === "completed") {
        const response = requireCompleted(step.value);
        run.usage.reported(response.usage);
        return response;
      }
      const delta = requireDelta(step.value);
      started = true;
      yield delta;
    }
  } catch (error) {
    run.usage.requestFailed(error, started);
    throw error;
  } finally {
    // Not for await: it would wait for a return() that need not settle.
    closeIterator(iterator);
  }
}

/** Middleware may produce deltas that say nothing; nobody needs to see them. */
async function* withoutEmptyDeltas(stream: ModelStream): ModelStream {
  try {
    for (;;) {
      const step = await stream.next();
      if (step.done) return step.value;
      if (step.value.delta !== "") yield step.value;
    }
  } finally {
    closeIterator(stream);
  }
}

/** Marks an overflow that came after visible output; nothing can be tried again then. */
function withStart(error: unknown): unknown {
  if (!(error instanceof ContextOverflowError) || error.responseStarted) {
    return error;
  }
  return new ContextOverflowError(error.message, {
    cause: error,
    status: error.status,
    responseStarted: true,
  });
}
