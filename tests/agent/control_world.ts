import {
  Agent,
  AgentBusyError,
  type AgentEvent,
  type AgentRunResult,
  CompositeAgentEventSink,
  type FollowUpHandle,
  type SteeringReceipt,
} from "../../mod.ts";
import {
  ManualClock,
  RecordingEventSink,
  silentLogger,
} from "../../src/testing/mod.ts";
import { partsOf } from "./control_parts.ts";
import type { Action, Plan, Step } from "./control_plan.ts";
import { assertClosedTranscript, assertCommitted } from "./invariants.ts";
import { type WatchedController, watchedController } from "./watched_signal.ts";

/** What became of a promise. */
export type Settled =
  | { readonly value: unknown }
  | { readonly error: Error & { readonly code?: string } };

/** Something that the caller asked for. */
export interface Asked {
  readonly kind: Action["kind"];
  /** The task, or a name. */
  readonly label: string;
  /** The caller's signal, if there is one. */
  readonly caller: WatchedController | undefined;
  /** True if a shutdown was in progress at the call. */
  readonly duringShutdown: boolean;
  /** Present once it has settled. */
  settled?: Settled;
}

/** An abort that said it changed something. */
export interface EffectiveAbort {
  readonly reason: string;
  /** Run whose events were being delivered then; null if there was none. */
  readonly runId: string | null;
}

/** An agent, everything that was asked of it, and everything that it showed. */
export class ControlWorld {
  readonly plan: Plan;
  readonly clock: ManualClock = new ManualClock();
  readonly sink: RecordingEventSink;
  readonly agent: Agent;
  readonly asked: Asked[] = [];
  readonly receipts: SteeringReceipt[] = [];
  readonly handles: FollowUpHandle[] = [];
  readonly aborts: EffectiveAbort[] = [];
  /** Every reason that was ever given. */
  readonly reasons: Set<string> = new Set(["stream closed by consumer"]);
  /** What was wrong while an event was delivered. */
  readonly violations: unknown[] = [];
  /** Streams that were read, with what they showed. */
  readonly read: { readonly events: AgentEvent[]; left: boolean }[] = [];
  #count = 0;
  #runId: string | null = null;
  #pending = 0;
  #shutdowns = 0;

  constructor(plan: Plan) {
    this.plan = plan;
    this.sink = new RecordingEventSink({
      onEvent: (event) => this.#observe(event),
    });
    this.agent = new Agent({
      ...partsOf(plan),
      clock: this.clock,
      logger: silentLogger,
      eventSink: new CompositeAgentEventSink([
        failingSink(plan.requiredFailingAt, true),
        this.sink,
        failingSink(plan.failingAt, false),
        laggingSink(plan.lagTicks, plan.hangingAt),
      ]),
    });
  }

  /** Does one step. */
  async take({ action, pause }: Step): Promise<void> {
    this.#do(action);
    if (pause.kind === "advance") return this.clock.advanceAsync(pause.ms);
    for (let tick = 0; tick < pause.count; tick++) await null;
  }

