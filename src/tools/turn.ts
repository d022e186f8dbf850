import type { Cancellation } from "../base/abort.ts";
import type { RunScope } from "../base/scope.ts";
import type { AgentInfo } from "../messages/agent_info.ts";
import type { AgentStateView } from "../messages/state.ts";
import type { ModelToolCall, ToolProgressUpdate } from "../messages/tool.ts";
import type { ToolCallResult } from "./outcome.ts";

/** The calls of one answer, and on whose behalf they are made. */
export interface ToolTurn {
  /** Calls in source order. */
  readonly calls: readonly ModelToolCall[];
  /** Ends the turn from outside. */
  readonly cancellation: Cancellation;
  /** The agent that calls. */
  readonly agent: AgentInfo;
  /** Its run. */
  readonly runId: string;
  /** Turn of the run, from 1. */
  readonly turn: number;
  /** The live state of the agent. */
  readonly state: AgentStateView;
  /** Values of the run; each call gets a fork. */
  readonly scope: RunScope;
  /**
   * Set if no call may be executed: each gets an error result with this text.
   * An answer that was cut off may hold calls with mutilated arguments.
   */
  readonly refusal: string | null;
  /** Told what happens. */
  readonly report: ToolTurnReport;
}

/** Follows the calls of one answer. */
export interface ToolTurnReport {
  /** A call is about to be executed or skipped. */
  started(call: ModelToolCall): void | Promise<void>;
  /** The tool of a started call reported progress. */
  progressed(
    call: ModelToolCall,
    update: ToolProgressUpdate,
  ): void | Promise<void>;
  /** A call is settled; results come in source order. */
  completed(call: ModelToolCall, result: ToolCallResult): void | Promise<void>;
  /** What was settled last decides the run; called once, before it is `completed`. */
  decided(): void;
  /** A text stops the turn before its next call: the rest is settled with it as cancelled. */
  halted(): string | null;
}

/** How the calls of one answer ended. */
export type ToolTurnOutcome =
  /** Every call was executed or failed; the run goes on. */
  | { readonly kind: "continue" }
  /** A tool ended the run. */
  | {
    readonly kind: "terminal";
    readonly call: ModelToolCall;
    readonly result: ToolCallResult;
  }
  /** The run was aborted. */
  | { readonly kind: "cancelled" }
  /** A call was requested too often in a row. */
  | {
    readonly kind: "repeated";
    readonly call: ModelToolCall;
    readonly error: string;
  }
  /** The report halted the turn. */
  | { readonly kind: "halted" };
