import type { AgentEvent } from "../events/event.ts";
import type { ToolEffect } from "../messages/tool.ts";
import type { AgentRunResult } from "../messages/result.ts";
import { type DefinedTool, defineTool } from "../tools/define_tool.ts";
import { ToolDefinitionError } from "../tools/errors.ts";
import type { ToolExecutionContext } from "../tools/execution_context.ts";
import type { ToolProgressReporter } from "../tools/progress.ts";
import type { AgentLike } from "./agent_like.ts";

/** How an agent looks as a tool. */
export interface AgentToolOptions {
  /**
   * Name of the tool. By default the name or id of the agent, what is no ASCII
   * letter, digit, `_` or `-` replaced by `_`; needed if the agent is made by a
   * function.
   */
  readonly name?: string | undefined;
  /** What the calling model reads. @default the description of the agent */
  readonly description?: string | undefined;
  /** Name of the one argument. @default {"task"} */
  readonly argument?: string | undefined;
  /** What the calling model reads about it. */
  readonly argumentDescription?: string | undefined;
  /** What a run of the agent does to the world. @default {"side_effecting"} */
  readonly effect?: ToolEffect | undefined;
  /** Reports the agent's messages and tool calls as progress of this call. @default {false} */
  readonly forwardProgress?: boolean | undefined;
  /** Gets every result: its usage is not part of the calling run's. */
  readonly onResult?: ((result: AgentRunResult) => void) | undefined;
}

/** Makes the agent for one call. */
export type AgentFactory = (
  context: ToolExecutionContext,
) => AgentLike | Promise<AgentLike>;

/**
 * Lets one agent call another: the model asks with a task and reads the answer.
 *
 * The called agent runs under the signal and in the scope of the call. A run
 * that does not complete is an error result; the calling run goes on.
 *
 * @param agent An agent, whose conversation all calls share and whose runs happen
 * one after the other; or a function that makes a fresh one for each call, which
 * is disposed of afterwards if it can be.
 * @throws {ToolDefinitionError} No usable name.
 *
 * @example A researcher that works for a writer
 * ```ts
 * import { Agent, agentTool } from "@ejagent/core";
 * import { calls, ScriptedModel, text } from "@ejagent/core/testing";
 * import { equal } from "node:assert/strict";
 *
 * const researcher = new Agent({
 *   agentId: "researcher",
 *   description: "Finds facts.",
 *   model: new ScriptedModel([text("It opened in 1889.")]),
 * });
 * const writer = new Agent({
 *   agentId: "writer",
 *   model: new ScriptedModel([
 *     calls([{ name: "researcher", arguments: { task: "When did it open?" } }]),
 *     text("The tower opened in 1889."),
 *   ]),
 *   tools: [agentTool(researcher)],
 * });
 *
 * equal(await writer.runText("Write about the tower"), "The tower opened in 1889.");
 * ```
 */
export function agentTool(
  agent: AgentLike | AgentFactory,
  options: AgentToolOptions = {},
): DefinedTool {
  const { argument = "task", effect = "side_effecting" } = options;
  const info = typeof agent === "function" ? undefined : agent.info;
  return defineTool({
    name: options.name ?? toolName(info?.name ?? info?.agentId ?? ""),
    description: options.description ?? info?.description ?? "",
    effect,
    parameters: {
      type: "object",
      properties: {
        [argument]: {
          type: "string",
          ...(options.argumentDescription !== undefined && {
            description: options.argumentDescription,
          }),
        },
      },
      required: [argument],
      additionalProperties: false,
    },
    async execute(args: Record<string, unknown>, context) {
      const task = requireTaskText(args, argument);
      if (typeof agent !== "function") {
        return await ask(agent, task, { context, options });
      }
      const fresh = await agent(context);
      try {
        return await ask(fresh, task, { context, options });
      } finally {
        await dispose(fresh);
      }
    },
  });
}

async function ask(
  agent: AgentLike,
  task: string,
  call: {
    readonly context: ToolExecutionContext;
    readonly options: AgentToolOptions;
  },
): Promise<unknown> {
  const { context: { signal, scope, progress }, options } = call;
  const stream = agent.stream(task, { signal, scope });
  if (options.forwardProgress) {
    for await (const event of stream) forward(event, progress);
  }
  const result = await stream.finalResult();
  options.onResult?.(result);
  if (result.succeeded) return result.output;
  // An abort of the calling run cancels this call like any other.
  signal.throwIfAborted();
  return {
    status: "error",
    agent: agent.info.agentId,
    code: result.stopReason,
    error: result.error,
  };
}

// Not awaited: the calling run's observers must not hold the called agent up.
function forward(event: AgentEvent, progress: ToolProgressReporter): void {
  if (event.kind === "message_completed" && event.message.content) {
    void progress.report(event.message.content);
  } else if (event.kind === "tool_started") {
    void progress.report(`Calls ${event.toolCall.name}`);
  }
}

function toolName(text: string): string {
  const name = text.replace(/[^A-Za-z0-9_-]+/g, "_").slice(0, 64);
  if (name !== "") return name;
  throw new ToolDefinitionError(
    "The agent has no name that a tool could have; pass one as name",
  );
}

function requireTaskText(
  args: Readonly<Record<string, unknown>>,
  argument: string,
): string {
  const task = args[argument];
  if (typeof task === "string" && task.trim() !== "") return task;
  throw new TypeError(
    `The argument ${argument} must be a text that is not blank`,
  );
}

async function dispose(agent: AgentLike): Promise<void> {
  await (agent as Partial<AsyncDisposable>)[Symbol.asyncDispose]?.();
}
