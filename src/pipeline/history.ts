import type { RunScope } from "../base/scope.ts";
import type { AgentEventSink } from "../events/sink.ts";
import type { AgentInfo } from "../messages/agent_info.ts";
import type { AgentMessage } from "../messages/message.ts";
import type { AgentRunResult } from "../messages/result.ts";

/** The run for which a history is loaded or saved. */
export interface HistoryRun {
  /** The agent that runs. */
  readonly agent: AgentInfo;
  /** Its run or explicit compaction; empty when an agent starts up. */
  readonly runId: string;
  /** What the conversation is wanted for. */
  readonly kind: "startup" | "task" | "continue" | "compaction";
  /** Text of the task, if there is one. */
  readonly task?: string;
  /** Bounds the call; a fresh one for `save`, which a cancelled run still makes. */
  readonly signal: AbortSignal;
  /** Values of the run. */
  readonly scope: RunScope;
}

/** What a run came to, for providers. */
export interface RunOutcome {
  /** Provisional: a failing `save` can still turn a completed run into a failed one. */
  readonly result: AgentRunResult;
  /** What this run committed: task, answers, tool results, steering; oldest first. */
  readonly messages: readonly AgentMessage[];
  /** The whole conversation after the run, without the leading system messages. */
  readonly conversation: readonly AgentMessage[];
  /** True if the history was replaced by a summary meanwhile. */
  readonly compacted: boolean;
  /** What made the run fail, if anything was thrown. */
  readonly error?: unknown;
}

/** A conversation with the result of its last run. */
export interface LoadedHistory {
  /** The conversation without the agent's own system messages, oldest first. */
  readonly messages: readonly AgentMessage[];
  /** Result of the last run, so that the conversation can be continued. */
  readonly lastRunResult?: AgentRunResult | null;
}

/**
 * Decides where the conversation of an agent comes from and goes to; an agent
 * has exactly one.
 */
export interface HistoryProvider {
  /** Unique among the providers of an agent. */
  readonly sourceId: string;
  /** Id of the conversation, for observers. */
  readonly conversationId?: string;
  /** A sink that the agent calls before its own ones. */
  readonly sink?: AgentEventSink;
  /**
   * Called before each run's user message is added, at start-up, and before a compaction.
   *
   * May reject: the run then fails.
   *
   * @returns The conversation to use, or null to keep what the agent holds.
   */
  load(
    run: HistoryRun,
  ): Promise<LoadedHistory | readonly AgentMessage[] | null>;
  /**
   * Called when the agent forgets its conversation, and when what a `load` gave did
   * not reach it: the next `load` must not answer null for what the agent held before.
   */
  reset?(): void;
  /**
   * Called after every run, whatever it came to, and after an explicit compaction.
   *
   * Append `outcome.messages`, or write `outcome.conversation` when `outcome.compacted`.
   * A rejection turns a completed run into a failed one.
   */
  save?(run: HistoryRun, outcome: RunOutcome): Promise<void>;
}

/**
 * Leaves the conversation where it is: in the agent.
 *
 * @example The default, spelled out
 * ```ts
 * import { InMemoryHistoryProvider } from "@ejagent/core";
 *
 * const history = new InMemoryHistoryProvider();
 * ```
 */
export class InMemoryHistoryProvider implements HistoryProvider {
  /** Always `"memory"`. */
  readonly sourceId = "memory";

  /** Keeps what the agent holds. */
  load(): Promise<null> {
    return Promise.resolve(null);
  }
}
