import { propagation } from "@opentelemetry/api";
import type { RunScope } from "../base/scope.ts";
import { contextOf } from "./spans.ts";

/**
 * The headers that tell another service which span asks it.
 *
 * @param scope Scope of a run, a model request or a tool call.
 * @returns Empty without a propagator.
 */
export function traceHeaders(scope: RunScope): Record<string, string> {
  const headers: Record<string, string> = {};
  try {
    propagation.inject(contextOf(scope), headers);
  } catch {
    // A request without trace headers is better than none.
  }
  return headers;
}
