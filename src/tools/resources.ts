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
 * @param started Receives each that was started, also when a later one throws.
 * @throws What the first failing one throws.
 */
export async function startAll(
  resources: readonly Resource[],
  started: Resource[],
): Promise<void> {
  for (const resource of resources) {
    await resource.startup?.();
    started.push(resource);
  }
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
