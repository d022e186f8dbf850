import { requireInteger } from "../base/require.ts";
import { type A2ATask, PHASE_OF_STATE } from "./wire.ts";

/**
 * Keeps tasks, so that clients can ask for them later.
 *
 * `save` is called when a task is submitted and when it is over; a rejection ends
 * the answer with an internal error. Tasks are frozen JSON. The isolate of a
 * Worker may vanish, so a service there needs a store of its own, or one Durable
 * Object for each context.
 */
export interface A2ATaskStore {
  /** The task; null if there is none. */
  load(taskId: string): A2ATask | null | Promise<A2ATask | null>;
  /** Keeps the task instead of what was kept under its id. */
  save(task: A2ATask): void | Promise<void>;
}

/**
 * Keeps tasks in memory, the newest ones.
 *
 * @example Keep fewer tasks
 * ```ts
 * import { MemoryTaskStore } from "@ejagent/core/a2a";
 * import { equal } from "node:assert/strict";
 *
 * const tasks = new MemoryTaskStore(1);
 * const status = { state: "TASK_STATE_COMPLETED" } as const;
 * tasks.save({ id: "1", contextId: "c", status });
 * tasks.save({ id: "2", contextId: "c", status });
 * equal(tasks.load("1"), null);
 * ```
 */
export class MemoryTaskStore implements A2ATaskStore {
  readonly #tasks = new Map<string, A2ATask>();
  readonly #maxTasks: number;

  /**
   * Keeps nothing yet.
   *
   * @param maxTasks Where the oldest task has to go, one that is over first.
   */
  constructor(maxTasks: number = 1000) {
    this.#maxTasks = requireInteger("maxTasks", maxTasks, 1);
  }

  /** The task; null if there is none. */
  load(taskId: string): A2ATask | null {
    return this.#tasks.get(taskId) ?? null;
  }

  /** Keeps the task instead of what was kept under its id. */
  save(task: A2ATask): void {
    this.#tasks.set(task.id, task);
    if (this.#tasks.size > this.#maxTasks) this.#evict(task.id);
  }

  #evict(newest: string): void {
    let oldest: string | undefined;
    for (const { id, status } of this.#tasks.values()) {
      if (id === newest) continue;
      oldest ??= id;
      if (PHASE_OF_STATE[status.state] === "terminal") {
        this.#tasks.delete(id);
        return;
      }
    }
    if (oldest !== undefined) this.#tasks.delete(oldest);
  }
}
