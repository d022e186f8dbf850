import { toCancelledError } from "../base/abort.ts";
import { AgentConfigurationError } from "../base/errors.ts";
import { frozen, frozenCopy } from "../base/freeze.ts";
import type { JsonValue } from "../base/json.ts";
import { requireMethods, requireObject, requireText } from "../base/require.ts";
import type { CompactionResult } from "../context/compaction.ts";
import type { AgentInfo } from "../messages/agent_info.ts";
import {
  contentText,
  requireTask,
  type TaskInput,
} from "../messages/content.ts";
import type { ControlInput, ControlInputKind } from "../messages/control.ts";
import type { AgentMessage } from "../messages/message.ts";
import { requireMessages } from "../messages/require_messages.ts";
import {
  type AgentRunResult,
  throwIfNotCompleted,
} from "../messages/result.ts";
import type { AgentStateView } from "../messages/state.ts";
import type { OpenAIFunctionTool } from "../messages/tool.ts";
import type {
  AgentLike,
  AgentRunStream,
  RunOptions,
} from "../pipeline/agent_like.ts";
import { AgentBusyError } from "../pipeline/errors.ts";
import { type Middleware, requireMiddleware } from "../pipeline/middleware.ts";
import { requireRunOptions } from "../pipeline/run_options.ts";
import { runStream } from "../pipeline/run_stream.ts";
import type { AgentSession } from "../session/session.ts";
import type {
  SessionCheckout,
  SessionRecoveryResult,
  SessionTreeStorage,
} from "../session/storage.ts";
import type { ToolDefinition } from "../tools/definition.ts";
import type { StepOutcome } from "../tools/outcome.ts";
import { compactAlone, type CompactOptions } from "./compaction.ts";
import {
  type ContinueRejectedReason,
  conversationRefusal,
} from "./continuation.ts";
import { type AgentCore, agentCore } from "./core.ts";
import type { FollowUpHandle } from "./follow_up.ts";
import {
  type AgentLifecycle,
  AgentResources,
  type ShutdownOptions,
} from "./lifecycle.ts";
import { loadAtStartup } from "./loaded_history.ts";
import { type AgentOptions, resolveOptions } from "./options.ts";
import { type OperationOptions, RunChain, type Wanted } from "./run_chain.ts";
import { startWithin } from "./start_up.ts";
import {
  recoverSession,
  type RecoverSessionOptions,
  requireOwnHistory,
  restoreProviderState,
  restoreSession,
} from "./restoration.ts";
import type { SteeringReceipt } from "./steering.ts";

/**
 * An agent: a conversation, a model, tools, and the loop between them.
 *
 * Runs of one agent happen one after the other, in the order of the calls, on
 * one growing conversation. Resources are started by the first operation and
 * stay started until `shutdown()`. What can be said to be wrong at once is
 * thrown; whatever goes wrong in a run becomes part of its result.
 *
 * @example Ask, with a tool
 * ```ts
 * import { Agent, defineTool } from "@ejagent/core";
 * import { calls, ScriptedModel, text } from "@ejagent/core/testing";
 * import { equal } from "node:assert/strict";
 *
 * const add = defineTool({
 *   name: "add",
 *   description: "Adds two numbers.",
 *   parameters: {
 *     type: "object",
 *     properties: { left: { type: "number" }, right: { type: "number" } },
 *     required: ["left", "right"],
 *   },
 *   effect: "read_only",
 *   execute: ({ left, right }) => ({ sum: left + right }),
 * });
 * const model = new ScriptedModel([
 *   calls([{ name: "add", arguments: { left: 19, right: 23 } }]),
 *   text("It is 42."),
 * ]);
 * const agent = new Agent({ agentId: "calculator", model, tools: [add] });
 *
 * equal(await agent.runText("What is 19 + 23?"), "It is 42.");
 * await agent.shutdown();
 * ```
 */
export class Agent implements AgentLike, AsyncDisposable {
  readonly #core: AgentCore;
  readonly #resources: AgentResources;
  readonly #chain: RunChain;
  readonly #middleware: Middleware[];

