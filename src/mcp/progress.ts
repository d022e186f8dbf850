import { detach } from "../base/abort.ts";
import type { ToolProgressReporter } from "../tools/progress.ts";
import type { McpProgress } from "./protocol.ts";

const mostWaiting = 64;

/**
 * Hands the reports of a server to the observers of a call.
 *
 * A server may report faster than observers take it in; then only so many reports wait
 * for them, and of the others the newest one.
 */
export function progressRelay(
  reporter: ToolProgressReporter,
): (progress: McpProgress) => void {
  let waitingCount = 0;
  let newest: McpProgress | undefined;

  function deliver(progress: McpProgress): void {
    waitingCount += 1;
    detach(reporter.report(updateOf(progress)).then(proceed, proceed));
  }

  function proceed(): void {
    waitingCount -= 1;
    if (newest === undefined) return;
    const next = newest;
    newest = undefined;
    deliver(next);
  }

  return (progress) => {
    if (waitingCount < mostWaiting) deliver(progress);
    else newest = progress;
  };
}

function updateOf({ progress, total, message }: McpProgress) {
  const data = total === undefined ? { progress } : { progress, total };
  const count = total === undefined ? `${progress}` : `${progress}/${total}`;
  return { message: message || count, data };
}
