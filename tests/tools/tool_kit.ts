import { Cancellation } from "../../src/base/abort.ts";
import { RunScope } from "../../src/base/scope.ts";
import type { ModelToolCall } from "../../src/messages/tool.ts";
import { ManualClock } from "../../src/testing/manual_clock.ts";
import { RecordingLogger } from "../../src/testing/ports.ts";
import { toHandlers, type ToolInput } from "../../src/tools/define_tool.ts";
import { standaloneContext } from "../../src/tools/execution_context.ts";
import type { ToolCallResult } from "../../src/tools/outcome.ts";
import {
  ToolRuntime,
  type ToolRuntimeOptions,
} from "../../src/tools/runtime.ts";
import type { ToolTurn, ToolTurnOutcome } from "../../src/tools/turn.ts";

/** A call of the model; arguments that are no text are written as JSON. */
export function call(
  id: string,
  name: string,
  args: unknown = {},
): ModelToolCall {
  const text = typeof args === "string" ? args : JSON.stringify(args);
  return { id, name, arguments: text };
}

/** A runtime over tools, sequential unless told otherwise. */
export function runtimeOf(
  tools: readonly ToolInput[],
  options: Partial<ToolRuntimeOptions> = {},
): ToolRuntime {
  return new ToolRuntime({
    handlers: toHandlers(tools),
    layers: [],
    logger: new RecordingLogger(),
    parallelToolCalls: false,
    maxParallelToolCalls: null,
    maxRepeatedToolCalls: 3,
    ...options,
  });
}

/** A started runtime. */
export async function started(
  tools: readonly ToolInput[],
  options: Partial<ToolRuntimeOptions> = {},
): Promise<ToolRuntime> {
  const runtime = runtimeOf(tools, options);
  await runtime.startup();
  await runtime.onTaskStart();
  return runtime;
}

/** The cancellation of a run that nobody has aborted. */
export function openCancellation(
  options: { graceMs?: number; logger?: RecordingLogger; clock?: ManualClock } =
    {},
): Cancellation {
  return new Cancellation({
    clock: options.clock ?? new ManualClock(),
    graceMs: options.graceMs ?? 1000,
    logger: options.logger ?? new RecordingLogger(),
  });
}

/** How a turn is made and watched. */
export interface TurnOptions extends Partial<Omit<ToolTurn, "calls">> {
  /** Called for every mark of the trace as it is written; the report awaits it. */
  readonly on?: (mark: string) => void | Promise<void>;
  /** Read before every call. */
  readonly halted?: () => string | null;
}

/** A settled turn. */
export interface SettledTurn {
  readonly outcome: ToolTurnOutcome;
  /** `started:id`, `progressed:id:message`, `completed:id` and `decided`, in order. */
  readonly trace: readonly string[];
  /** In the order of completion. */
  readonly results: readonly ToolCallResult[];
  /** What the model reads, by call id. */
  readonly contents: Readonly<Record<string, string>>;
}

/** Settles the calls of one answer and writes down what was reported. */
export async function settle(
  runtime: ToolRuntime,
  calls: readonly ModelToolCall[],
  options: TurnOptions = {},
): Promise<SettledTurn> {
  const { on, halted, ...given } = options;
  const trace: string[] = [];
  const results: ToolCallResult[] = [];
  const contents: Record<string, string> = {};
  const write = (mark: string) => {
    trace.push(mark);
    return on?.(mark);
  };
  const { agent, state } = standaloneContext("", {});
  const outcome = await runtime.settle({
    calls,
    cancellation: openCancellation(),
    agent,
    state,
    runId: "run-1",
    turn: 1,
    scope: new RunScope(),
    refusal: null,
    report: {
      started: ({ id }) => write(`started:${id}`),
      progressed: ({ id }, { message }) => write(`progressed:${id}:${message}`),
      completed: ({ id }, result) => {
        results.push(result);
        for (const message of result.messages) {
          contents[message.tool_call_id] = message.content;
        }
        return write(`completed:${id}`);
      },
      decided: () => void write("decided"),
      halted: () => halted?.() ?? null,
    },
    ...given,
  });
  return { outcome, trace, results, contents };
}
