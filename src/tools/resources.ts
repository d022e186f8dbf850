import { AgentCancelledError } from "../base/abort.ts";
import { errorText } from "../base/errors.ts";
import type { Logger } from "../base/ports.ts";

/** A handler or a middleware, as far as its life goes. */
export interface Resource {
  /** Makes it ready. */
  startup?(): void | Promise<void>;
  /** Gives back what `startup` took. */
  shutdown?(): void | Promise<void>;
  /** Told that a run begins. */
  onTaskStart?(): void | Promise<void>;
}

/**
 * Starts resources one after the other.
 *
 * @param started Holds each that starts or was started, also when a later one throws.
 * Whoever empties it meanwhile ends the start-up, and shuts down what was in it.
 * @throws What the first failing one throws.
 */
export async function startAll(
  resources: readonly Resource[],
  started: Resource[],
): Promise<void> {
  for (const resource of resources) {
    started.push(resource);
    try {
      await resource.startup?.();
    } catch (error) {
      started.pop();
      throw error;
    }
    if (started.includes(resource)) continue;
    // It is up only now, so its shutdown has come too early.
    started.push(resource);
    throw startUpEnded();
  }
}

/** Why a start-up fails that a shutdown ended. */
export function startUpEnded(): AgentCancelledError {
  return new AgentCancelledError("A shutdown ended the start-up");
}

/** Tells resources in order that a run begins. @throws What the first failing one throws. */
export async function announceTask(
  resources: readonly Resource[],
): Promise<void> {
  for (const resource of resources) await resource.onTaskStart?.();
}

/** Shuts all of them down, last first. @returns What went wrong, in the order of the attempts. */
export async function shutDownAll(
  resources: readonly Resource[],
): Promise<readonly unknown[]> {
  const errors: unknown[] = [];
  for (const resource of [...resources].reverse()) {
    try {
      await resource.shutdown?.();
    } catch (error) {
      errors.push(error);
    }
  }
  return errors;
}

/** Shuts down what a failed start-up had started. What goes wrong is logged, with `details`. */
export async function rollBack(
  resources: readonly Resource[],
  logger: Logger,
  details?: Readonly<Record<string, unknown>>,
): Promise<void> {
  for (const error of await shutDownAll(resources)) {
    logger.warn("A resource failed to shut down", {
      ...details,
      error: errorText(error),
    });
  }
}