  /**
   * Checks the options; starts nothing and touches nothing outside.
   *
   * @throws {TypeError} An option has the wrong type.
   * @throws {RangeError} An option is blank or out of range.
   * @throws {ToolDefinitionError} A tool is defined wrongly, or two of one list share a name.
   * @throws {AgentConfigurationError} Middleware that wraps nothing, or clashing providers.
   */
  constructor(options: AgentOptions) {
    const config = resolveOptions(options);
    this.#middleware = [...config.middleware];
    this.#core = agentCore(config, this.#middleware);
    this.#resources = new AgentResources(this.#core);
    this.#chain = new RunChain(this.#core, this.#resources);
  }

  /** Stable id of the agent. */
  get agentId(): string {
    return this.#core.config.agentId;
  }

  /** Who the agent is. */
  get info(): AgentInfo {
    return this.#core.info;
  }

  /** A live, read-only view of what the agent remembers; always the same object. */
  get state(): AgentStateView {
    return this.#core.state.view;
  }

  /** The conversation, oldest first: a frozen snapshot of frozen messages. */
  get messages(): readonly AgentMessage[] {
    return this.#core.state.conversation.messages;
  }

  /** The tools as the model sees them now. */
  get tools(): readonly OpenAIFunctionTool[] {
    return this.#core.tools.tools;
  }

  /** The definitions behind {@linkcode tools}. */
  get toolDefinitions(): readonly ToolDefinition[] {
    return this.#core.tools.toolDefinitions;
  }

  /** What the agent's resources are doing. */
  get lifecycle(): AgentLifecycle {
    const { status } = this.#resources;
    return status === "ready" && this.#chain.operation !== null
      ? "running"
      : status;
  }

  /** Steering inputs that wait; 0 without an active run. */
  get pendingSteeringCount(): number {
    return this.#chain.operation?.steering.size ?? 0;
  }

  /** Follow-ups whose runs have not begun. */
  get pendingFollowUpCount(): number {
    return this.#chain.pendingFollowUpCount;
  }

  /** Why `continueRun` would be refused now; null if it would not. */
  get continueRejectionReason(): ContinueRejectedReason | null {
    const { state } = this.#core;
    return this.#chain.continueRefusal ??
      conversationRefusal(state.lastRunResult, state.conversation.messages);
  }

  /** True if `continueRun` would not be refused now. */
  get canContinue(): boolean {
    return this.continueRejectionReason === null;
  }

