import { AgentStartupError } from "../pipeline/errors.ts";
import type { AgentCore } from "./core.ts";
import type { AgentResources } from "./lifecycle.ts";
import type { Operation } from "./operation.ts";
import { settleAll } from "./steering.ts";

/**
 * Starts the resources for a run.
 *
 * @throws {AgentStartupError} They cannot be started; names the steering that is lost with the run.
 */
export async function startUp(
  core: AgentCore,
  resources: AgentResources,
  operation: Operation,
): Promise<void> {
  try {
    await resources.startup();
  } catch (error) {
    operation.closing = true;
    const lost = settleAll(operation.steering, {
      kind: "discarded",
      reason: "startup_failed",
    });
    if (lost.length > 0) {
      core.config.logger.warn(
        "Steering was lost because the agent could not start",
        { agentId: core.config.agentId, count: lost.length },
      );
    }
    throw new AgentStartupError(error, lost);
  }
}
