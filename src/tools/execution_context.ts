import { frozen } from "../base/freeze.ts";
import { RunScope } from "../base/scope.ts";
import type { AgentStateView } from "../messages/state.ts";
import type { ToolCallContext } from "./middleware.ts";
import { silentProgress, type ToolProgressReporter } from "./progress.ts";

/** What the implementation of a tool is told besides its arguments. */
export interface ToolExecutionContext extends ToolCallContext {
  /** Tells observers how far the tool is; goes nowhere outside a run. */
  readonly progress: ToolProgressReporter;
}

/** Members of a context that a caller without an agent may set. */
export type ToolDispatchOptions = Partial<
  Omit<ToolCallContext, "toolName" | "arguments">
>;

/** Gives a context the reporter that implementations may count on. */
export function executionContext(
  context: ToolCallContext,
): ToolExecutionContext {
  if (context.progress !== undefined) return context as ToolExecutionContext;
  return { ...context, progress: silentProgress };
}

/**
 * The context of a call that no agent made, as in unit tests: its signal never
 * aborts, its state is empty and its progress goes nowhere.
 */
export function standaloneContext(
  toolName: string,
  args: Readonly<Record<string, unknown>>,
  options: ToolDispatchOptions = {},
): ToolExecutionContext {
  if (isContextOf(options, toolName, args)) return executionContext(options);
  return executionContext({
    agent: { agentId: "", remote: false },
    runId: "",
    turn: 0,
    state: emptyState,
    ...options,
    scope: options.scope ?? new RunScope(),
    signal: options.signal ?? new AbortController().signal,
    toolName,
    arguments: args,
  });
}

// A handler hands the whole context of a call to its dispatch; a copy of it
// would cost the signal, which is made when it is read.
function isContextOf(
  options: Partial<ToolCallContext>,
  toolName: string,
  args: Readonly<Record<string, unknown>>,
): options is ToolCallContext {
  return options.toolName === toolName && options.arguments === args &&
    options.scope !== undefined;
}

const emptyState: AgentStateView = frozen({
  messages: frozen([]),
  task: null,
  status: "idle",
  turn: 0,
  noToolResponseCount: 0,
  activeSkillName: null,
  result: null,
  error: null,
  lastRunResult: null,
  snapshot: () => emptyState,
});
