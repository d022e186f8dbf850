import { isPromiseLike } from "../base/abort.ts";
import { errorText } from "../base/errors.ts";
import type { Logger } from "../base/ports.ts";

/**
 * Tells a hook of the application something. A hook that fails changes nothing: the
 * server that it was told about did nothing wrong.
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
