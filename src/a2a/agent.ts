import { errorText } from "../base/errors.ts";
import { type IdSource, randomIds, systemClock } from "../base/ports.ts";
import { requireInteger, requireText } from "../base/require.ts";
import { withDeadline } from "../base/deadline.ts";
import type { AgentInfo } from "../messages/agent_info.ts";
import { AgentBusyError } from "../pipeline/errors.ts";
import type { AgentRequest, AgentStream } from "../pipeline/middleware.ts";
import {
  PipelineAgent,
  type PipelineAgentOptions,
} from "../pipeline/pipeline_agent.ts";
import { Answer } from "./answer.ts";
import { A2AError } from "./errors.ts";
import {
  callMethod,
  type Connection,
  type FetchLike,
  getJson,
  streamMethod,
} from "./exchange.ts";
import { toParts } from "./parts.ts";
import { readCard, readFrame } from "./read.ts";
import { RemoteRun } from "./remote_run.ts";
import type { A2AAgentCard, A2AFrame, A2ATaskState } from "./wire.ts";

/** Where a remote agent is and how it is asked. */
export interface A2AAgentOptions extends PipelineAgentOptions {
  /** Stable id of the agent here. */
  readonly agentId: string;
  /** Address of its endpoint; enough if nothing else is known. */
  readonly url?: string | undefined;
  /** Where its card is; read before the first run. */
  readonly cardUrl?: string | undefined;
  /** Its card, if the program has it. */
  readonly card?: A2AAgentCard | undefined;
  /** Shown instead of the id. @default the name on the card */
  readonly name?: string | undefined;
  /** What the agent is for. @default the description on the card */
  readonly description?: string | undefined;
  /** Asks over HTTP. @default {globalThis.fetch} */
  readonly fetch?: FetchLike | undefined;
  /**
   * Headers of each request, over the usual ones; called for every request of the
   * run. They go to the card and to the endpoint that it names, and never along
   * with a redirect to another origin.
   */
  readonly headers?:
    | ((
      request: AgentRequest,
    ) => Headers | Record<string, string> | [string, string][])
    | undefined;
  /** Limit of one event and of an answer that is no stream. @default {4194304} */
  readonly maxEventBytes?: number | undefined;
  /** Makes the ids of runs and messages. @default {randomIds} */
  readonly ids?: IdSource | undefined;
}

/** What an {@linkcode A2AAgent} knows of its conversation; JSON. */
export interface A2AAgentState {
  /** The conversation at the agent; null before the first answer. */
  readonly contextId: string | null;
  /** The last task. */
  readonly taskId: string | null;
  /** How far it is. */
  readonly taskState: A2ATaskState | null;
}

const emptyState: A2AAgentState = Object.freeze({
  contextId: null,
  taskId: null,
  taskState: null,
});

const cancelTimeoutMs = 5000;

/**
 * An agent behind a network that speaks A2A 1.0 over JSON-RPC.
 *
 * One object is one conversation, and its runs happen one after the other. It
 * streams if the card says so or there is none. Text of messages and artifacts
 * is the answer, what a working task says is thinking; what is no text is left
 * out. A question of the agent completes the run, `taskState` tells, and the next
 * run answers it. Every failure, of the network too, is a failed result.
 *
 * @example Ask an agent that is served in the same program
 * ```ts
 * import { Agent } from "@ejagent/core";
 * import { A2AAgent, createA2AHandler } from "@ejagent/core/a2a";
 * import { ScriptedModel, text } from "@ejagent/core/testing";
 * import { equal } from "node:assert/strict";
 *
 * const served = new Agent({ agentId: "clock", model: new ScriptedModel([text("Noon")]) });
 * const handler = createA2AHandler({
 *   agentFor: () => served,
 *   card: { name: "Clock", description: "Tells the time.", version: "1.0.0" },
 * });
 *
 * const remote = new A2AAgent({
 *   agentId: "remote-clock",
 *   url: "http://clock.example/",
 *   fetch: (url, init) => handler(new Request(url, init)),
 * });
 * equal((await remote.run("What time is it?")).output, "Noon");
 * ```
 *
 * @see Agent2Agent Protocol 1.0, JSON-RPC binding.
 */
export class A2AAgent extends PipelineAgent {
  readonly #options: A2AAgentOptions;
  readonly #ids: IdSource;
  #card: A2AAgentCard | undefined;
  #state: A2AAgentState = emptyState;

  /**
   * Asks nothing yet.
   *
   * @throws {TypeError} Neither url, nor cardUrl, nor card; or an address is none.
   */
  constructor(options: A2AAgentOptions) {
    super(options);
    requireText("agentId", options.agentId);
    const { url, cardUrl, card, maxEventBytes } = options;
    if (url === undefined && cardUrl === undefined && card === undefined) {
      throw new TypeError("One of url, cardUrl and card must be given");
    }
    for (const address of [url, cardUrl]) {
      if (address !== undefined && !URL.canParse(address)) {
        throw new TypeError("url and cardUrl must be absolute addresses");
      }
    }
    if (maxEventBytes !== undefined) {
      requireInteger("maxEventBytes", maxEventBytes, 1);
    }
    this.#options = options;
    this.#ids = options.ids ?? randomIds;
    this.#card = card === undefined ? undefined : readCard(card);
  }

  /** Who it is, as far as that is known. */
  get info(): AgentInfo {
    const { agentId } = this.#options;
    const name = this.#options.name ?? this.#card?.name;
    const description = this.#options.description ?? this.#card?.description;
    const { contextId } = this.#state;
    return Object.freeze({
      agentId,
      ...(name !== undefined && { name }),
      ...(description !== undefined && { description }),
      ...(contextId !== null && { conversationId: contextId }),
      provider: "a2a",
      remote: true,
    });
  }

