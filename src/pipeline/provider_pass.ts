import type { Cancellation } from "../base/abort.ts";
import { withDeadline } from "../base/deadline.ts";
import { errorText } from "../base/errors.ts";
import { frozenList } from "../base/freeze.ts";
import type { JsonValue } from "../base/json.ts";
import type { Clock, Logger } from "../base/ports.ts";
import {
  type ContextAddition,
  type ContextProvider,
  type ContextRun,
  type ContextRunBase,
  openContextRun,
} from "./context_provider.ts";
import type { RunOutcome } from "./history.ts";

/** Private state of each provider of an agent, by source id. */
export type ProviderStates = Map<string, Record<string, JsonValue>>;

/** What a pass over the providers of one run needs. */
export interface ProviderPassOptions {
  /** Asked in this order. */
  readonly providers: readonly ContextProvider[];
  /** Lives as long as the agent. */
  readonly states: ProviderStates;
  /** What all providers are told. */
  readonly base: ContextRunBase;
  /** True in front of an agent that only messages can reach. @default {false} */
  readonly messagesOnly?: boolean | undefined;
  /** Milliseconds that each `afterRun` gets. */
  readonly timeoutMs: number;
  /** Drives the bound. */
  readonly clock: Clock;
  /** Told about `afterRun` calls that fail. */
  readonly logger: Logger;
}

interface Visited {
  readonly provider: ContextProvider;
  readonly run: ContextRun;
}

/** Takes one run through the context providers: forward before it, backward after it. */
export class ProviderPass {
  readonly #options: ProviderPassOptions;
  readonly #visited: Visited[] = [];

  /** Nothing is called yet. */
  constructor(options: ProviderPassOptions) {
    this.#options = options;
  }

  /**
   * Asks every provider what it adds, one after the other.
   *
   * @throws What the first failing provider threw; later ones are not asked.
   */
  async before(
    cancellation: Pick<Cancellation, "signal" | "race">,
  ): Promise<readonly ContextAddition[]> {
    const { providers, states, base, messagesOnly = false } = this.#options;
    const additions: ContextAddition[] = [];
    for (const provider of providers) {
      const { sourceId } = provider;
      if (!states.has(sourceId)) states.set(sourceId, {});
      const opened = openContextRun(base, {
        sourceId,
        state: states.get(sourceId)!,
        contributions: frozenList(additions),
        signal: cancellation.signal,
        messagesOnly,
      });
      try {
        await cancellation.race(() => provider.beforeRun?.(opened.run));
      } finally {
        const addition = opened.close();
        additions.push(addition);
      }
      this.#visited.push({ provider, run: opened.run });
    }
    return additions;
  }

  /** Tells every provider that was passed what the run came to, the last one first. */
  async after(outcome: RunOutcome): Promise<void> {
    const { clock, timeoutMs, logger } = this.#options;
    for (const { provider, run } of this.#visited.reverse()) {
      if (provider.afterRun === undefined) continue;
      const what = `afterRun of context provider "${provider.sourceId}"`;
      try {
        await withDeadline(
          (signal) => provider.afterRun!({ ...run, signal }, outcome),
          { clock, ms: timeoutMs, what },
        );
      } catch (error) {
        logger.warn(`${what} failed`, { error: errorText(error) });
      }
    }
  }
}
