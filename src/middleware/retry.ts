import { followSignal } from "../base/abort.ts";
import type { Complete } from "../base/complete.ts";
import { type Clock, randomIds, systemClock } from "../base/ports.ts";
import {
  requireInteger,
  requireNumber,
  requireObject,
} from "../base/require.ts";
import { ModelProviderError, ModelRateLimitError } from "../model/errors.ts";
import type { ModelMiddleware } from "../pipeline/middleware.ts";
import { type FirstStep, resumed } from "./first_step.ts";

/** One retry that is about to be waited for. */
export interface ModelRetry {
  /** Number of the retry, from 1. */
  readonly retry: number;
  /** Milliseconds until it is sent. */
  readonly delayMs: number;
  /** What made it necessary. */
  readonly error: ModelProviderError;
}

/** How {@linkcode retryModel} waits and when it gives up. */
export interface RetryModelOptions {
  /** Retries after the first request. @default {2} */
  readonly maxRetries?: number | undefined;
  /** Upper bound of the first wait, in milliseconds; it doubles with each retry. @default {500} */
  readonly initialDelayMs?: number | undefined;
  /** Upper bound of every wait that the provider does not ask for, in milliseconds. @default {8000} */
  readonly maxDelayMs?: number | undefined;
  /**
   * The longest wait that a provider may ask for, in milliseconds. If it asks
   * for more, the request fails at once.
   *
   * @default {60000}
   */
  readonly maxRetryAfterMs?: number | undefined;
  /** Told before each wait. */
  readonly onRetry?: ((retry: ModelRetry) => void) | undefined;
  /** Drives the waits. @default {systemClock} */
  readonly clock?: Clock | undefined;
  /** Spreads the waits: a number from 0 up to 1. @default a random one */
  readonly random?: (() => number) | undefined;
}

/**
 * Sends a model request again if it failed in a way that may pass.
 *
 * Waits a random time below a bound that doubles, but never less than the
 * provider asks for. An error that is not `retryable`, a used-up quota and an
 * answer of which a part was shown already are passed on. An abort ends the wait.
 * Every request counts in the usage of the run.
 *
 * @throws {TypeError} An option has the wrong type.
 * @throws {RangeError} An option is out of range.
 *
 * @example A provider that is busy for a moment
 * ```ts
 * import { Agent, ModelRateLimitError } from "@ejagent/core";
 * import { retryModel } from "@ejagent/core/middleware";
 * import { fail, ScriptedModel, text } from "@ejagent/core/testing";
 * import { equal } from "node:assert/strict";
 *
 * const model = new ScriptedModel([
 *   fail(new ModelRateLimitError("Slow down", { retryAfterMs: 10 })),
 *   text("Here I am"),
 * ]);
 * const agent = new Agent({
 *   agentId: "a",
 *   model,
 *   middleware: [retryModel({ initialDelayMs: 1 })],
 * });
 *
 * equal(await agent.runText("Hello?"), "Here I am");
 * ```
 *
 * @see RFC 9110, section 10.2.3, for `Retry-After`.
 */
export function retryModel(options: RetryModelOptions = {}): ModelMiddleware {
  const rules = retryRules(options);
  const { clock, onRetry } = rules;
  return {
    name: "retryModel",
    async *aroundModel(request, next) {
      for (let retry = 1;; retry += 1) {
        const stream = next(request);
        let first: FirstStep;
        try {
          first = await stream.next();
        } catch (error) {
          const delayMs = delayBefore(retry, error, rules);
          if (delayMs === null || request.signal.aborted) throw error;
          onRetry({ retry, delayMs, error: error as ModelProviderError });
          await pause(delayMs, { clock, signal: request.signal });
          continue;
        }
        return yield* resumed(first, stream);
      }
    },
  };
}

type RetryRules = Complete<RetryModelOptions>;

function retryRules(options: RetryModelOptions): RetryRules {
  const {
    maxRetries = 2,
    initialDelayMs = 500,
    maxDelayMs = 8000,
    maxRetryAfterMs = 60_000,
    onRetry = () => {},
    clock = systemClock,
    random = randomShare,
  } = requireObject("The options of retryModel()", options ?? {});
  return {
    maxRetries: requireInteger("maxRetries", maxRetries, 0),
    initialDelayMs: requireNumber("initialDelayMs", initialDelayMs, 0),
    maxDelayMs: requireNumber("maxDelayMs", maxDelayMs, 0),
    maxRetryAfterMs: requireNumber("maxRetryAfterMs", maxRetryAfterMs, 0),
    onRetry,
    clock,
    random,
  };
}

/** Milliseconds to wait before a retry; null if there is to be none. */
function delayBefore(
  retry: number,
  error: unknown,
  rules: RetryRules,
): number | null {
  const { maxRetries, initialDelayMs, maxDelayMs, maxRetryAfterMs } = rules;
  if (retry > maxRetries) return null;
  if (!(error instanceof ModelProviderError) || !error.retryable) return null;
  const asked = error instanceof ModelRateLimitError
    ? error.retryAfterMs ?? 0
    : 0;
  if (asked > maxRetryAfterMs) return null;
  const bound = Math.min(maxDelayMs, initialDelayMs * 2 ** (retry - 1));
  return Math.max(asked, bound * rules.random());
}

function pause(
  ms: number,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<void> {
  return new Promise((resolve, reject) => {
    const cancelTimer = clock.setTimer(ms, () => {
      unfollow();
      resolve();
    });
    const unfollow = followSignal(signal, (reason) => {
      cancelTimer();
      reject(reason);
    });
  });
}

// The source of ids is the one source of randomness there is: 32 bits of it will do.
function randomShare(): number {
  return parseInt(randomIds.next().slice(0, 8), 16) / 2 ** 32;
}
