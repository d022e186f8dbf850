import {
  type Attributes,
  type Meter,
  metrics,
  SpanKind,
  trace,
  type Tracer,
} from "@opentelemetry/api";
import { type Clock, consoleLogger, systemClock } from "../base/ports.ts";
import { requireObject } from "../base/require.ts";
import type { RunScope } from "../base/scope.ts";
import type { AgentInfo } from "../messages/agent_info.ts";
import type { ModelUsage } from "../messages/usage.ts";
import type { ModelRequest, ModelStream } from "../model/adapter.ts";
import type { ModelNext } from "../model/layer.ts";
import type {
  AgentNext,
  AgentRequest,
  AgentStream,
  Middleware,
} from "../pipeline/middleware.ts";
import type { ToolCallContext, ToolNext } from "../tools/middleware.ts";
import type { StepOutcome } from "../tools/outcome.ts";
import {
  agentAttributes,
  agentName,
  outcomeErrorType,
  requestAttributes,
  responseAttributes,
  resultAttributes,
  targetAttributes,
  toolAttributes,
} from "./attributes.ts";
import {
  argumentsContent,
  type Content,
  contentAttributes,
  type ContentKind,
  outcomeContent,
  requestContent,
  responseContent,
  resultContent,
  taskContent,
} from "./content.ts";
import { Guard } from "./guard.ts";
import { Measurements } from "./metrics.ts";
import type { TelemetryOptions } from "./options.ts";
import { ATTRIBUTE, INSTRUMENTATION, OPERATION } from "./semconv.ts";
import { CUT_OFF, observe, OpenRun, thrown, whenAbandoned } from "./observe.ts";
import {
  OpenSpan,
  type SpanOutcome,
  type SpanSource,
  type SpanStart,
} from "./spans.ts";

/**
 * Makes middleware that describes runs, model requests and tool calls as spans
 * and measurements of OpenTelemetry.
 *
 * `invoke_agent` is the parent of `chat` and `execute_tool`; a run that a tool
 * starts hangs below the call. Without an SDK nothing is recorded; nothing that
 * the SDK throws reaches the run. Each span ends exactly once; what a run
 * abandoned ends with the run, with the error type `"cancelled"`.
 *
 * What is measured depends on the place: first in the list covers other
 * middleware, its short-circuits, policy and the wait for approvals.
 *
 * `error.type` is, for `invoke_agent`, the stop reason of a failed run; for
 * `chat`, `context_overflow`, `rate_limit`, `timeout`, `authentication` or
 * `provider_error`; for `execute_tool`, the `code` of an error result,
 * `tool_rejected` or `tool_cancelled`; for anything else that was thrown, the
 * name of its class; `cancelled` for what an abort or a reader that left cut off.
 *
 * @example Trace an agent
 * ```ts
 * import { Agent } from "@ejagent/core";
 * import { telemetry } from "@ejagent/core/telemetry";
 * import { ScriptedModel, text } from "@ejagent/core/testing";
 * import { equal } from "node:assert/strict";
 *
 * const agent = new Agent({
 *   agentId: "guide",
 *   model: new ScriptedModel([text("Hi")]),
 *   middleware: [telemetry({ attributes: { "deployment.environment": "test" } })],
 * });
 *
 * equal(await agent.runText("Hello"), "Hi");
 * ```
 */
export function telemetry(options: TelemetryOptions = {}): Middleware {
  return new Telemetry(
    requireObject("The options of telemetry()", options ?? {}),
  );
}

const cancelledRun: SpanOutcome = {
  attributes: {
    [ATTRIBUTE.runStatus]: "cancelled",
    [ATTRIBUTE.runStopReason]: "external_abort",
  },
};

class Telemetry implements Middleware {
  readonly name = "telemetry";
  readonly #options: TelemetryOptions;
  readonly #clock: Clock;
  readonly #guard: Guard;
  #spans: SpanSource | undefined;
  #measurements: Measurements | undefined;

  constructor(options: TelemetryOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#guard = new Guard(options.logger ?? consoleLogger);
  }

