import type { AgentEventSink } from "../events/sink.ts";
import type { AgentInfo } from "../messages/agent_info.ts";
import type { ModelLayer } from "../model/layer.ts";
import type { AgentLayer } from "../pipeline/middleware.ts";
import type { ProviderStates } from "../pipeline/provider_pass.ts";
import type { ToolRuntime } from "../tools/runtime.ts";
import type { AgentConfig } from "./options.ts";
import type { AgentState } from "./state.ts";

/** What the rooms of one agent share. */
export interface AgentCore {
  /** How the agent was configured. */
  readonly config: AgentConfig;
  /** Who it is. */
  readonly info: AgentInfo;
  /** What it remembers. */
  readonly state: AgentState;
  /** Its tools and the life cycle of its middleware. */
  readonly tools: ToolRuntime;
  /** Single sinks, required ones first. */
  readonly sinks: readonly AgentEventSink[];
  /** Agent middleware that is active since the last start-up, outermost first. */
  agentLayers: readonly AgentLayer[];
  /** Model middleware that is active since the last start-up, outermost first. */
  modelLayers: readonly ModelLayer[];
  /** What context providers keep for the life of the agent. */
  readonly providerStates: ProviderStates;
}
