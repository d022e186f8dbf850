import { isPromiseLike } from "./abort.ts";
import { errorText } from "./errors.ts";
import type { Logger } from "./ports.ts";

/**
 * Tells a hook of the application something. A hook that fails changes nothing:
 * what it was told about did nothing wrong.
 */
export function callHook(
  name: string,
  logger: Logger,
  call: () => unknown,
): void {
  const warn = (error: unknown) =>
    logger.warn(`${name} failed`, { error: errorText(error) });
  try {
    const pending = call();
    if (isPromiseLike(pending)) pending.then(undefined, warn);
  } catch (error) {
    warn(error);
  }
}
