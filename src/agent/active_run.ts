import type { Cancellation } from "../base/abort.ts";
import type { RunScope } from "../base/scope.ts";
import type { CompactionRuntime } from "../context/compaction_runtime.ts";
import type { EventEmitter } from "../events/emitter.ts";
import type { AgentEvent, AgentEventPayload } from "../events/event.ts";
import { contentText, type TaskInput } from "../messages/content.ts";
import type { AgentMessage } from "../messages/message.ts";
import type { FailurePhase } from "../messages/result.ts";
import type { ModelOptions } from "../model/adapter.ts";
import type { ModelLayer } from "../model/layer.ts";
import { REQUEST_METER } from "../model/meter.ts";
import { type AgentCore, openCompaction, openEmitter } from "./core.ts";
import type { SteeringQueue } from "./steering.ts";
import { UsageMeter } from "./usage_meter.ts";

/** What a core run is started with. */
export interface CoreRequest {
  /** A run with a task, or one that goes on without. */
  readonly kind: "task" | "continue";
  /** What is asked; absent for a continue run. */
  readonly task?: TaskInput;
  /** Messages that only this run's requests hold. */
  readonly contextMessages: readonly AgentMessage[];
  /** Options of the caller, over those of context providers. */
  readonly modelOptions: ModelOptions;
  /** Values of this run. */
  readonly scope: RunScope;
  /** Decides whether the run is cancelled. */
  readonly cancellation: Cancellation;
  /** Steering for this run. */
  readonly steering: SteeringQueue;
  /** Gets each event after the sinks. */
  readonly observe: ((event: AgentEvent) => void) | undefined;
  /** Called once, when the outcome of the run is decided. */
  readonly onClosing: () => void;
}

/** What context providers added to one run. */
export interface RunAdditions {
  /** System instructions, joined; null without any. */
  readonly instructions: string | null;
  /** Messages before the run's user message. */
  readonly messages: readonly AgentMessage[];
  /** Model middleware, inside the agent's own. */
  readonly modelLayers: readonly ModelLayer[];
  /** Options under those of the caller. */
  readonly modelOptions: ModelOptions;
}

/** Everything that belongs to one core run. */
export class ActiveRun {
  /** The agent's shared parts. */
  readonly core: AgentCore;
  /** What the run was started with. */
  readonly request: CoreRequest;
  /** Fresh id of the run. */
  readonly id: string;
  /** Text of the task; null for a continue run. */
  readonly taskText: string | null;
  /** Delivers the run's events. */
  readonly emitter: EventEmitter;
  /** Adds up what the requests report. */
  readonly usage: UsageMeter = new UsageMeter();
  /** What this run added to the history, oldest first. */
  readonly committed: AgentMessage[] = [];
  /** The provider's word for why the last answer ended. */
  finishReason: string | null = null;
  /** Turn in progress, from 1; 0 before the first. */
  turn = 0;
  /** Where an exception that is thrown now comes from. */
  phase: FailurePhase = "runtime";
  /** True once the outcome is decided. */
  closing = false;
  /** True if the history was replaced by a summary. */
  compacted = false;
  /** Shortens the history within this run; null without a policy. */
  readonly compaction: CompactionRuntime | null;
  /** What context providers added. */
  additions: RunAdditions;
  #startIndex = 0;
  #startGeneration = 0;

  /** Allocates the run; nothing is emitted yet. */
  constructor(core: AgentCore, request: CoreRequest) {
    this.core = core;
    this.request = request;
    this.id = core.config.ids.next();
    this.taskText = request.task === undefined
      ? null
      : contentText(request.task);
    this.additions = {
      instructions: null,
      messages: request.contextMessages,
      modelLayers: [],
      modelOptions: {},
    };
    request.scope.set(REQUEST_METER, this.usage);
    this.emitter = openEmitter(core, {
      runId: this.id,
      observe: request.observe,
      cancellation: request.cancellation,
    });
    const { compactionPolicy: policy } = core.config;
    this.compaction = policy === null
      ? null
      : openCompaction(core, policy, (event) => this.emit(event));
  }

  /** Decides whether the run is cancelled. */
  get cancellation(): Cancellation {
    return this.request.cancellation;
  }

  /** Steering for this run. */
  get steering(): SteeringQueue {
    return this.request.steering;
  }

  /** Delivers one event; a promise only if there is something to wait for. */
  emit(payload: AgentEventPayload): Promise<void> | undefined {
    return this.emitter.emit(payload);
  }

  /** Remembers where in the history this run begins. */
  markStart(): void {
    const { conversation } = this.core.state;
    this.#startIndex = conversation.length;
    this.#startGeneration = conversation.generation;
  }

  /** Index of the first message of this run; -1 if a compaction removed it. */
  startIndex(): number {
    const { conversation } = this.core.state;
    if (conversation.generation === this.#startGeneration) {
      return this.#startIndex;
    }
    const first = this.committed[0];
    return first === undefined
      ? conversation.length
      : conversation.messages.indexOf(first);
  }

  /** Adds a message to the history. */
  commit(message: AgentMessage): void {
    this.core.state.conversation.append(message);
    this.committed.push(message);
  }

  /** Closes the run to `abort` and `steer`: its outcome is decided. */
  close(): void {
    if (this.closing) return;
    this.closing = true;
    this.request.onClosing();
  }
}
