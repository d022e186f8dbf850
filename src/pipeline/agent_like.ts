import type { RunScope } from "../base/scope.ts";
import type { AgentEvent } from "../events/event.ts";
import type { AgentInfo } from "../messages/agent_info.ts";
import type { TaskInput } from "../messages/content.ts";
import type { AgentMessage } from "../messages/message.ts";
import type { AgentRunResult } from "../messages/result.ts";
import type { ModelOptions } from "../model/adapter.ts";

/** Options of one run. */
export interface RunOptions {
  /**
   * Aborts exactly this run. One that still waits for its turn rejects with an
   * `AgentCancelledError`; one whose turn has come, though the agent may still be
   * starting, fulfils with a cancelled result.
   */
  readonly signal?: AbortSignal | undefined;
  /**
   * Options of the run's model requests. Which of them are sent is up to the
   * adapter: `ChatModelAdapter` lists those it knows and ignores the others.
   */
  readonly modelOptions?: ModelOptions | undefined;
  /** Messages that only this run's requests hold, never the history; oldest first. */
  readonly contextMessages?: readonly AgentMessage[] | undefined;
  /** Scope to fork the run's own from; set by agent tools, servers and tests. */
  readonly scope?: RunScope | undefined;
}

/**
 * The events of one run as a stream that ends in its result.
 *
 * Nothing happens before the first pull, `finalResult()` or `close()`. From then
 * on the run goes at its own speed; a slow reader never holds it up. Leaving the
 * iteration early cancels the run and waits until it has settled.
 */
export interface AgentRunStream
  extends AsyncIterable<AgentEvent>, AsyncDisposable {
  /** The result; runs the agent to the end if nobody reads the events. */
  finalResult(): Promise<AgentRunResult>;
  /** Cancels the run and waits until it has settled. */
  close(reason?: string): Promise<void>;
}

/** Any agent, local or remote, that can be run, wrapped and used as a tool. */
export interface AgentLike {
  /** Who it is. */
  readonly info: AgentInfo;
  /** Runs a task to its result. */
  run(task: TaskInput, options?: RunOptions): Promise<AgentRunResult>;
  /** Runs a task and shows its events. */
  stream(task: TaskInput, options?: RunOptions): AgentRunStream;
}
