import {
  Agent,
  type AgentEvent,
  type AgentMessage,
  type AgentOptions,
  cancel,
  complete,
  type DefinedTool,
  defineTool,
  reject,
  type RuntimePolicy,
} from "../../mod.ts";
import {
  RecordingEventSink,
  RecordingLogger,
  ScriptedModel,
  type ScriptStep,
} from "../../src/testing/mod.ts";
import { deferred } from "../support/deferred.ts";

type Args = Record<string, unknown>;

/** Answers with its arguments. */
export const echo: DefinedTool = defineTool({
  name: "echo",
  execute: (args: Args) => ({ e: args }),
});

/** Completes the run. */
export const done: DefinedTool = defineTool({
  name: "done",
  execute: (args: Args) => complete({ d: args }),
});

/** Rejects the run. */
export const rej: DefinedTool = defineTool({
  name: "rej",
  execute: (args: Args) => reject({ d: args }),
});

/** Cancels the run by its own decision. */
export const can: DefinedTool = defineTool({
  name: "can",
  execute: (args: Args) => cancel({ d: args }),
});

/** Fails. */
export const boom: DefinedTool = defineTool({
  name: "boom",
  execute: (): string => {
    throw new Error("boom");
  },
});

/** Reads. */
export const read: DefinedTool = defineTool({
  name: "read",
  effect: "read_only",
  execute: (args: Args) => ({ r: args }),
});

/** A tool that tells when it is entered and waits until it is released or aborted. */
export function waitTool(name = "wait"): {
  readonly tool: DefinedTool;
  readonly entered: Promise<void>;
  readonly callCount: number;
  release(): void;
} {
  const entered = deferred();
  const released = deferred();
  let callCount = 0;
  const tool = defineTool({
    name,
    execute: async (_args: Args, { signal }) => {
      callCount += 1;
      entered.resolve();
      await Promise.race([released.promise, aborted(signal)]);
      return { w: true };
    },
  });
  return {
    tool,
    entered: entered.promise,
    release: () => released.resolve(),
    get callCount() {
      return callCount;
    },
  };
}

/** Rejects with the reason of the signal as soon as it aborts. */
export function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, rejectWith) => {
    if (signal.aborted) rejectWith(signal.reason);
    signal.addEventListener("abort", () => rejectWith(signal.reason), {
      once: true,
    });
  });
}

/** What {@linkcode agentWith} made. */
export interface Fixture {
  readonly agent: Agent;
  readonly model: ScriptedModel;
  readonly sink: RecordingEventSink;
  readonly logger: RecordingLogger;
}

/** How {@linkcode agentWith} makes its agent. */
export type FixtureOptions =
  & Partial<Omit<AgentOptions, "model" | "eventSink" | "runtimePolicy">>
  & {
    readonly policy?: Partial<RuntimePolicy>;
    readonly onEvent?: (event: AgentEvent) => void | Promise<void>;
    readonly required?: boolean;
    readonly model?: ScriptedModel;
  };

/** An agent with the id "a" and the prompt "P" over a scripted model. */
export function agentWith(
  script: readonly ScriptStep[],
  options: FixtureOptions = {},
): Fixture {
  const { policy, onEvent, required, model: given, ...rest } = options;
  const model = given ?? new ScriptedModel(script);
  const sink = new RecordingEventSink({
    ...(onEvent !== undefined && { onEvent }),
    ...(required !== undefined && { required }),
  });
  const logger = new RecordingLogger();
  const agent = new Agent({
    agentId: "a",
    systemPrompt: "P",
    logger,
    ...rest,
    model,
    eventSink: sink,
    runtimePolicy: { abortGraceMs: 20, ...policy },
  });
  return { agent, model, sink, logger };
}

/**
 * The roles behind the leading system messages: `u`, `a`, `a+` with calls,
 * `t(id)`, `s`.
 */
export function shapeOf(messages: readonly AgentMessage[]): string {
  const start = messages.findIndex((message) => message.role !== "system");
  if (start < 0) return "";
  return messages.slice(start).map(mark).join(" ");
}

function mark(message: AgentMessage): string {
  switch (message.role) {
    case "user":
      return "u";
    case "assistant":
      return message.tool_calls === undefined ? "a" : "a+";
    case "tool":
      return `t(${message.tool_call_id})`;
    default:
      return "s";
  }
}

/** The contents of messages, in order. */
export function contentsOf(messages: readonly AgentMessage[]): unknown[] {
  return messages.map((message) => message.content);
}

/** The tool messages of a history, parsed. */
export function toolResultsOf(messages: readonly AgentMessage[]): unknown[] {
  return messages
    .filter((message) => message.role === "tool")
    .map((message) => JSON.parse(String(message.content)));
}
