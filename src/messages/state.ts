import type { AgentMessage } from "./message.ts";
import type { AgentRunResult, RunStatus } from "./result.ts";

/** What an agent is doing, or how its last run ended. */
export type AgentStatus = "idle" | "running" | RunStatus;

/**
 * A live, read-only view of an agent; always the same object.
 *
 * Arrays and messages that it hands out are frozen snapshots.
 */
export interface AgentStateView {
  /** The conversation, oldest first, leading system messages included. */
  readonly messages: readonly AgentMessage[];
  /** Text of the task that is or was worked on; null for a continue run. */
  readonly task: string | null;
  /** What the agent is doing. */
  readonly status: AgentStatus;
  /** Turn of the active or last run, from 1; 0 before its first. */
  readonly turn: number;
  /** Consecutive answers without a call, when an explicit finish is required. */
  readonly noToolResponseCount: number;
  /** Name of the skill whose instructions are active. */
  readonly activeSkillName: string | null;
  /** Output of the last run; the empty string if it completed without one. */
  readonly result: string | null;
  /** Error of the last run if it failed. */
  readonly error: string | null;
  /** Result of the last run. */
  readonly lastRunResult: AgentRunResult | null;
  /** All members as they are now, detached from the agent. */
  snapshot(): AgentStateSnapshot;
}

/** The members of an {@linkcode AgentStateView} at one moment. */
export type AgentStateSnapshot = Omit<AgentStateView, "snapshot">;
