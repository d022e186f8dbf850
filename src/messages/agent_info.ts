/** Who an agent is, for whoever wraps or observes it. */
export interface AgentInfo {
  /** Stable id of the agent. */
  readonly agentId: string;
  /** Shown instead of the id where a name is wanted. */
  readonly name?: string;
  /** What the agent is for. */
  readonly description?: string;
  /** Kind of service behind it, for example `"openai"` or `"a2a"`. */
  readonly provider?: string;
  /** Its model, if it is bound to a single one. */
  readonly model?: string;
  /** Id of the conversation: a session id or a remote context id. */
  readonly conversationId?: string;
  /** True if the agent runs behind a network. */
  readonly remote: boolean;
}
