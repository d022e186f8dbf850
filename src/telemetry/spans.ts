import {
  type Attributes,
  type Context,
  context as activeContext,
  ROOT_CONTEXT,
  type Span,
  type SpanKind,
  SpanStatusCode,
  trace,
  type Tracer,
} from "@opentelemetry/api";
import type { Clock } from "../base/ports.ts";
import type { RunScope } from "../base/scope.ts";
import type { Guard } from "./guard.ts";
import { ATTRIBUTE } from "./semconv.ts";

const contextKey = Symbol("ejagent.telemetry.context");

/** The context of the nearest span in a scope; the active one without any. */
export function contextOf(scope: RunScope): Context {
  return (scope.get(contextKey) as Context | undefined) ??
    activeContext.active();
}

/** How what a span describes came out. */
export interface SpanOutcome {
  /** What is known only now. */
  readonly attributes?: Attributes;
  /** Kind of failure, of few different values. */
  readonly errorType?: string | undefined;
  /** False for an end that has an error type but is nobody's mistake. @default {true} */
  readonly failed?: boolean;
  /** What was thrown, for programs that record exceptions. */
  readonly error?: unknown;
}

/** What a span is made of. */
export interface SpanStart {
  /** Its name. */
  readonly name: string;
  /** Its kind. */
  readonly kind: SpanKind;
  /** All that samplers may look at. */
  readonly attributes: Attributes;
  /** Where its parent is found, and where its children will find it. */
  readonly scope: RunScope;
  /** Called once, when it has ended after so many seconds. */
  readonly onEnd: (seconds: number, outcome: SpanOutcome) => void;
}

/** Makes spans. */
export interface SpanSource {
  /** Where they go. */
  readonly tracer: Tracer;
  /** Gives their times. */
  readonly clock: Clock;
  /** Contains what the tracer throws. */
  readonly guard: Guard;
  /** Whether errors are recorded as events, with their messages. */
  readonly recordExceptions: boolean;
}

/**
 * A span that ends exactly once and never throws.
 *
 * Its parent is looked up in the scope, because nothing carries the active span
 * where no context manager is registered; while it is open it is the parent of
 * what is started in its scope.
 */
export class OpenSpan {
  readonly #source: SpanSource;
  readonly #scope: RunScope;
  readonly #onEnd: SpanStart["onEnd"];
  readonly #outer: unknown;
  readonly #startMs: number;
  readonly #context: Context;
  readonly #span: Span | undefined;
  #ended = false;

  /** Starts the span. */
  constructor(source: SpanSource, start: SpanStart) {
    const { name, kind, attributes, scope } = start;
    const { tracer, clock, guard } = source;
    this.#source = source;
    this.#scope = scope;
    this.#onEnd = start.onEnd;
    this.#outer = scope.get(contextKey);
    this.#startMs = clock.now();
    const parent = guard.attempt(() => contextOf(scope)) ?? ROOT_CONTEXT;
    const options = { kind, attributes, startTime: this.#startMs };
    this.#span = guard.attempt(() => tracer.startSpan(name, options, parent));
    const own = this.#span;
    this.#context = own === undefined ? parent : trace.setSpan(parent, own);
    scope.set(contextKey, this.#context);
  }

  /** Milliseconds since the start. */
  get elapsedMs(): number {
    return Math.max(0, this.#source.clock.now() - this.#startMs);
  }

  /** Runs work with this span as the active one, for instrumentation inside it. */
  run<T>(work: () => T): T {
    return this.#source.guard.within(
      (inner) => activeContext.with(this.#context, inner),
      work,
    );
  }

  /** Ends the span; nothing if it has ended. */
  end(outcome: SpanOutcome): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#scope.set(contextKey, this.#outer);
    const { elapsedMs } = this;
    const { guard } = this.#source;
    // Two attempts: a span that takes no attribute is ended all the same.
    guard.attempt(() => this.#describe(outcome));
    guard.attempt(() => this.#span?.end(this.#startMs + elapsedMs));
    this.#onEnd(elapsedMs / 1000, outcome);
  }

  #describe(outcome: SpanOutcome): void {
    const { attributes, errorType, failed = true, error } = outcome;
    if (attributes !== undefined) this.#span?.setAttributes(attributes);
    if (errorType === undefined) return;
    this.#span?.setAttribute(ATTRIBUTE.errorType, errorType);
    if (!failed) return;
    if (error instanceof Error && this.#source.recordExceptions) {
      this.#span?.recordException(error);
    }
    this.#span?.setStatus({ code: SpanStatusCode.ERROR });
  }
}
