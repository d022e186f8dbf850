import type { AgentEvent } from "../events/event.ts";
import type { AgentStream } from "./middleware.ts";

/**
 * Forwards the events of a run through a function and returns the result.
 *
 * A loop over the events of `next()` would lose the result; this does not.
 *
 * @param map Returns the event to show instead, or `undefined` to drop it.
 *
 * @example Hide what the model thinks
 * ```ts
 * import { mapEvents, type Middleware } from "@ejagent/core";
 *
 * const discreet: Middleware = {
 *   aroundRun: (request, next) =>
 *     mapEvents(
 *       next(request),
 *       (event) =>
 *         event.kind === "assistant_thinking_delta" ? undefined : event,
 *     ),
 * };
 * ```
 */
export async function* mapEvents(
  stream: AgentStream,
  map: (event: AgentEvent) => AgentEvent | undefined,
): AgentStream {
  try {
    for (;;) {
      const step = await stream.next();
      if (step.done) return step.value;
      const shown = map(step.value);
      if (shown !== undefined) yield shown;
    }
  } finally {
    // Without effect after the end; a reader that left early cancels the run.
    await stream.return(undefined as never);
  }
}
