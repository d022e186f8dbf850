import { abortReasonText, type Cancellation } from "../base/abort.ts";
import type { AgentEvent } from "../events/event.ts";
import { type AgentRunResult, runResult } from "../messages/result.ts";
import { type AgentStream, requireResult } from "./middleware.ts";

/** How the stream of a run is driven. */
export interface DriveOptions {
  /** Decides whether the run is cancelled. */
  readonly cancellation: Cancellation;
  /** Gets every event that leaves the outermost layer. */
  readonly observe: ((event: AgentEvent) => void) | undefined;
  /** What layers are waited for, even after an abort: runs that settle by themselves. */
  readonly inner?: ReadonlySet<Promise<unknown>> | undefined;
}

/**
 * Opens the stream of a run and pulls it to its end, at full speed.
 *
 * Layers that ignore an abort are given up when its grace is over.
 *
 * @returns What the outermost layer returned, or a cancelled result.
 * @throws What a layer threw, unless the run is aborted by then.
 */
export async function driveStream(
  open: () => AgentStream,
  options: DriveOptions,
): Promise<AgentRunResult> {
  const { cancellation } = options;
  try {
    return await orAbandoned(pump(open, options.observe), options);
  } catch (error) {
    if (!cancellation.aborted) throw error;
    return cancelledResult(cancellation.reason);
  }
}

/** The result of a run that was aborted before anything came of it. */
export function cancelledResult(reason: unknown): AgentRunResult {
  return runResult({
    stopReason: "external_abort",
    error: abortReasonText(reason),
  });
}

async function pump(
  open: () => AgentStream,
  observe: ((event: AgentEvent) => void) | undefined,
): Promise<AgentRunResult> {
  const stream = open();
  for (;;) {
    const step = await stream.next();
    if (step.done) return requireResult(step.value);
    observe?.(step.value);
  }
}

function orAbandoned(
  pumping: Promise<AgentRunResult>,
  { cancellation, inner = new Set() }: DriveOptions,
): Promise<AgentRunResult> {
  return new Promise((resolve, reject) => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let ended = false;
    const forget = cancellation.onExpired(async () => {
      await Promise.allSettled(inner);
      if (ended) return;
      // Layers whose core has just settled get their turn first.
      timer = setTimeout(() => resolve(cancelledResult(cancellation.reason)));
    });
    pumping.then(resolve, reject).finally(() => {
      ended = true;
      clearTimeout(timer);
      forget();
    });
  });
}
