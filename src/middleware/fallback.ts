import { closeIterator } from "../base/abort.ts";
import { requireMethods } from "../base/require.ts";
import {
  type ModelAdapter,
  type ModelRequest,
  type ModelStream,
  UNKNOWN_TARGET,
} from "../model/adapter.ts";
import { ModelProviderError } from "../model/errors.ts";
import { modelStreamOf } from "../model/fold.ts";
import { REQUEST_METER, type RequestMeter } from "../model/meter.ts";
import type { ModelMiddleware } from "../pipeline/middleware.ts";
import { type FirstStep, resumed } from "./first_step.ts";

/** When {@linkcode fallbackModel} changes over. */
export interface FallbackModelOptions {
  /**
   * Decides whether another model is to be asked.
   *
   * @default Any `ModelProviderError` but an overflow, which the agent mends itself
   */
  readonly when?: ((error: unknown) => boolean) | undefined;
  /** Told before the other model is asked. */
  readonly onFallback?: ((error: unknown) => void) | undefined;
}

/**
 * Asks another model if the agent's own fails.
 *
 * Only before any part of an answer was shown. The other model is asked by each
 * request anew and is started and shut down with the agent. The requests of both
 * count in the usage of the run.
 *
 * @throws {TypeError} `model` is no model adapter.
 *
 * @example A second model in reserve
 * ```ts
 * import { Agent, ModelProviderError } from "@ejagent/core";
 * import { fallbackModel } from "@ejagent/core/middleware";
 * import { fail, ScriptedModel, text } from "@ejagent/core/testing";
 * import { equal } from "node:assert/strict";
 *
 * const reserve = new ScriptedModel([text("Here is the reserve")]);
 * const agent = new Agent({
 *   agentId: "a",
 *   model: new ScriptedModel([fail(new ModelProviderError("Down"))]),
 *   middleware: [fallbackModel(reserve)],
 * });
 *
 * equal(await agent.runText("Hello?"), "Here is the reserve");
 * ```
 */
export function fallbackModel(
  model: ModelAdapter,
  options: FallbackModelOptions = {},
): ModelMiddleware {
  requireMethods("The fallback model", model, ["complete"]);
  const { when = isFailureOfProvider, onFallback = () => {} } = options;
  return {
    name: "fallbackModel",
    startup: async () => await model.startup?.(),
    shutdown: async () => await model.shutdown?.(),
    async *aroundModel(request, next) {
      const stream = next(request);
      let first: FirstStep;
      try {
        first = await stream.next();
      } catch (error) {
        if (request.signal.aborted || !when(error)) throw error;
        onFallback(error);
        return yield* ask(model, request);
      }
      return yield* resumed(first, stream);
    },
  };
}

async function* ask(model: ModelAdapter, request: ModelRequest): ModelStream {
  const meter = request.scope.get(REQUEST_METER) as RequestMeter | undefined;
  const target = model.target ?? UNKNOWN_TARGET;
  const stream = modelStreamOf(model, { ...request, target });
  let started = false;
  meter?.requestStarted();
  try {
    for (;;) {
      const step = await stream.next();
      if (step.done) {
        meter?.reported(step.value.usage);
        return step.value;
      }
      started = true;
      yield step.value;
    }
  } catch (error) {
    meter?.requestFailed(error, started);
    throw error;
  } finally {
    closeIterator(stream);
  }
}

function isFailureOfProvider(error: unknown): boolean {
  return error instanceof ModelProviderError &&
    error.kind !== "context_overflow";
}
