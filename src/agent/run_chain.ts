import {
  derivesFrom,
  followSignal,
  markDerived,
  toCancelledError,
} from "../base/abort.ts";
import { Activity } from "../base/activity.ts";
import { Gate } from "../base/gate.ts";
import { RunScope } from "../base/scope.ts";
import type { AgentEvent } from "../events/event.ts";
import type { TaskInput } from "../messages/content.ts";
import type { ControlInput, ControlStatus } from "../messages/control.ts";
import type { AgentRunResult, StopReason } from "../messages/result.ts";
import type { RunOptions } from "../pipeline/agent_like.ts";
import {
  AgentReentrancyError,
  AgentShuttingDownError,
} from "../pipeline/errors.ts";
import type { AgentRequest } from "../pipeline/middleware.ts";
import { requireOperationOptions } from "../pipeline/run_options.ts";
import type { LaunchedRun } from "../pipeline/run_stream.ts";
import {
  ContinueRejectedError,
  type ContinueRejectedReason,
} from "./continuation.ts";
import type { AgentCore } from "./core.ts";
import {
  type FollowUpHandle,
  FollowUpQueue,
  type PendingFollowUp,
  rejectedFollowUp,
} from "./follow_up.ts";
import { coreRequest, layeredRun } from "./layered_run.ts";
import type { AgentResources } from "./lifecycle.ts";
import { Operation, type OperationKind } from "./operation.ts";
import { AgentOrchestrator } from "./run.ts";
import { startUpEnded } from "../tools/resources.ts";
import { startUp } from "./start_up.ts";
import {
  refusedSteering,
  settleAll,
  type SteeringReceipt,
} from "./steering.ts";

/** What a run is to do. */
export type Wanted =
  | { readonly kind: "task"; readonly task: TaskInput }
  | { readonly kind: "continue" };

/** What an operation can be given by its caller. */
export type OperationOptions = Pick<RunOptions, "signal" | "scope">;

interface RunParts {
  readonly wanted: Wanted;
  readonly options: RunOptions;
  readonly observe: ((event: AgentEvent) => void) | undefined;
}

/**
 * Lets the operations of an agent happen one after the other.
 *
 * A free chain is taken synchronously. Accepted follow-ups go before every
 * operation that waits, and the chain is handed on in the very step in which
 * no follow-up is found.
 */
export class RunChain {
  readonly #core: AgentCore;
  readonly #resources: AgentResources;
  readonly #orchestrator: AgentOrchestrator;
  readonly #gate = new Gate();
  readonly #activity = new Activity();
  readonly #followUps: FollowUpQueue;
  #operation: Operation | null = null;
  #startUp: Operation | null = null;
  #open = false;
  #shutdowns = 0;

  /** Nothing happens yet. */
  constructor(core: AgentCore, resources: AgentResources) {
    this.#core = core;
    this.#resources = resources;
    this.#orchestrator = new AgentOrchestrator(core);
    this.#followUps = new FollowUpQueue(core.config.followUpQueueCapacity);
  }

  /** What is active. */
  get operation(): Operation | null {
    return this.#operation;
  }

  /** Follow-ups whose runs have not begun. */
  get pendingFollowUpCount(): number {
    return this.#followUps.size;
  }

  /** True if something is active or queued. */
  get busy(): boolean {
    return this.#activity.count > 0 || this.#gate.taken;
  }

  /** Why a continue would be refused whatever the conversation holds. */
  get continueRefusal(): ContinueRejectedReason | null {
    if (this.#shutdowns > 0) return "agent_shutting_down";
    return this.busy ? "agent_active" : null;
  }

  /** Resolves when nothing is active or queued. */
  whenIdle(): Promise<void> {
    return this.#activity.whenIdle();
  }

  /** Starts a run as soon as the chain is free, at once if it is. @param options Checked. */
  launch(
    wanted: Wanted,
    options: RunOptions,
    observe?: (event: AgentEvent) => void,
  ): LaunchedRun {
    const operation = new Operation("run", this.#core.config);
    return {
      result: this.#run(operation, { wanted, options, observe }),
      cancel: (reason) => void operation.abort(toCancelledError(reason)),
    };
  }

  async #run(operation: Operation, parts: RunParts): Promise<AgentRunResult> {
    try {
      this.#refuseReentry(parts.options);
      if (parts.wanted.kind === "continue") this.#refuseContinue();
      else this.#refuseDuringShutdown();
    } catch (error) {
      operation.cancellation.close();
      throw error;
    }
    return await this.#perform(
      operation,
      parts.options.signal,
      () => this.#occupy(operation, parts),
    );
  }

  /** Does something else than a run, in turn with the runs; `abort()` reaches no start-up. */
  async operate<T>(
    kind: Exclude<OperationKind, "run">,
    options: OperationOptions,
    work: (operation: Operation, scope: RunScope) => Promise<T>,
  ): Promise<T> {
    const checked = requireOperationOptions(options);
    this.#refuseReentry(checked);
    const isActive = kind !== "startup";
    if (isActive) this.#refuseDuringShutdown();
    const operation = new Operation(kind, this.#core.config);
    return await this.#perform(operation, checked.signal, async () => {
      if (isActive) this.#operation = operation;
      else this.#startUp = operation;
      try {
        return await work(operation, this.#scope(checked.scope));
      } finally {
        this.#operation = this.#startUp = null;
        this.#gate.leave();
      }
    });
  }

  /** Does something that nothing aborts, in turn with everything else. */
  async alone<T>(work: () => Promise<T>): Promise<T> {
    await this.#gate.enter();
    try {
      return await work();
    } finally {
      this.#gate.leave();
    }
  }

