import { isPromiseLike } from "../base/abort.ts";
import { EJAgentError } from "../base/errors.ts";
import { requireType } from "../base/require.ts";
import { isStep, type ScriptRequest, type StepKinds } from "./steps.ts";

/** A step, or a function that makes it when its turn has come. */
export type ScriptItem<Step> =
  | Step
  | ((request: ScriptRequest) => Step | Promise<Step>);

/** Steps for successive requests, or one function that answers all of them. */
export type Script<Step> =
  | readonly ScriptItem<Step>[]
  | ((request: ScriptRequest) => Step | Promise<Step>);

/** The requests did not fit the script. */
export class ScriptError extends EJAgentError {
  /** Always `"script_mismatch"`. */
  override readonly code = "script_mismatch";
}

/** Hands out the steps of a script, one per request. */
export class ScriptPlayer<Step extends { readonly kind: string }> {
  readonly #kinds: StepKinds<Step>;
  readonly #items: ScriptItem<Step>[] = [];
  readonly #endless:
    | ((request: ScriptRequest) => Step | Promise<Step>)
    | undefined;
  readonly #mistakes: ScriptError[] = [];
  #played = 0;

  /** @throws {TypeError} No script, or one that holds something else than steps. */
  constructor(script: Script<Step>, kinds: StepKinds<Step>) {
    requireType(
      typeof script === "function" || Array.isArray(script),
      "A script",
      "a list of steps or a function",
    );
    this.#kinds = kinds;
    this.#endless = typeof script === "function" ? script : undefined;
    if (typeof script !== "function") this.push(...script);
  }

  /** Adds steps behind the others. @throws {TypeError} One is none. */
  push(...items: readonly ScriptItem<Step>[]): void {
    for (const item of items) {
      requireType(
        typeof item === "function" || isStep(item, this.#kinds),
        "What a script holds",
        `a step or a function that makes one; ${remedy}`,
      );
    }
    this.#items.push(...items);
  }

  /**
   * Takes the next step at once; a function is called with the request.
   *
   * @throws {ScriptError} If the script is over or makes something else than a step.
   */
  next(request: ScriptRequest): Step | Promise<Step> {
    const item = this.#items[this.#played] ?? this.#endless;
    if (item === undefined) {
      const error = new ScriptError(
        `Unexpected model request ${request.index + 1}: ` +
          `the script has ${count(this.#items.length, "step")}`,
      );
      this.note(error);
      throw error;
    }
    this.#played += 1;
    const step = typeof item === "function" ? item(request) : item;
    return isPromiseLike(step)
      ? step.then((made) => this.#requireStep(made, request))
      : this.#requireStep(step, request);
  }

  #requireStep(step: Step, { index }: ScriptRequest): Step {
    if (isStep(step, this.#kinds)) return step;
    const error = new ScriptError(
      `What the script makes for request ${index + 1} is no step; ${remedy}`,
    );
    this.note(error);
    throw error;
  }

  /** Keeps a script error for {@linkcode assertDone}, should a run swallow it. */
  note(error: unknown): void {
    if (error instanceof ScriptError) this.#mistakes.push(error);
  }

  /** @throws {ScriptError} If steps were left over or a request found none. */
  assertDone(): void {
    const [mistake] = this.#mistakes;
    if (mistake !== undefined) throw mistake;
    const left = this.#items.length - this.#played;
    if (left > 0) {
      throw new ScriptError(
        `The script was not played to its end: ${count(left, "step")} of ` +
          `${this.#items.length} left after ${count(this.#played, "request")}`,
      );
    }
  }
}

const remedy = "make one with text(), calls(), fail() or the like";

function count(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? "" : "s"}`;
}
