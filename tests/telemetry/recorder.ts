import {
  type Attributes,
  type Context,
  type Span,
  SpanStatusCode,
  type Tracer,
} from "@opentelemetry/api";
import {
  AggregationTemporality,
  DataPointType,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SamplingDecision,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-base";
import type { Clock, Middleware } from "../../mod.ts";
import { RecordingLogger } from "../../src/testing/mod.ts";
import { telemetry, type TelemetryOptions } from "../../src/telemetry/mod.ts";

/** One measured histogram for one set of attributes. */
export interface Measured {
  readonly metric: string;
  readonly attributes: Attributes;
  readonly count: number;
  readonly sum: number;
}

/** Telemetry into the SDK, with exporters in memory. */
export interface Recorder {
  readonly middleware: Middleware;
  readonly logger: RecordingLogger;
  /** Makes more middleware that records into the same place. */
  telemetry(options?: TelemetryOptions): Middleware;
  /** How many spans were started, and how often `end` was called on one. */
  readonly counts: { readonly started: number; readonly ends: number };
  /** The ended spans in the order in which they were started. */
  spans(): ReadableSpan[];
  /** The one span of this name. */
  span(name: string): ReadableSpan;
  /** What a sampler was shown when the span was started. */
  startAttributes(name: string): Attributes;
  /** The ended spans as an indented tree, with `!type` for an error, `?type` for a cut. */
  tree(): string;
  /** What was measured, in the order of the metrics. */
  measurements(): Promise<Measured[]>;
  shutdown(): Promise<void>;
}

/** Makes a recorder. Each test shuts its own down, because the reader holds a timer. */
export function recorder(options: TelemetryOptions = {}): Recorder {
  const started: ReadableSpan[] = [];
  const sampled = new Map<string, Attributes>();
  const exporter = new InMemorySpanExporter();
  const provider = new BasicTracerProvider({
    sampler: {
      shouldSample(_context, _traceId, name, _kind, attributes) {
        sampled.set(name, { ...attributes });
        return { decision: SamplingDecision.RECORD_AND_SAMPLED };
      },
      toString: () => "all",
    },
    spanProcessors: [new SimpleSpanProcessor(exporter)],
  });
  const counts = { started: 0, ends: 0 };
  const tracer = counting(provider.getTracer("test"), (span) => {
    counts.started += 1;
    started.push(span as unknown as ReadableSpan);
  }, () => counts.ends += 1);

  const metricExporter = new InMemoryMetricExporter(
    AggregationTemporality.CUMULATIVE,
  );
  const reader = new PeriodicExportingMetricReader({
    exporter: metricExporter,
    exportIntervalMillis: 2 ** 30,
  });
  const meterProvider = new MeterProvider({ readers: [reader] });
  const meter = meterProvider.getMeter("test");
  const logger = new RecordingLogger();
  const make = (more: TelemetryOptions = {}) =>
    telemetry({ tracer, meter, logger, ...options, ...more });

  const spans = () => {
    const ended = exporter.getFinishedSpans();
    return started.filter((span) => ended.includes(span));
  };
  return {
    middleware: make(),
    telemetry: make,
    logger,
    counts,
    spans,
    span(name) {
      const found = spans().filter((span) => span.name === name);
      if (found.length !== 1) {
        throw new Error(`${found.length} spans are called ${name}`);
      }
      return found[0]!;
    },
    startAttributes: (name) => sampled.get(name) ?? {},
    tree: () => treeOf(spans()),
    async measurements() {
      await reader.forceFlush();
      return (metricExporter.getMetrics().at(-1)?.scopeMetrics ?? [])
        .flatMap(({ metrics }) => metrics)
        .flatMap(({ descriptor, dataPointType, dataPoints }) =>
          dataPointType === DataPointType.HISTOGRAM
            ? dataPoints.map(({ attributes, value }) => ({
              metric: descriptor.name,
              attributes,
              count: value.count,
              sum: value.sum ?? NaN,
            }))
            : []
        );
    },
    async shutdown() {
      await provider.shutdown();
      await meterProvider.shutdown();
    },
  };
}

/** A clock that goes on by so many milliseconds each time it is read. */
export function steppingClock(stepMs: number): Clock {
  let nowMs = 1_000_000;
  return { now: () => nowMs += stepMs, setTimer: () => () => {} };
}

function counting(
  tracer: Tracer,
  onStart: (span: Span) => void,
  onEnd: () => void,
): Tracer {
  return {
    startSpan(name, options, context?: Context) {
      const span = tracer.startSpan(name, options, context);
      const end = span.end.bind(span);
      span.end = (time) => {
        onEnd();
        end(time);
      };
      onStart(span);
      return span;
    },
    startActiveSpan: () => {
      throw new Error("Nothing may depend on an active span");
    },
  };
}

function treeOf(spans: readonly ReadableSpan[]): string {
  const ids = new Set(spans.map((span) => span.spanContext().spanId));
  const below = (parent: string | undefined, depth: number): string[] =>
    spans
      .filter(({ parentSpanContext: own }) =>
        own !== undefined && ids.has(own.spanId)
          ? own.spanId === parent
          : parent === undefined
      )
      .flatMap((span) => [
        "  ".repeat(depth) + span.name + markOf(span),
        ...below(span.spanContext().spanId, depth + 1),
      ]);
  return below(undefined, 0).join("\n");
}

function markOf({ status, attributes }: ReadableSpan): string {
  const type = attributes["error.type"];
  if (status.code === SpanStatusCode.ERROR) return ` !${type}`;
  return type === undefined ? "" : ` ?${type}`;
}
