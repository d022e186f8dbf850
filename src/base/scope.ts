/**
 * A bag of values that belongs to one run, one model request or one tool call
 * and sees what its parents hold.
 *
 * Middleware objects are shared by runs, so whatever belongs to a single run
 * lives here. It is handed on explicitly; nothing relies on asynchronous
 * context, which is not a web standard. Use symbols as keys to stay apart from
 * others.
 *
 * @example Children read their parents and write for themselves
 * ```ts
 * import { RunScope } from "@ejagent/core";
 * import { equal } from "node:assert/strict";
 *
 * const run = new RunScope();
 * run.set("tenant", "a");
 * const call = run.fork();
 * call.set("tenant", "b");
 * equal(run.get("tenant"), "a");
 * equal(call.get("tenant"), "b");
 * ```
 */
export class RunScope {
  /** The scope this one was forked from. */
  readonly parent: RunScope | undefined;
  #values: Map<unknown, unknown> | undefined;

  /** Makes a scope. @param parent Scope to read from when a key is not set here. */
  constructor(parent?: RunScope) {
    this.parent = parent;
  }

  /** The nearest value of a key, from here up to the root; `undefined` if none has it. */
  get(key: unknown): unknown {
    return this.#values?.has(key)
      ? this.#values.get(key)
      : this.parent?.get(key);
  }

  /** Sets a value here; parents and siblings do not see it. */
  set(key: unknown, value: unknown): void {
    this.#values ??= new Map();
    this.#values.set(key, value);
  }

  /** A child that reads from this scope and writes to itself. */
  fork(): RunScope {
    return new RunScope(this);
  }
}
