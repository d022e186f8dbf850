import { AgentStartupError } from "../pipeline/errors.ts";
import type { AgentCore } from "./core.ts";
import type { AgentResources } from "./lifecycle.ts";
import type { Operation } from "./operation.ts";
import { settleAll } from "./steering.ts";

/**
 * Starts the resources for an operation; an abort ends the wait, not the start-up.
 *
 * @throws What failed, unless the operation is aborted.
 */
export async function startWithin(
  resources: AgentResources,
  { cancellation }: Operation,
): Promise<void> {
  try {
    await cancellation.race(() => resources.startup());
  } catch (error) {
    if (!cancellation.aborted) throw error;
  }
}

/**
 * Starts the resources for a run; an aborted one goes on to its end without them.
 *
 * @throws {AgentStartupError} They cannot be started; names the steering that is lost with the run.
 */
export async function startUp(
  core: AgentCore,
  resources: AgentResources,
  operation: Operation,
): Promise<void> {
  try {
    await startWithin(resources, operation);
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
