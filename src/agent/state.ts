import { frozen } from "../base/freeze.ts";
import { Conversation } from "../context/conversation.ts";
import type { AgentMessage } from "../messages/message.ts";
import type { AgentRunResult } from "../messages/result.ts";
import type {
  AgentStateSnapshot,
  AgentStateView,
  AgentStatus,
} from "../messages/state.ts";

/** What an agent remembers. Only the agent's own rooms change it; others get the view. */
export class AgentState {
  /** The history. */
  readonly conversation: Conversation;
  /** The live view that everyone else gets. */
  readonly view: AgentStateView = new StateView(this);
  /** Text of the task that is or was worked on. */
  task: string | null = null;
  /** What the agent is doing. */
  status: AgentStatus = "idle";
  /** Turn of the active or last run. */
  turn = 0;
  /** Consecutive answers without a call, when an explicit finish is required. */
  noToolResponseCount = 0;
  /** Skill whose instructions are active. */
  activeSkillName: string | null = null;
  /** Output of the last run. */
  result: string | null = null;
  /** Error of the last run if it failed. */
  error: string | null = null;
  /** Result of the last run. */
  lastRunResult: AgentRunResult | null = null;

  readonly #system: readonly AgentMessage[];

  /** Starts idle. @param system The agent's own messages; every history begins with them. */
  constructor(system: readonly AgentMessage[]) {
    this.#system = system;
    this.conversation = new Conversation(system, system.length);
  }

  /** Puts another history behind the agent's own system messages. */
  replaceHistory(messages: readonly AgentMessage[]): void {
    this.conversation.replace(
      this.#system.concat(messages),
      this.#system.length,
    );
  }

  /** Starts over with the given history, as if no run had been. */
  reset(messages: readonly AgentMessage[]): void {
    this.replaceHistory(messages);
    this.#clear(null);
    this.status = "idle";
  }

  /** Enters a run. @param task Text of its task; null for a continue run. */
  begin(task: string | null): void {
    this.#clear(task);
    this.status = "running";
  }

  /** Leaves a run with its result. */
  finish(result: AgentRunResult): void {
    this.status = result.status;
    this.lastRunResult = result;
    this.result = result.succeeded ? result.output ?? "" : result.output;
    this.error = result.status === "failed" ? result.error : null;
  }

  #clear(task: string | null): void {
    this.task = task;
    this.turn = 0;
    this.noToolResponseCount = 0;
    this.activeSkillName = null;
    this.result = null;
    this.error = null;
    this.lastRunResult = null;
  }
}

/** Reads the state; a class, because getters of an object literal are made anew for every agent. */
class StateView implements AgentStateView {
  readonly #state: AgentState;

  constructor(state: AgentState) {
    this.#state = state;
    frozen(this);
  }

  get messages(): readonly AgentMessage[] {
    return this.#state.conversation.messages;
  }

  get task(): string | null {
    return this.#state.task;
  }

  get status(): AgentStatus {
    return this.#state.status;
  }

  get turn(): number {
    return this.#state.turn;
  }

  get noToolResponseCount(): number {
    return this.#state.noToolResponseCount;
  }

  get activeSkillName(): string | null {
    return this.#state.activeSkillName;
  }

  get result(): string | null {
    return this.#state.result;
  }

  get error(): string | null {
    return this.#state.error;
  }

  get lastRunResult(): AgentRunResult | null {
    return this.#state.lastRunResult;
  }

  snapshot(): AgentStateSnapshot {
    const { conversation, view: _, ...values } = this.#state;
    return frozen({ messages: conversation.messages, ...values });
  }
}
