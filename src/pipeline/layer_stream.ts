import { frozen } from "../base/freeze.ts";
import type { AgentEvent } from "../events/event.ts";
import type { AgentRunResult } from "../messages/result.ts";
import { type AgentStream, requireResult } from "./middleware.ts";

type Step = IteratorResult<AgentEvent, AgentRunResult>;

/**
 * The stream that a layer gets from `next`: opened by its first pull, its
 * result checked, its end reported.
 *
 * By hand and not as a generator around a generator, which would cost every
 * event three turns of the job queue for each layer.
 */
export class LayerStream implements AgentStream {
  readonly #open: () => AgentStream;
  readonly #ended: () => void;
  #stream: AgentStream | undefined;
  #over = false;

  /**
   * Opens nothing yet.
   *
   * @param open Called at most once; what it throws meets the reader.
   * @param ended Called when an opened stream has ended in whatever way.
   */
  constructor(open: () => AgentStream, ended: () => void) {
    this.#open = open;
    this.#ended = ended;
  }

  next(): Promise<Step> {
    if (this.#over) return Promise.resolve(nothing);
    try {
      this.#stream ??= this.#open();
    } catch (error) {
      this.#over = true;
      return Promise.reject(error);
    }
    return this.#stream.next().then(this.#pass, this.#fail);
  }

  async return(value: AgentRunResult): Promise<Step> {
    return await this.#leave((stream) => stream.return(value)) ??
      { done: true, value };
  }

  async throw(error: unknown): Promise<Step> {
    const step = await this.#leave((stream) => stream.throw(error));
    if (step === undefined) throw error;
    return step;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#leave((stream) => stream.return(undefined as never));
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  readonly #pass = (step: Step): Step => {
    if (step.done) {
      this.#end();
      requireResult(step.value);
    }
    return step;
  };

  readonly #fail = (error: unknown): never => {
    this.#end();
    throw error;
  };

  #end(): void {
    if (this.#over) return;
    this.#over = true;
    this.#ended();
  }

  /** Ends the inner stream, which may still have something to say; nothing if it was never opened. */
  async #leave(
    ask: (stream: AgentStream) => Promise<Step>,
  ): Promise<Step | undefined> {
    const stream = this.#stream;
    if (stream === undefined || this.#over) {
      this.#over = true;
      return undefined;
    }
    try {
      const step = await ask(stream);
      if (step.done) this.#end();
      return step;
    } catch (error) {
      this.#end();
      throw error;
    }
  }
}

const nothing: Step = frozen({
  done: true,
  value: undefined as never,
});
