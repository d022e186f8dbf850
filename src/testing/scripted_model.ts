import type {
  ContextBuildResult,
  ModelAdapter,
  ModelCall,
  ModelResponse,
  ModelStreamEvent,
  ModelTarget,
} from "../model/adapter.ts";
import { ModelProtocolError } from "../model/errors.ts";
import { type Script, type ScriptItem, ScriptPlayer } from "./script.ts";
import { playStep, scriptKinds, type ScriptStep } from "./steps.ts";

/** One request that a {@linkcode ScriptedModel} got. */
export interface ScriptedRequest {
  /** What was asked; not copied. */
  readonly context: ContextBuildResult;
  /** Signal and options of the request. */
  readonly call: ModelCall;
  /** Which method was used. */
  readonly method: "stream" | "complete";
}

/** How a {@linkcode ScriptedModel} behaves apart from its script. */
export interface ScriptedModelOptions {
  /** Leaves out `stream`, so that the model can only be asked for whole answers. @default {false} */
  readonly completeOnly?: boolean | undefined;
  /** Where requests seem to go. @default `{ provider: "scripted" }` */
  readonly target?: ModelTarget | undefined;
}

/**
 * A model adapter whose successive requests play the steps of a script.
 *
 * A request beyond the script fails with a `ScriptError`; since a run turns that
 * into a failed result, {@linkcode assertDone} throws it again. Only a
 * {@linkcode block} watches the signal, all other steps are played to their end
 * whatever happens around them.
 *
 * @example A tool turn, then a text
 * ```ts
 * import { Agent, defineTool } from "@ejagent/core";
 * import { calls, ScriptedModel, text } from "@ejagent/core/testing";
 * import { equal } from "node:assert/strict";
 *
 * const model = new ScriptedModel([
 *   calls([{ name: "add", arguments: { a: 1, b: 2 } }]),
 *   text("It is 3"),
 * ]);
 * const add = defineTool({
 *   name: "add",
 *   description: "Adds two numbers.",
 *   parameters: {
 *     type: "object",
 *     properties: { a: { type: "number" }, b: { type: "number" } },
 *     required: ["a", "b"],
 *   },
 *   execute: ({ a, b }) => a + b,
 * });
 * const agent = new Agent({ agentId: "a", model, tools: [add] });
 *
 * equal(await agent.runText("How much is 1 + 2?"), "It is 3");
 * equal(model.contexts[1]?.llmMessages.at(-1)?.role, "tool");
 * model.assertDone();
 * ```
 */
export class ScriptedModel implements ModelAdapter {
  /** Where requests seem to go. */
  readonly target: ModelTarget;
  /** Yields the events of the next step; absent if the model is complete-only. */
  readonly stream?: (
    context: ContextBuildResult,
    call: ModelCall,
  ) => AsyncIterable<ModelStreamEvent>;
  readonly #player: ScriptPlayer<ScriptStep>;
  readonly #requests: ScriptedRequest[] = [];
  #startupCount = 0;
  #shutdownCount = 0;

  /**
   * Starts at the first step.
   *
   * @param script Steps in the order of the requests, or a function that answers every request.
   * @throws {TypeError} It is neither, or holds something that is no step.
   */
  constructor(
    script: Script<ScriptStep>,
    options: ScriptedModelOptions = {},
  ) {
    this.#player = new ScriptPlayer(script, scriptKinds);
    this.target = options.target ?? { provider: "scripted" };
    if (!options.completeOnly) {
      this.stream = (context, call) => this.#play(context, call, "stream");
    }
  }

  /** All requests so far, in order, unexpected ones included. */
  get requests(): readonly ScriptedRequest[] {
    return this.#requests;
  }

  /** What was asked, in order. */
  get contexts(): readonly ContextBuildResult[] {
    return this.#requests.map((request) => request.context);
  }

  /** How often the model was started. */
  get startupCount(): number {
    return this.#startupCount;
  }

  /** How often the model was shut down. */
  get shutdownCount(): number {
    return this.#shutdownCount;
  }

  /** Adds steps behind the others. */
  push(...items: readonly ScriptItem<ScriptStep>[]): void {
    this.#player.push(...items);
  }

  /** Checks the end of a test. @throws {ScriptError} Steps were left over or a request found none. */
  assertDone(): void {
    this.#player.assertDone();
  }

  /** Counts. */
  startup(): Promise<void> | void {
    this.#startupCount += 1;
  }

  /** Counts. */
  shutdown(): Promise<void> | void {
    this.#shutdownCount += 1;
  }

  /** Plays the next step and returns its answer; deltas are dropped. */
  async complete(
    context: ContextBuildResult,
    call: ModelCall,
  ): Promise<ModelResponse> {
    for await (const event of this.#play(context, call, "complete")) {
      if (event.kind !== "completed") continue;
      const { message, usage = null, finishReason = null } = event;
      return { message, usage, finishReason };
    }
    throw new ModelProtocolError("The scripted events end without an answer");
  }

  // Recorded and taken from the script at the call, not at the first pull.
  #play(
    context: ContextBuildResult,
    call: ModelCall,
    method: ScriptedRequest["method"],
  ): AsyncIterable<ModelStreamEvent> {
    const request = {
      index: this.#requests.length,
      messages: context.llmMessages,
      tools: context.tools,
      signal: call.signal,
    };
    this.#requests.push({ context, call, method });
    const next = attempt(() => this.#player.next(request));
    return (async function* () {
      yield* playStep(await next, request);
    })();
  }
}

/** A rejection waits here for the first pull, without counting as unhandled. */
function attempt<T>(work: () => T | Promise<T>): Promise<T> {
  const outcome = (async () => await work())();
  outcome.catch(() => {});
  return outcome;
}
