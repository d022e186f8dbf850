import { EJAgentError, errorText } from "../base/errors.ts";
import { frozenList } from "../base/freeze.ts";
import type { ControlInput } from "../messages/control.ts";

/** The resources of an agent could not be started; `cause` is the original error. */
export class AgentStartupError extends EJAgentError {
  /** Always `"agent_startup"`. */
  override readonly code = "agent_startup";
  /** Steering that was accepted while the agent started, and is lost. */
  readonly discardedSteering: readonly ControlInput[];

  /** Makes the error. @param cause What failed. */
  constructor(cause: unknown, discardedSteering: readonly ControlInput[] = []) {
    super(`The agent could not start: ${errorText(cause)}`, { cause });
    this.discardedSteering = frozenList(discardedSteering);
  }
}

/** Resources failed to shut down; the agent counts as stopped all the same. */
export class AgentShutdownError extends EJAgentError {
  /** Always `"agent_shutdown"`. */
  override readonly code = "agent_shutdown";
  /** Everything that failed, in the order of the attempts. */
  readonly errors: readonly unknown[];

  /** Makes the error. @param errors What failed; the first one becomes the cause. */
  constructor(errors: readonly unknown[]) {
    super(`Shutting down failed: ${errors.map(errorText).join("; ")}`, {
      cause: errors[0],
    });
    this.errors = frozenList(errors);
  }
}

/** The call needs an idle agent; wait with `waitForIdle()`. */
export class AgentBusyError extends EJAgentError {
  /** Always `"agent_busy"`. */
  override readonly code = "agent_busy";
}

/** An agent was asked from inside its own run to do what only happens after it. */
export class AgentReentrancyError extends EJAgentError {
  /** Always `"agent_reentrancy"`. */
  override readonly code = "agent_reentrancy";
}

/** The agent is shutting down; ask again when `shutdown()` has settled. */
export class AgentShuttingDownError extends EJAgentError {
  /** Always `"agent_shutting_down"`. */
  override readonly code = "agent_shutting_down";
}