  /** Aborts and lets time pass until everything has settled. @returns False if that never happens. */
  async drain(): Promise<boolean> {
    this.#pending += 1;
    this.agent.waitForIdle().then(() => this.#pending -= 1);
    for (let round = 0; round < 200; round++) {
      if (this.#pending === 0) return true;
      this.#abort();
      await this.clock.advanceAsync(60);
    }
    return false;
  }

  #do(action: Action): void {
    const { agent } = this;
    const label = `${action.kind} ${++this.#count}`;
    const caller = "signal" in action && action.signal
      ? watchedController()
      : undefined;
    const options = caller === undefined ? {} : { signal: caller.signal };
    const ask = (promise: Promise<unknown>) =>
      this.#ask({ kind: action.kind, label, caller }, promise);
    switch (action.kind) {
      case "run":
        return ask(agent.run(label, options));
      case "continue":
        return ask(agent.continueRun(options));
      case "compact":
        return ask(agent.compact(options));
      case "stream":
        return ask(this.#read(label, action.leaveAfter));
      case "dispatch":
        return ask(agent.dispatch("work", { plan: action.plan }));
      case "startup":
        return ask(agent.startup());
      case "shutdown":
        return this.#shutDown(action.abort, ask);
      case "steer":
        return this.#steer(label);
      case "followUp":
        return this.#followUp(label, ask);
      case "abort":
        return this.#abort();
      case "abort a caller":
        return this.#abortCaller();
      case "reset":
        return this.#reset();
    }
  }

  #ask(
    asked: Pick<Asked, "kind" | "label" | "caller">,
    promise: Promise<unknown>,
  ): void {
    const entry: Asked = { ...asked, duringShutdown: this.#shutdowns > 0 };
    this.asked.push(entry);
    this.#pending += 1;
    promise.then((value) => ({ value }), (error) => ({ error })).then(
      (settled) => {
        entry.settled = settled;
        this.#pending -= 1;
      },
    );
  }

  async #read(
    label: string,
    leaveAfter: number | null,
  ): Promise<AgentRunResult> {
    const stream = this.agent.stream(label);
    const reading = { events: [] as AgentEvent[], left: false };
    this.read.push(reading);
    if (leaveAfter === 0) {
      stream.finalResult().catch(() => {});
      await stream.close();
      reading.left = true;
      return await stream.finalResult();
    }
    for await (const event of stream) {
      reading.events.push(event);
      reading.left = reading.events.length === leaveAfter;
      if (reading.left) break;
    }
    return await stream.finalResult();
  }

  #steer(label: string): void {
    const receipt = this.agent.steer(label);
    this.receipts.push(receipt);
    this.#pending += 1;
    receipt.outcome.then(() => this.#pending -= 1);
  }

  #followUp(label: string, ask: (promise: Promise<unknown>) => void): void {
    const handle = this.agent.followUp(label);
    this.handles.push(handle);
    ask(handle.wait());
  }

  #abort(): void {
    const reason = this.#reason();
    const runId = this.#runId;
    if (this.agent.abort(reason)) this.aborts.push({ reason, runId });
  }

  #abortCaller(): void {
    const callers = this.asked.filter(({ caller }) =>
      caller !== undefined && !caller.signal.aborted
    );
    callers.at(-1)?.caller?.abort(new Error(this.#reason()));
  }

  #shutDown(abort: boolean, ask: (promise: Promise<unknown>) => void): void {
    this.#shutdowns += 1;
    const stopping = this.agent.shutdown(
      abort ? { abort: this.#reason() } : {},
    );
    ask(stopping.finally(() => this.#shutdowns -= 1));
  }

  #reset(): void {
    try {
      this.agent.reset();
    } catch (error) {
      if (!(error instanceof AgentBusyError)) throw error;
    }
  }

  #reason(): string {
    const reason = `reason ${++this.#count}`;
    this.reasons.add(reason);
    return reason;
  }

  #observe(event: AgentEvent): void {
    try {
      assertCommitted(this.agent, event);
      if (event.kind === "agent_finished") {
        assertClosedTranscript(this.agent.messages);
      }
    } catch (error) {
      this.violations.push(error);
    }
    if (event.kind === "agent_started" || event.kind === "agent_continued") {
      this.#runId = event.runId;
    }
    if (event.kind === "agent_finished") this.#runId = null;
  }
}

function failingSink(at: number | null, required: boolean) {
  let count = 0;
  return {
    required,
    emit(): void {
      count += 1;
      if (count === at) throw new Error("the sink failed");
    },
  };
}

function laggingSink(ticks: number, hangingAt: number | null) {
  let count = 0;
  return {
    async emit(): Promise<void> {
      count += 1;
      for (let tick = 0; tick < ticks; tick++) await null;
      if (count === hangingAt) await new Promise(() => {});
    },
  };
}
