/**
 * OpenTelemetry for agents: runs, model requests and tool calls as spans and
 * measurements, named by the conventions for generative AI.
 *
 * Choose this entry when the program already traces; it brings the API of
 * OpenTelemetry and no SDK. To only watch a run, read its stream or add a sink.
 *
 * @example Trace every run
 * ```ts
 * import { Agent } from "@ejagent/core";
 * import { telemetry } from "@ejagent/core/telemetry";
 * import { ScriptedModel } from "@ejagent/core/testing";
 *
 * new Agent({
 *   agentId: "guide",
 *   model: new ScriptedModel([]),
 *   middleware: [telemetry()],
 * });
 * ```
 *
 * @module
 */
export type { ContentKind } from "./content.ts";
export { telemetry } from "./middleware.ts";
export type {
  HistogramMeter,
  SpanAttributes,
  SpanTracer,
  TelemetryOptions,
} from "./options.ts";
export { traceHeaders } from "./trace_headers.ts";
