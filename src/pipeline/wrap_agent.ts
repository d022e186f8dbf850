import type { AgentInfo } from "../messages/agent_info.ts";
import type { AgentLike } from "./agent_like.ts";
import {
  AgentPipelineError,
  type AgentRequest,
  type AgentStream,
} from "./middleware.ts";
import { PipelineAgent, type PipelineAgentOptions } from "./pipeline_agent.ts";

/**
 * Gives any agent a `use()` of its own: middleware around its runs.
 *
 * The wrapped agent is asked through its `stream`. Runs through one wrapper
 * happen one after the other; the agent itself stays as it was.
 *
 * @example Count the runs of an agent of somebody else
 * ```ts
 * import { Agent, wrapAgent } from "@ejagent/core";
 * import { ScriptedModel, text } from "@ejagent/core/testing";
 * import { equal } from "node:assert/strict";
 *
 * const model = new ScriptedModel([text("Hi")]);
 * let runs = 0;
 * const agent = wrapAgent(new Agent({ agentId: "greeter", model })).use({
 *   async *aroundRun(request, next) {
 *     runs += 1;
 *     return yield* next(request);
 *   },
 * });
 *
 * equal((await agent.run("Greet me")).output, "Hi");
 * equal(runs, 1);
 * ```
 */
export function wrapAgent(
  agent: AgentLike,
  options: PipelineAgentOptions = {},
): PipelineAgent {
  return new WrappedAgent(agent, options);
}

class WrappedAgent extends PipelineAgent {
  readonly #agent: AgentLike;

  constructor(agent: AgentLike, options: PipelineAgentOptions) {
    super(options);
    this.#agent = agent;
  }

  get info(): AgentInfo {
    return this.#agent.info;
  }

  // Leaving the iteration early makes the inner stream cancel its run.
  protected async *execute(request: AgentRequest): AgentStream {
    const { task, contextMessages, modelOptions, signal, scope } = request;
    if (task === undefined) {
      throw new AgentPipelineError("A wrapped agent can only run tasks");
    }
    const stream = this.#agent.stream(task, {
      contextMessages,
      modelOptions,
      signal,
      scope,
    });
    yield* stream;
    return await stream.finalResult();
  }
}
