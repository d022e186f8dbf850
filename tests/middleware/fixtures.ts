import { ModelProviderError } from "../../mod.ts";

/** A failure that may pass. */
export function busy(message = "Busy"): ModelProviderError {
  return new ModelProviderError(message, { retryable: true, status: 503 });
}

/** The text deltas among events, in order. */
export function textDeltas(
  events: readonly { readonly kind: string; readonly delta?: unknown }[],
): unknown[] {
  return events.flatMap((event) =>
    event.kind === "assistant_text_delta" ? [event.delta] : []
  );
}
