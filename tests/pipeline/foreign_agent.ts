import {
  type AgentEvent,
  agentEvent,
  type AgentInfo,
  type AgentLike,
  type AgentRequest,
  type AgentRunResult,
  type AgentRunStream,
  type AgentStream,
  PipelineAgent,
  type RunOptions,
  runResult,
  type TaskInput,
} from "../../mod.ts";
import { ManualClock, RecordingLogger } from "../../src/testing/mod.ts";

/** One call of a {@linkcode ForeignAgent}. */
export interface ForeignCall {
  readonly task: TaskInput;
  readonly options: RunOptions;
}

/** An agent written by hand: two events, then the result or the error it was given. */
export class ForeignAgent implements AgentLike {
  readonly info: AgentInfo = { agentId: "foreign", remote: true };
  readonly calls: ForeignCall[] = [];
  readonly events: readonly AgentEvent[] = [
    event(1, "one"),
    event(2, "two"),
  ];
  readonly result: AgentRunResult = completed("foreign answer");
  readonly #error: unknown;

  constructor(error?: unknown) {
    this.#error = error;
  }

  run(task: TaskInput, options: RunOptions = {}): Promise<AgentRunResult> {
    return this.stream(task, options).finalResult();
  }

  stream(task: TaskInput, options: RunOptions = {}): AgentRunStream {
    this.calls.push({ task, options });
    const { events, result } = this;
    const error = this.#error;
    return {
      async *[Symbol.asyncIterator]() {
        yield* events;
        if (error !== undefined) throw error;
      },
      finalResult: () => Promise.resolve(result),
      close: () => Promise.resolve(),
      [Symbol.asyncDispose]: () => Promise.resolve(),
    };
  }
}

/** A pipeline agent whose runs are a function; its clock stands still. */
export class ScriptedAgent extends PipelineAgent {
  readonly info: AgentInfo = { agentId: "scripted", remote: true };
  readonly clock: ManualClock;
  readonly logger: RecordingLogger;
  readonly #script: (request: AgentRequest) => AgentStream;

  constructor(script: (request: AgentRequest) => AgentStream) {
    const clock = new ManualClock();
    const logger = new RecordingLogger();
    super({ clock, logger });
    this.clock = clock;
    this.logger = logger;
    this.#script = script;
  }

  protected execute(request: AgentRequest): AgentStream {
    return this.#script(request);
  }
}

/** A completed result. */
export function completed(output: string): AgentRunResult {
  return runResult({ stopReason: "text_response", output, turns: 1 });
}

/** A text delta. */
export function event(sequence: number, delta: string): AgentEvent {
  return agentEvent(
    { agentId: "foreign", runId: "r", sequence, timeMs: 0 },
    { kind: "assistant_text_delta", turn: 1, delta },
  );
}
