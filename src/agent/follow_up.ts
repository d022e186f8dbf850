import { detach, followSignal } from "../base/abort.ts";
import { EJAgentError } from "../base/errors.ts";
import { frozen } from "../base/freeze.ts";
import type { ControlInput, ControlStatus } from "../messages/control.ts";
import type { AgentRunResult } from "../messages/result.ts";
import { type ControlReceipt, controlReceipt } from "./steering.ts";

/** What happens to queued follow-ups when a run does not complete. */
export type FollowUpFailurePolicy = "discard" | "continue";

/** Why an accepted follow-up never ran. */
export type FollowUpDiscardReason =
  | "previous_run_not_completed"
  | "agent_shutdown";

/** A follow-up did not become a run. */
export abstract class FollowUpError extends EJAgentError {}

/**
 * The follow-up was not accepted: nothing is active, the queue is full, or the
 * run is closing. `run` waits its turn instead.
 */
export class FollowUpRejectedError extends FollowUpError {
  /** Always `"follow_up_rejected"`. */
  override readonly code = "follow_up_rejected";
  /** The answer to the submission. */
  readonly receipt: ControlReceipt;

  /** Names the status. */
  constructor(receipt: ControlReceipt) {
    super(`The follow-up was not accepted: ${receipt.status}; ask with run()`);
    this.receipt = receipt;
  }
}

/** The follow-up was accepted and discarded before its run began. */
export class FollowUpDiscardedError extends FollowUpError {
  /** Always `"follow_up_discarded"`. */
  override readonly code = "follow_up_discarded";
  /** The submission. */
  readonly control: ControlInput;
  /** Why it never ran. */
  readonly reason: FollowUpDiscardReason;

  /** Names the reason. */
  constructor(control: ControlInput, reason: FollowUpDiscardReason) {
    super(`The follow-up was discarded: ${reason}; ask again with run()`);
    this.control = control;
    this.reason = reason;
  }
}

/** A follow-up and what becomes of it. */
export class FollowUpHandle {
  /** The immediate answer to the submission. */
  readonly receipt: ControlReceipt;
  readonly #result: Promise<AgentRunResult>;
  readonly #isDone: () => boolean;

  /** Made by `Agent.followUp`. */
  constructor(
    receipt: ControlReceipt,
    result: Promise<AgentRunResult>,
    isDone: () => boolean,
  ) {
    this.receipt = receipt;
    this.#result = result;
    this.#isDone = isDone;
    // A handle that nobody waits for must not raise an unhandled rejection.
    detach(result);
  }

  /** The submission. */
  get control(): ControlInput {
    return this.receipt.control;
  }

  /** True if it was queued. */
  get accepted(): boolean {
    return this.receipt.accepted;
  }

  /** True once the outcome is known. */
  get done(): boolean {
    return this.#isDone();
  }

  /**
   * Waits for the run; may be called any number of times.
   *
   * @param options `signal`: ends this wait only, never the run.
   * @returns The result of the run, whatever its status.
   * @throws {FollowUpRejectedError} It was not accepted.
   * @throws {FollowUpDiscardedError} It was discarded before its run began.
   */
  wait(
    options: { readonly signal?: AbortSignal } = {},
  ): Promise<AgentRunResult> {
    const { signal } = options;
    if (signal === undefined) return this.#result;
    return new Promise((resolve, reject) => {
      const unfollow = followSignal(signal, reject);
      this.#result.then(resolve, reject).finally(unfollow);
    });
  }
}

/** A follow-up on its way. */
export interface PendingFollowUp {
  /** The submission. */
  readonly control: ControlInput;
  /** Settles the handle with the result of the run. */
  resolve(result: AgentRunResult): void;
  /** Settles the handle with an error. */
  reject(error: unknown): void;
}

/** A handle for a submission that was not accepted. */
export function rejectedFollowUp(
  control: ControlInput,
  status: ControlStatus,
  queueSize: number,
): FollowUpHandle {
  const receipt = frozen(controlReceipt(control, status, queueSize));
  return new FollowUpHandle(
    receipt,
    Promise.reject(new FollowUpRejectedError(receipt)),
    () => true,
  );
}

/** The bounded queue of follow-ups whose runs have not begun. */
export class FollowUpQueue {
  readonly #capacity: number;
  #pending: PendingFollowUp[] = [];

  /** Starts empty. @param capacity Follow-ups that may wait at a time. */
  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** Follow-ups that wait. */
  get size(): number {
    return this.#pending.length;
  }

  /**
   * Queues a follow-up, or refuses it if the queue is full.
   *
   * @param onSettled Called once when an accepted follow-up is settled.
   */
  offer(control: ControlInput, onSettled: () => void): FollowUpHandle {
    if (this.size >= this.#capacity) {
      return rejectedFollowUp(control, "queue_full", this.size);
    }
    let done = false;
    const settle = () => {
      done = true;
      onSettled();
    };
    const result = new Promise<AgentRunResult>((resolve, reject) => {
      this.#pending.push({
        control,
        resolve(value) {
          settle();
          resolve(value);
        },
        reject(error) {
          settle();
          reject(error);
        },
      });
    });
    return new FollowUpHandle(
      frozen(controlReceipt(control, "accepted", this.size)),
      result,
      () => done,
    );
  }

  /** Takes the oldest follow-up to run it. */
  take(): PendingFollowUp | undefined {
    return this.#pending.shift();
  }

  /** Settles all that wait as discarded. */
  discardAll(reason: FollowUpDiscardReason): void {
    for (const pending of this.#pending.splice(0)) {
      pending.reject(new FollowUpDiscardedError(pending.control, reason));
    }
  }
}
