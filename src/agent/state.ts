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
  readonly view: AgentStateView = viewOf(this);
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
      [...this.#system, ...messages],
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

function viewOf(state: AgentState): AgentStateView {
  return Object.freeze({
    get messages() {
      return state.conversation.messages;
    },
    get task() {
      return state.task;
    },
    get status() {
      return state.status;
    },
    get turn() {
      return state.turn;
    },
    get noToolResponseCount() {
      return state.noToolResponseCount;
    },
    get activeSkillName() {
      return state.activeSkillName;
    },
    get result() {
      return state.result;
    },
    get error() {
      return state.error;
    },
    get lastRunResult() {
      return state.lastRunResult;
    },
    snapshot(): AgentStateSnapshot {
      const { snapshot: _, ...members } = this;
      return Object.freeze(members);
    },
  });
}
