import { frozen } from "../base/freeze.ts";
import type { ControlInput, ControlStatus } from "../messages/control.ts";
import type { StopReason } from "../messages/result.ts";

/** What finally became of a steering input. */
export type SteeringOutcome =
  | { readonly kind: "applied"; readonly turn: number }
  | {
    readonly kind: "discarded";
    readonly reason: StopReason | "startup_failed";
  }
  | { readonly kind: "refused"; readonly status: ControlStatus };

/** The immediate answer to a submission. */
export interface ControlReceipt {
  /** The submission. */
  readonly control: ControlInput;
  /** What became of it at once. */
  readonly status: ControlStatus;
  /** Length of the queue after the submission; 0 if there is none. */
  readonly queueSize: number;
  /** True if it was queued, which does not mean applied. */
  readonly accepted: boolean;
}

/** The answer to `steer`. */
export interface SteeringReceipt extends ControlReceipt {
  /** Settles to what finally became of the input; never rejects. */
  readonly outcome: Promise<SteeringOutcome>;
}

/** Makes the part that all receipts have. */
export function controlReceipt(
  control: ControlInput,
  status: ControlStatus,
  queueSize: number,
): ControlReceipt {
  return { control, status, queueSize, accepted: status === "accepted" };
}

/** The receipt of a steering input that was not queued. */
export function refusedSteering(
  control: ControlInput,
  status: ControlStatus,
  queueSize: number,
): SteeringReceipt {
  const outcome: SteeringOutcome = frozen({ kind: "refused", status });
  return frozen({
    ...controlReceipt(control, status, queueSize),
    outcome: Promise.resolve(outcome),
  });
}

/** A steering input on its way. */
export interface PendingSteering {
  /** The submission. */
  readonly control: ControlInput;
  /** Settles the outcome of its receipt. */
  settle(outcome: SteeringOutcome): void;
}

/** The bounded queue of steering inputs of one run. */
export class SteeringQueue {
  readonly #capacity: number;
  #pending: PendingSteering[] = [];

  /** Starts empty. @param capacity Inputs that may wait at a time. */
  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** Inputs that wait. */
  get size(): number {
    return this.#pending.length;
  }

  /** Queues an input, or refuses it if the queue is full. */
  offer(control: ControlInput): SteeringReceipt {
    if (this.size >= this.#capacity) {
      return refusedSteering(control, "queue_full", this.size);
    }
    const outcome = new Promise<SteeringOutcome>((resolve) => {
      this.#pending.push({
        control,
        settle: (settled) => resolve(frozen(settled)),
      });
    });
    return frozen({
      ...controlReceipt(control, "accepted", this.size),
      outcome,
    });
  }

  /** Takes the oldest input. */
  take(): PendingSteering | undefined {
    return this.#pending.shift();
  }
}

/** Settles everything that waits. @returns The inputs, oldest first. */
export function settleAll(
  queue: SteeringQueue,
  outcome: SteeringOutcome,
): readonly ControlInput[] {
  const settled: ControlInput[] = [];
  for (let input = queue.take(); input !== undefined; input = queue.take()) {
    input.settle(outcome);
    settled.push(input.control);
  }
  return settled;
}
