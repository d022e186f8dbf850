import type { Clock, Logger } from "../base/ports.ts";
import type { ContentKind } from "./content.ts";

/**
 * A `Tracer` of OpenTelemetry.
 *
 * Only its shape is asked for, so that programs may bring another copy of the API.
 */
export interface SpanTracer {
  /** Starts a span. */
  startSpan(name: string, options?: object, context?: object): object;
}

/** A `Meter` of OpenTelemetry, likewise. */
export interface HistogramMeter {
  /** Creates a histogram. */
  createHistogram(name: string, options?: object): object;
}

/** What is written into spans, by the names of attributes. */
export type SpanAttributes = Readonly<
  Record<string, string | number | boolean | string[] | number[] | boolean[]>
>;

/** What telemetry takes from outside. */
export interface TelemetryOptions {
  /** Where spans go. @default the global tracer provider's, looked up in the first run */
  readonly tracer?: SpanTracer | undefined;
  /** Where measurements go. @default the global meter provider's, looked up in the first run */
  readonly meter?: HistogramMeter | undefined;
  /**
   * Writes what was said into the spans: messages, instructions, tool
   * definitions, arguments, results. @default {false}
   */
  readonly captureContent?: boolean | undefined;
  /** Returns what to write instead of a piece of content; `undefined` leaves it out. */
  readonly redact?:
    | ((kind: ContentKind, value: unknown) => unknown)
    | undefined;
  /** Records errors as events of the spans; their messages may carry content. @default {false} */
  readonly recordExceptions?: boolean | undefined;
  /** Written into every span. */
  readonly attributes?: SpanAttributes | undefined;
  /** Gives the times. @default {systemClock} */
  readonly clock?: Clock | undefined;
  /** Told once if the tracer, the meter or `redact` throws. @default {consoleLogger} */
  readonly logger?: Logger | undefined;
}