  /** Refuses new work, discards what waits to follow up, and stops when it is its turn or in place of a start-up. */
  async shutDown(
    work: () => Promise<void>,
    abort: string | undefined,
  ): Promise<void> {
    this.#shutdowns += 1;
    this.#followUps.discardAll("agent_shutdown");
    if (abort !== undefined) this.#operation?.abort(toCancelledError(abort));
    try {
      if (this.#startUp?.abort(startUpEnded())) await work();
      await this.alone(work);
    } finally {
      this.#shutdowns -= 1;
    }
  }

  /** Hands text to the active run. */
  steer(control: ControlInput): SteeringReceipt {
    const operation = this.#operation;
    if (operation === null || operation.kind !== "run") {
      return refusedSteering(control, "agent_idle", 0);
    }
    if (operation.closing || operation.cancellation.aborted) {
      return refusedSteering(control, "run_closing", operation.steering.size);
    }
    return operation.steering.offer(control);
  }

  /** Queues a task behind the active run. */
  followUp(control: ControlInput): FollowUpHandle {
    const refusal = this.#followUpRefusal();
    if (refusal !== null) {
      return rejectedFollowUp(control, refusal, this.#followUps.size);
    }
    const release = this.#activity.begin();
    const handle = this.#followUps.offer(control, release);
    if (!handle.accepted) release();
    return handle;
  }

  #followUpRefusal(): ControlStatus | null {
    if (this.#shutdowns > 0) return "run_closing";
    if (this.#operation?.cancellation.aborted) return "run_closing";
    return this.#open ? null : "agent_idle";
  }

  async #perform<T>(
    operation: Operation,
    signal: AbortSignal | undefined,
    work: () => Promise<T>,
  ): Promise<T> {
    const release = this.#activity.begin();
    const unfollow = followSignal(signal, (reason) => operation.abort(reason));
    if (signal) markDerived(operation.cancellation.signal, signal);
    try {
      operation.cancellation.throwIfAborted();
      const entering = this.#gate.enter(operation.cancellation.signal);
      if (entering !== undefined) await entering;
      return await work();
    } finally {
      unfollow();
      operation.cancellation.close();
      release();
    }
  }

  /** Takes one run through while the chain is held, and hands the chain on. */
  async #occupy(
    operation: Operation,
    parts: RunParts,
  ): Promise<AgentRunResult> {
    this.#operation = operation;
    this.#open = true;
    let reason: StopReason = "runtime_error";
    let completed = false;
    try {
      await startUp(this.#core, this.#resources, operation);
      const result = await this.#execute(operation, parts);
      reason = result.stopReason;
      completed = result.succeeded;
      return result;
    } finally {
      settleAll(operation.steering, { kind: "discarded", reason });
      operation.cancellation.close();
      this.#handOn(completed);
    }
  }

  async #execute(
    operation: Operation,
    parts: RunParts,
  ): Promise<AgentRunResult> {
    const { wanted, options, observe } = parts;
    const { cancellation } = operation;
    const request: AgentRequest = {
      ...wanted,
      contextMessages: options.contextMessages ?? [],
      modelOptions: options.modelOptions ?? {},
      signal: cancellation.signal,
      agent: this.#core.info,
      scope: this.#scope(options.scope),
    };
    if (this.#core.agentLayers.length === 0) {
      return await this.#orchestrator.run(
        coreRequest(operation, request, { cancellation, observe }),
      );
    }
    return await layeredRun(
      {
        core: this.#core,
        orchestrator: this.#orchestrator,
        operation,
        observe,
      },
      request,
    );
  }

  /** Starts the next follow-up, or lets the next waiting operation in. */
  #handOn(completed: boolean): void {
    this.#operation = null;
    const goesOn = completed ||
      this.#core.config.followUpFailurePolicy === "continue";
    if (this.#shutdowns > 0) this.#followUps.discardAll("agent_shutdown");
    else if (!goesOn) this.#followUps.discardAll("previous_run_not_completed");
    const next = this.#followUps.take();
    if (next !== undefined) return this.#follow(next);
    this.#open = false;
    this.#gate.leave();
  }

  #follow(next: PendingFollowUp): void {
    const { content, parts } = next.control;
    const wanted: Wanted = { kind: "task", task: parts ?? content };
    const operation = new Operation("run", this.#core.config);
    this.#occupy(operation, { wanted, options: {}, observe: undefined })
      .then(next.resolve, next.reject);
  }

  // A scope names the agents whose runs it belongs to, so that a call from inside is recognised.
  #scope(parent: RunScope | undefined): RunScope {
    const scope = parent?.fork() ?? new RunScope();
    scope.set(this.#core, true);
    return scope;
  }

  #refuseReentry(options: OperationOptions): void {
    const active = this.#operation?.cancellation.signal;
    const inside = options.scope?.get(this.#core) === true ||
      (options.signal !== undefined && active !== undefined &&
        derivesFrom(options.signal, active));
    if (inside) {
      throw new AgentReentrancyError(
        `Agent "${this.#core.config.agentId}" would wait for itself inside its own run; ` +
          "use followUp() or another agent",
      );
    }
  }

  #refuseContinue(): void {
    const refusal = this.continueRefusal;
    if (refusal !== null) throw new ContinueRejectedError(refusal);
  }

  #refuseDuringShutdown(): void {
    if (this.#shutdowns === 0) return;
    throw new AgentShuttingDownError(
      `Agent "${this.#core.config.agentId}" is shutting down; ask again when that has settled`,
    );
  }
}