  /** A detached copy of what context providers keep, by source id. */
  get providerState(): Readonly<
    Record<string, Readonly<Record<string, JsonValue>>>
  > {
    return frozenCopy(Object.fromEntries(this.#core.providerStates));
  }

  /**
   * Appends middleware, inside what is there already.
   *
   * @returns The agent.
   * @throws {AgentConfigurationError} It wraps nothing, or the agent was started before.
   */
  use(...middleware: Middleware[]): this {
    if (this.#resources.status !== "new") {
      throw new AgentConfigurationError(
        "Middleware can be added only before the first start-up",
      );
    }
    this.#middleware.push(...middleware.map(requireMiddleware));
    return this;
  }

  /**
   * Runs a task and waits for its result.
   *
   * Waits its turn behind earlier operations. A text is used as it is. What goes
   * wrong in the run, an abort too, is a result; what `aroundRun` throws rejects.
   *
   * @returns The result, whatever its status.
   * @throws {TypeError} The task is neither a text nor a list of content parts, or an option is wrong.
   * @throws {RangeError} The task is blank.
   * @throws {AgentCancelledError} `signal` aborted before the run began.
   * @throws {AgentStartupError} The agent's resources could not be started.
   * @throws {AgentShuttingDownError} The agent is shutting down.
   * @throws {AgentReentrancyError} Called from inside a run of this agent.
   */
  async run(
    task: TaskInput,
    options: RunOptions = {},
  ): Promise<AgentRunResult> {
    return await this.#chain.launch(
      { kind: "task", task: requireTask(task) },
      requireRunOptions(options),
    ).result;
  }

  /**
   * Runs a task and shows its events.
   *
   * @throws {TypeError} The task is neither a text nor a list of content parts, or an option is wrong.
   * @throws {RangeError} The task is blank.
   */
  stream(task: TaskInput, options: RunOptions = {}): AgentRunStream {
    const wanted: Wanted = { kind: "task", task: requireTask(task) };
    const checked = requireRunOptions(options);
    return runStream((observe) => this.#chain.launch(wanted, checked, observe));
  }

  /**
   * Runs a task and returns its output.
   *
   * @throws {AgentRunError} The run did not complete.
   */
  async runText(task: TaskInput, options: RunOptions = {}): Promise<string> {
    return throwIfNotCompleted(await this.run(task, options)).output ?? "";
  }

  /**
   * Goes on without a new task; {@linkcode ContinueRejectedError} says after which ends.
   *
   * @throws {ContinueRejectedError} The agent is active, or its last run cannot be continued.
   */
  async continueRun(options: RunOptions = {}): Promise<AgentRunResult> {
    return await this.#chain.launch(
      { kind: "continue" },
      requireRunOptions(options),
    ).result;
  }

  /** Goes on without a new task and shows the events; refusals meet the reader. */
  continueStream(options: RunOptions = {}): AgentRunStream {
    const checked = requireRunOptions(options);
    return runStream((observe) =>
      this.#chain.launch({ kind: "continue" }, checked, observe)
    );
  }

  /**
   * Aborts what is active: a run, a compaction or a dispatched tool.
   *
   * @returns True if that changed anything; false without an active operation, after an
   * earlier abort, and once the outcome is decided.
   */
  abort(reason?: string): boolean {
    return this.#chain.operation?.abort(toCancelledError(reason)) ?? false;
  }

  /**
   * Says something into the active run; it reaches the model with the next request.
   *
   * @throws {TypeError} No text.
   * @throws {RangeError} Blank.
   */
  steer(content: string): SteeringReceipt {
    const text = requireText("The steering text", content);
    return this.#chain.steer(this.#control("steering", { content: text }));
  }

  /**
   * Queues a task behind the active run.
   *
   * @throws {TypeError} Neither a text nor a list of content parts.
   * @throws {RangeError} Blank.
   */
  followUp(task: TaskInput): FollowUpHandle {
    const wanted = requireTask(task);
    return this.#chain.followUp(this.#control("follow_up", {
      content: contentText(wanted).trim(),
      ...(typeof wanted !== "string" && { parts: wanted }),
    }));
  }

  /** Resolves when nothing is active or queued; never rejects. */
  waitForIdle(): Promise<void> {
    return this.#chain.whenIdle();
  }

  /**
   * Starts the agent's resources; nothing if they are started.
   *
   * Waits its turn behind earlier operations. An abort of `signal` ends the
   * waiting: what is starting by then goes on, and the next operation finds it.
   *
   * @throws What failed, after everything that was started has been shut down again.
   * @throws {AgentCancelledError} `signal` aborted, or the agent was shut down.
   */
  async startup(options: Pick<OperationOptions, "signal"> = {}): Promise<void> {
    await this.#chain.operate("startup", options, async ({ cancellation }) => {
      if (this.#resources.status === "ready") return;
      await cancellation.race(() => this.#resources.startup());
      await loadAtStartup(this.#core, cancellation);
    });
  }

  /**
   * Discards waiting follow-ups at once, waits for what is active and stops the resources;
   * a start-up is ended. The agent can be used again afterwards.
   *
   * @throws {AgentShutdownError} Something failed to stop.
   */
  async shutdown(options: ShutdownOptions = {}): Promise<void> {
    const { abort } = requireObject("The options", options);
    await this.#chain.shutDown(() => this.#resources.shutdown(), abort);
  }

  /** Shuts the agent down. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.shutdown();
  }

  /**
   * Executes one tool through the agent's middleware, without a run.
   *
   * @returns What the tool came to; what it throws is thrown.
   * @throws {UnknownToolError} No tool has that name.
   */
  async dispatch(
    toolName: string,
    args: Readonly<Record<string, unknown>>,
    options: OperationOptions = {},
  ): Promise<StepOutcome> {
    return await this.#chain.operate(
      "dispatch",
      options,
      async (operation, scope) => {
        await startWithin(this.#resources, operation);
        return await this.#core.tools.dispatch({
          toolName,
          arguments: requireObject("The arguments of a tool", args),
          cancellation: operation.cancellation,
          agent: this.info,
          state: this.state,
          scope,
        });
      },
    );
  }

  /**
   * Summarises the older part of the conversation.
   *
   * @returns What came of it; once it has begun, failures and aborts are results, not errors.
   * @throws {AgentConfigurationError} No compactor, or no compaction policy.
   * @throws {AgentCancelledError} Aborted before it began. @throws What the history's load throws.
   */
  async compact(options: CompactOptions = {}): Promise<CompactionResult> {
    const { compactor: own, compactionPolicy: policy } = this.#core.config;
    const compactor = requireObject("The options", options).compactor ?? own;
    if (compactor !== null) requireMethods("compactor", compactor, ["compact"]);
    if (compactor === null || policy === null) {
      throw new AgentConfigurationError(
        "compact() needs a compactor and a compactionPolicy in the agent's options",
      );
    }
    return await this.#chain.operate(
      "compaction",
      options,
      async (operation) => {
        await startWithin(this.#resources, operation);
        return await compactAlone(this.#core, { compactor, policy, operation });
      },
    );
  }

  /**
   * Starts the conversation over; a history that loads by itself does so again.
   *
   * @param history Messages behind the agent's own system messages; copied.
   * @throws {TypeError} No list of messages.
   * @throws {AgentConfigurationError} Messages, and a history that loads by itself.
   * @throws {AgentBusyError} Something is active or queued.
   */
  reset(history: readonly AgentMessage[] = []): void {
    this.#requireIdle("reset()");
    requireMessages("history", history);
    if (history.length > 0) requireOwnHistory(this.#core, "reset(messages)");
    this.#core.state.reset(history);
    this.#core.config.history.reset?.();
    this.#core.providerStates.clear();
  }

  /**
   * Goes on with a session that was kept: replaces the conversation, and makes a
   * continue of its last run possible.
   *
   * A checkout also ties recorders of the same branch among the agent's sinks to
   * its head, so that somebody else's later records are not overwritten.
   *
   * @throws {TypeError} Neither a session nor a checkout.
   * @throws {AgentBusyError} Something is active or queued.
   * @throws {SessionArgumentError} The session belongs to another agent or has an unfinished run.
   * @throws {AgentConfigurationError} The agent's history provider loads by itself.
   */
  restoreSession(source: AgentSession | SessionCheckout): void {
    this.#requireIdle("restoreSession()");
    restoreSession(this.#core, source);
  }

  /**
   * Closes an interrupted run of a session, if there is one, and goes on with
   * the session.
   *
   * Calls that were open are answered as interrupted; no tool is run.
   *
   * @returns What the recovery found.
   * @throws {SessionArgumentError} There is no such session or branch, or it belongs to another agent.
   */
  async recoverSession(
    storage: SessionTreeStorage,
    options: RecoverSessionOptions,
  ): Promise<SessionRecoveryResult> {
    return await this.#chain.alone(() =>
      recoverSession(this.#core, storage, options)
    );
  }

  /**
   * Puts back what context providers keep.
   *
   * @param value What {@linkcode providerState} gave.
   * @throws {TypeError} No object of objects; nothing is changed.
   * @throws {AgentBusyError} Something is active or queued.
   */
  restoreProviderState(
    value: Readonly<Record<string, Readonly<Record<string, JsonValue>>>>,
  ): void {
    this.#requireIdle("restoreProviderState()");
    restoreProviderState(this.#core, value);
  }

  #control(
    kind: ControlInputKind,
    input: Pick<ControlInput, "content" | "parts">,
  ): ControlInput {
    return frozen({
      inputId: this.#core.config.ids.next(),
      kind,
      ...input,
    });
  }

  #requireIdle(what: string): void {
    if (this.#chain.busy) {
      throw new AgentBusyError(
        `${what} needs an idle agent; wait for agent "${this.agentId}" with waitForIdle() first`,
      );
    }
  }
}