  /** How far the last task is; `"TASK_STATE_INPUT_REQUIRED"` if the agent asked something. */
  get taskState(): A2ATaskState | null {
    return this.#state.taskState;
  }

  /** Forgets the conversation here; the agent keeps what it knows. @throws {AgentBusyError} It runs. */
  reset(): void {
    this.restoreState(emptyState);
  }

  /** What is known of the conversation. */
  exportState(): A2AAgentState {
    return this.#state;
  }

  /** Goes on with a conversation. @throws {AgentBusyError} The agent runs. */
  restoreState({ contextId, taskId, taskState }: A2AAgentState): void {
    if (this.busy) {
      throw new AgentBusyError(
        "The conversation can be changed only while no run is active",
      );
    }
    this.#state = Object.freeze({ contextId, taskId, taskState });
  }

  /** Sends the task and yields the answer as it comes. */
  protected async *execute(request: AgentRequest): AgentStream {
    const { task = "", contextMessages, signal } = request;
    const parts = toParts(contextMessages, task);
    const answer = new Answer(this.#state.contextId);
    const run = new RemoteRun({
      agentId: this.#options.agentId,
      runId: this.#ids.next(),
      clock: this.#options.clock ?? systemClock,
    });
    let closed = true;
    try {
      yield* run.start(task);
      for await (const frame of this.#frames(request, parts, answer)) {
        for (const piece of answer.take(frame)) yield run.piece(piece);
        if (answer.ended) break;
      }
      yield* run.finish(answer);
      closed = false;
    } catch (error) {
      closed = false;
      if (signal.aborted) await this.#cancelTask(answer, request);
      yield* run.fail(answer, error, signal);
    } finally {
      if (closed) await this.#cancelTask(answer, request);
      this.#remember(answer);
    }
    return run.result;
  }

  /** The frames of the answer; asks once more if they stop before its end. */
  async *#frames(
    request: AgentRequest,
    parts: unknown,
    answer: Answer,
  ): AsyncGenerator<A2AFrame, void, void> {
    const connection = this.#connection(request, request.signal);
    const url = await this.#endpoint(connection);
    const call = {
      method: this.#streams ? "SendStreamingMessage" : "SendMessage",
      params: { message: this.#message(parts) },
      id: this.#ids.next(),
    };
    if (this.#streams) {
      for await (const result of streamMethod(url, call, connection)) {
        yield frameOf(result);
      }
    } else {
      yield frameOf(await callMethod(url, call, connection));
    }
    if (answer.ended) return;
    if (answer.taskId !== null) {
      const task = await callMethod(url, {
        method: "GetTask",
        params: { id: answer.taskId },
        id: this.#ids.next(),
      }, connection);
      yield frameOf({ task });
    }
    if (!answer.ended) {
      throw new A2AError("The agent stopped before it had finished the task");
    }
  }

  #message(parts: unknown): unknown {
    const { contextId, taskId, taskState } = this.#state;
    return {
      messageId: this.#ids.next(),
      role: "ROLE_USER",
      parts,
      ...(contextId !== null && { contextId }),
      ...(taskId !== null &&
        (taskState === "TASK_STATE_INPUT_REQUIRED"
          ? { taskId }
          : { referenceTaskIds: [taskId] })),
    };
  }

  get #streams(): boolean {
    return this.#card?.capabilities?.streaming ?? this.#card === undefined;
  }

  async #endpoint(connection: Connection): Promise<string> {
    const { url, cardUrl } = this.#options;
    if (this.#card === undefined && cardUrl !== undefined) {
      const card = await getJson(cardUrl, connection);
      this.#card = checked(card, readCard);
    }
    if (url !== undefined) return url;
    const endpoint = this.#card?.supportedInterfaces.find((place) =>
      place.protocolBinding === "JSONRPC" &&
      String(place.protocolVersion).startsWith("1.")
    );
    if (endpoint === undefined || !URL.canParse(endpoint.url, cardUrl)) {
      throw new A2AError(
        "The card offers no interface for JSON-RPC and version 1 of the protocol",
      );
    }
    return new URL(endpoint.url, cardUrl).href;
  }

  #connection(request: AgentRequest, signal: AbortSignal): Connection {
    const { fetch, headers, maxEventBytes = 4 * 1024 * 1024 } = this.#options;
    return {
      // Workers refuse to call their fetch as the method of another object.
      fetch: fetch ?? ((url, init) => globalThis.fetch(url, init)),
      headers: new Headers(headers?.(request)),
      maxEventBytes,
      signal,
    };
  }

  /** Tells the agent that nobody waits any longer; how that ends interests nobody. */
  async #cancelTask(answer: Answer, request: AgentRequest): Promise<void> {
    const { taskId, ended } = answer;
    if (taskId === null || ended) return;
    const { clock = systemClock } = this.#options;
    const call = {
      method: "CancelTask",
      params: { id: taskId },
      id: this.#ids.next(),
    };
    try {
      await withDeadline(async (signal) => {
        const connection = this.#connection(request, signal);
        await callMethod(await this.#endpoint(connection), call, connection);
      }, { clock, ms: cancelTimeoutMs, what: "CancelTask" });
    } catch {
      // The run is cancelled here in any case.
    }
  }

  #remember({ contextId, taskId, state }: Answer): void {
    if (contextId === null) return;
    this.#state = Object.freeze({ contextId, taskId, taskState: state });
  }
}

function frameOf(result: unknown): A2AFrame {
  return checked(result, readFrame);
}

function checked<T>(value: unknown, read: (value: unknown) => T): T {
  try {
    return read(value);
  } catch (error) {
    throw new A2AError(
      `The agent answered against the protocol: ${errorText(error)}`,
      { cause: error },
    );
  }
}
