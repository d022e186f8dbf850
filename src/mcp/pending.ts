import { followSignal } from "../base/abort.ts";

/**
 * Hands on a signal for as long as the work is pending; the work may abort what it gets.
 *
 * The SDK keeps its listener on a signal forever, and would cancel requests that
 * ended long ago.
 */
export async function whilePending<T>(
  signal: AbortSignal | undefined,
  work: (own: AbortController) => Promise<T>,
): Promise<T> {
  signal?.throwIfAborted();
  const controller = new AbortController();
  const unfollow = followSignal(
    signal,
    (reason) => controller.abort(reason),
  );
  try {
    return await work(controller);
  } catch (error) {
    // The SDK wraps the reason in an error of its own.
    throw signal?.aborted ? signal.reason : error;
  } finally {
    unfollow();
  }
}