  async *aroundRun(request: AgentRequest, next: AgentNext): AgentStream {
    const { agent, scope, signal } = request;
    const run = new OpenRun();
    scope.set(this, run);
    const span = this.#open({
      name: `${OPERATION.agent} ${agentName(agent)}`,
      kind: agent.remote ? SpanKind.CLIENT : SpanKind.INTERNAL,
      attributes: {
        ...agentAttributes(agent),
        ...this.#content(() => taskContent(request.task)),
      },
      scope,
      onEnd: (seconds, outcome) => {
        unwatch();
        run.cutOff();
        this.#measureRun(agent, run, { seconds, outcome });
      },
    });
    const unwatch = whenAbandoned(
      signal,
      this.#clock,
      () => span.end(cancelledRun),
    );
    return yield* observe(span, next(request), {
      signal,
      cutOff: cancelledRun,
      outcomeOf: (result) => ({
        attributes: {
          ...resultAttributes(result),
          ...this.#content(() => resultContent(result)),
        },
        errorType: result.status === "failed" ? result.stopReason : undefined,
      }),
    });
  }

  async *aroundModel(request: ModelRequest, next: ModelNext): ModelStream {
    const { target, signal } = request;
    const dimensions = targetAttributes(target);
    const run = this.#runOf(request.scope);
    if (run !== undefined) run.inferenceCalls += 1;
    const span = this.#open({
      name: target.model === undefined
        ? OPERATION.chat
        : `${OPERATION.chat} ${target.model}`,
      kind: SpanKind.CLIENT,
      attributes: {
        ...requestAttributes(request),
        ...this.#content(() => requestContent(request)),
      },
      scope: request.scope,
      run,
      onEnd: (seconds, outcome) =>
        this.#meter.record("operationDuration", seconds, {
          ...dimensions,
          ...errorDimension(outcome),
        }),
    });
    let firstMs: number | undefined;
    return yield* observe(span, next(request), {
      signal,
      cutOff: CUT_OFF,
      onItem: () => firstMs ??= span.elapsedMs,
      outcomeOf: (response) => {
        this.#measureTokens(response.usage, dimensions);
        return {
          attributes: {
            ...responseAttributes(response, firstMs),
            ...this.#content(() => responseContent(response)),
          },
        };
      },
    });
  }

  async aroundTool(
    context: ToolCallContext,
    next: ToolNext,
  ): Promise<StepOutcome> {
    const { agent, toolName, scope } = context;
    const run = this.#runOf(scope);
    if (run !== undefined) run.toolCalls += 1;
    const span = this.#open({
      name: `${OPERATION.tool} ${toolName}`,
      kind: SpanKind.INTERNAL,
      attributes: {
        ...toolAttributes(context),
        ...this.#content(() => argumentsContent(context)),
      },
      scope,
      run,
      onEnd: (seconds, outcome) =>
        this.#meter.record("toolDuration", seconds, {
          [ATTRIBUTE.toolName]: toolName,
          [ATTRIBUTE.toolType]: "function",
          [ATTRIBUTE.agentName]: agentName(agent),
          ...errorDimension(outcome),
        }),
    });
    try {
      const outcome = await span.run(() => next(context));
      span.end({
        attributes: this.#content(() => outcomeContent(outcome)),
        errorType: outcomeErrorType(outcome),
      });
      return outcome;
    } catch (error) {
      span.end(context.signal.aborted ? CUT_OFF : thrown(error));
      throw error;
    }
  }

  #open(start: SpanStart & { readonly run?: OpenRun | undefined }): OpenSpan {
    // Looked up late: programs may register their providers after making the agent.
    this.#spans ??= {
      tracer: this.#options.tracer as Tracer | undefined ??
        trace.getTracer(INSTRUMENTATION.name, INSTRUMENTATION.version),
      clock: this.#clock,
      guard: this.#guard,
      recordExceptions: this.#options.recordExceptions ?? false,
    };
    const span = new OpenSpan(this.#spans, {
      ...start,
      attributes: { ...this.#options.attributes, ...start.attributes },
      onEnd: (seconds, outcome) => {
        start.run?.remove(span);
        start.onEnd(seconds, outcome);
      },
    });
    start.run?.add(span);
    return span;
  }

  get #meter(): Measurements {
    return this.#measurements ??= new Measurements(
      () =>
        this.#options.meter as Meter | undefined ??
          metrics.getMeter(INSTRUMENTATION.name, INSTRUMENTATION.version),
      this.#guard,
    );
  }

  /** The run that a model request or a tool call belongs to, if it passed through here. */
  #runOf(scope: RunScope): OpenRun | undefined {
    return scope.get(this) as OpenRun | undefined;
  }

  #content(contents: () => readonly Content[]): Attributes {
    const { captureContent = false, redact = asItIs } = this.#options;
    if (!captureContent) return {};
    return this.#guard.attempt(() => contentAttributes(contents(), redact)) ??
      {};
  }

  #measureRun(
    agent: AgentInfo,
    run: OpenRun,
    end: { readonly seconds: number; readonly outcome: SpanOutcome },
  ): void {
    const dimensions = { [ATTRIBUTE.agentName]: agentName(agent) };
    this.#meter.record("agentDuration", end.seconds, {
      ...dimensions,
      ...(agent.model !== undefined &&
        { [ATTRIBUTE.requestModel]: agent.model }),
      ...errorDimension(end.outcome),
    });
    // What a remote agent does for its answer is not known here.
    if (agent.remote) return;
    this.#meter.record("inferenceCalls", run.inferenceCalls, dimensions);
    this.#meter.record("toolCalls", run.toolCalls, dimensions);
  }

  #measureTokens(
    usage: ModelUsage | null | undefined,
    dimensions: Attributes,
  ): void {
    if (!usage) return;
    const { inputTokens, outputTokens } = usage;
    for (
      const [type, count] of [
        ["input", inputTokens],
        ["output", outputTokens],
      ] as const
    ) {
      this.#meter.record("tokenUsage", count, {
        ...dimensions,
        [ATTRIBUTE.tokenType]: type,
      });
    }
  }
}

function errorDimension({ errorType }: SpanOutcome): Attributes {
  return errorType === undefined ? {} : { [ATTRIBUTE.errorType]: errorType };
}

function asItIs(_kind: ContentKind, value: unknown): unknown {
  return value;
}
