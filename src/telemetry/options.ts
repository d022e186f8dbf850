import type { Attributes, Meter, Tracer } from "@opentelemetry/api";
import type { Clock, Logger } from "../base/ports.ts";
import type { ContentKind } from "./content.ts";

/** What telemetry takes from outside. */
export interface TelemetryOptions {
  /** Where spans go. @default the global tracer provider's, looked up in the first run */
  readonly tracer?: Tracer;
  /** Where measurements go. @default the global meter provider's, looked up in the first run */
  readonly meter?: Meter;
  /**
   * Writes what was said into the spans: messages, instructions, tool
   * definitions, arguments, results. @default {false}
   */
  readonly captureContent?: boolean;
  /** Returns what to write instead of a piece of content; `undefined` leaves it out. */
  readonly redact?: (kind: ContentKind, value: unknown) => unknown;
  /** Records errors as events of the spans; their messages may carry content. @default {false} */
  readonly recordExceptions?: boolean;
  /** Written into every span. */
  readonly attributes?: Attributes;
  /** Gives the times. @default {systemClock} */
  readonly clock?: Clock;
  /** Told once if the tracer, the meter or `redact` throws. @default {consoleLogger} */
  readonly logger?: Logger;
}
