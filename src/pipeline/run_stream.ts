import { detach } from "../base/abort.ts";
import { EventQueue } from "../base/event_queue.ts";
import type { AgentEvent } from "../events/event.ts";
import type { AgentRunResult } from "../messages/result.ts";
import type { AgentRunStream } from "./agent_like.ts";
import { cancelledResult } from "./drive.ts";

/** A run that was launched. */
export interface LaunchedRun {
  /** Settles when the run has. */
  readonly result: Promise<AgentRunResult>;
  /** Aborts the run, or gives its place in the queue up. */
  cancel(reason: string): void;
}

/** Reason of a run whose reader left. */
export const CLOSED_BY_CONSUMER = "stream closed by consumer";

/**
 * The stream of one run over a function that launches it.
 *
 * @param launch Called at most once; hands every event to `observe`.
 */
export function runStream(
  launch: (observe: (event: AgentEvent) => void) => LaunchedRun,
): AgentRunStream {
  return new LazyRunStream(launch);
}

class LazyRunStream implements AgentRunStream {
  readonly #launch: (observe: (event: AgentEvent) => void) => LaunchedRun;
  readonly #queue = new EventQueue<AgentEvent>();
  #run: LaunchedRun | undefined;
  #iterated = false;
  #closed = false;

  constructor(launch: (observe: (event: AgentEvent) => void) => LaunchedRun) {
    this.#launch = launch;
  }

  finalResult(): Promise<AgentRunResult> {
    return this.#start().result;
  }

  async close(reason: string = CLOSED_BY_CONSUMER): Promise<void> {
    this.#closed = true;
    if (this.#run === undefined) this.#run = neverStarted(reason);
    else this.#run.cancel(reason);
    this.#queue.end();
    await this.#run.result.then(ignore, ignore);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  [Symbol.asyncIterator](): AsyncIterator<AgentEvent, undefined> {
    if (this.#iterated) {
      throw new TypeError("The stream of a run can be iterated only once");
    }
    this.#iterated = true;
    const done = { done: true, value: undefined } as const;
    let left = false;
    return {
      next: () => {
        if (left) return Promise.resolve(done);
        this.#start();
        return this.#queue.next();
      },
      return: async () => {
        left = true;
        await this.close();
        return done;
      },
    };
  }

  #start(): LaunchedRun {
    if (this.#run === undefined) {
      const run = this.#launch((event) => this.#queue.push(event));
      const result = run.result.catch((error) => {
        if (this.#closed) return cancelledResult(CLOSED_BY_CONSUMER);
        throw error;
      });
      result.then(() => this.#queue.end(), (error) => this.#queue.fail(error));
      this.#run = { result, cancel: (reason) => run.cancel(reason) };
      detach(result);
    }
    return this.#run;
  }
}

function neverStarted(reason: string): LaunchedRun {
  return { result: Promise.resolve(cancelledResult(reason)), cancel: ignore };
}

function ignore(): void {}
