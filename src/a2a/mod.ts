/**
 * Agents of others over the network: the Agent2Agent protocol, version 1.0, with
 * its JSON-RPC binding.
 *
 * {@linkcode A2AAgent} asks a remote agent as if it were a local one;
 * {@linkcode createA2AHandler} serves an agent to whoever speaks the protocol.
 * Choose this entry between programs of different owners; to show a run to a
 * front end of your own, `@ejagent/core/http` is simpler and shows more.
 *
 * @example Ask a remote agent
 * ```ts ignore
 * import { A2AAgent } from "@ejagent/core/a2a";
 *
 * const agent = new A2AAgent({
 *   agentId: "translator",
 *   cardUrl: "https://translator.example/.well-known/agent-card.json",
 *   headers: () => ({ authorization: "Bearer ..." }),
 * });
 * console.log((await agent.run("Translate: good morning")).output);
 * ```
 *
 * @module
 */
export { A2AAgent, type A2AAgentOptions, type A2AAgentState } from "./agent.ts";
export { A2AError } from "./errors.ts";
export type { FetchLike } from "./exchange.ts";
export {
  type A2ACardInput,
  type A2AHandlerOptions,
  createA2AHandler,
} from "./handler.ts";
export { type A2ATaskStore, MemoryTaskStore } from "./tasks.ts";
export type {
  A2AAgentCard,
  A2AArtifact,
  A2AInterface,
  A2AMessage,
  A2APart,
  A2ASkill,
  A2ATask,
  A2ATaskState,
  A2ATaskStatus,
} from "./wire.ts";
