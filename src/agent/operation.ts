import { Cancellation } from "../base/abort.ts";
import type { AgentConfig } from "./options.ts";
import { SteeringQueue } from "./steering.ts";

/** What an operation is; only runs can be steered and followed up. */
export type OperationKind = "run" | "compaction" | "dispatch" | "startup";

/** One thing that an agent does: a run with its middleware, a compaction, a dispatched tool, or a start-up. */
export class Operation {
  /** What it is. */
  readonly kind: OperationKind;
  /** Decides whether it is cancelled. */
  readonly cancellation: Cancellation;
  /** Steering for its run. */
  readonly steering: SteeringQueue;
  /** True while the outcome of the run is decided and no other run has begun. */
  closing = false;
  /** True while agent middleware is around the run, which an abort still reaches. */
  layered = false;

  /** Not active yet. */
  constructor(kind: OperationKind, config: AgentConfig) {
    this.kind = kind;
    this.cancellation = newCancellation(config);
    this.steering = new SteeringQueue(config.steeringQueueCapacity);
  }

  /** Aborts the operation. @returns True if that changes anything. */
  abort(reason: unknown): boolean {
    if (this.closing && !this.layered) return false;
    return this.cancellation.abort(reason);
  }
}

/** A cancellation with the grace and the ports of an agent. */
export function newCancellation(config: AgentConfig): Cancellation {
  return new Cancellation({
    clock: config.clock,
    graceMs: config.runtimePolicy.abortGraceMs,
    logger: config.logger,
  });
}
