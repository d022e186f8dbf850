import { frozen } from "../base/freeze.ts";
import {
  requireMember,
  requireMethods,
  requireObject,
} from "../base/require.ts";
import { restoredConversation } from "../session/restore.ts";
import {
  SessionRecorder,
  type SessionRecorderOptions,
} from "../session/recorder.ts";
import type {
  SessionCheckout,
  SessionTreeStorage,
} from "../session/storage.ts";
import type { AgentInfo } from "../messages/agent_info.ts";
import type { HistoryProvider, HistoryRun, LoadedHistory } from "./history.ts";

/** How a {@linkcode SessionHistoryProvider} works. */
export interface SessionHistoryProviderOptions
  extends Omit<SessionRecorderOptions, "storage" | "required"> {
  /** Where the session is kept. */
  readonly storage: SessionTreeStorage;
  /**
   * What to do with a run that was interrupted, for example by a crash: refuse
   * to go on, or close it with interrupted results and go on. A journal does not
   * show whether the writer of an open run is still there; one that is loses its
   * run to the recovery.
   *
   * @default {"reject"}
   */
  readonly onUnfinished?: "reject" | "recover" | undefined;
}

const nothing: LoadedHistory = frozen({
  messages: frozen([]),
  lastRunResult: null,
});

const needed = ["append", "checkout", "head", "recoverInterruptedRun"];

const unfinishedChoices = { reject: true, recover: true } as const;

/**
 * Keeps the conversation of an agent in a session.
 *
 * Every run begins with what the session's branch holds and is recorded while
 * it happens: a run that cannot be recorded stops before its next model request
 * or tool call and fails. Writers exclude each other: a run that somebody else
 * overtook is refused at its first record.
 *
 * @example An agent that remembers across restarts
 * ```ts
 * import { Agent, MemorySessionStorage, SessionHistoryProvider } from "@ejagent/core";
 * import { ScriptedModel, text } from "@ejagent/core/testing";
 * import { equal } from "node:assert/strict";
 *
 * const storage = new MemorySessionStorage();
 * const agentAfterRestart = (answer: string) =>
 *   new Agent({
 *     agentId: "helper",
 *     model: new ScriptedModel([text(answer)]),
 *     history: new SessionHistoryProvider({ storage, sessionId: "s1" }),
 *   });
 *
 * await agentAfterRestart("Hello.").run("Hi");
 * const second = agentAfterRestart("You said hi.");
 * await second.run("What did I say?");
 * equal(second.messages.filter((message) => message.role === "user").length, 2);
 * ```
 */
export class SessionHistoryProvider implements HistoryProvider {
  /** `"session"`. */
  readonly sourceId = "session";
  /** Id of the session. */
  readonly conversationId: string;
  /** Records the runs; called before all other sinks. */
  readonly sink: SessionRecorder;
  readonly #storage: SessionTreeStorage;
  readonly #onUnfinished: "reject" | "recover";
  /** The agent that holds what was loaded last. */
  #holder: AgentInfo | null = null;
  #lastLoad: symbol | undefined;

  /**
   * Touches nothing yet.
   *
   * @throws {TypeError} Wrong options. @throws {RangeError} Blank ids.
   */
  constructor(options: SessionHistoryProviderOptions) {
    const { onUnfinished = "reject", ...recording } = requireObject(
      "The options of a SessionHistoryProvider",
      options,
    );
    this.#onUnfinished = requireMember(
      "onUnfinished",
      onUnfinished,
      unfinishedChoices,
    );
    requireMethods("storage", options.storage, needed);
    this.#storage = options.storage;
    this.sink = new SessionRecorder({ ...recording, required: true });
    this.conversationId = this.sink.sessionId;
  }

  /**
   * Fetches what the branch holds.
   *
   * @returns Null if the agent holds it already; an empty conversation if there is no
   * session, or none any longer.
   * @throws {SessionArgumentError} The session belongs to another agent, or has
   * an unfinished run that is not to be recovered.
   */
  async load(run: HistoryRun): Promise<LoadedHistory | null> {
    const load = this.#lastLoad = Symbol();
    const { sessionId, branchId } = this.sink;
    const { agent, signal } = run;
    const record = await this.#storage.head(sessionId, { branchId, signal });
    const head = record?.recordId ?? null;
    const isHeld = this.#isHeldBy(agent, head);
    if (this.#lastLoad === load) this.sink.expectHead(head);
    if (isHeld) return null;
    const checkout = head === null ? null : await this.#checkout(signal);
    const loaded = checkout === null
      ? nothing
      : restoredConversation(checkout.session, agent.agentId);
    // A load that nobody waited for must not speak for a later one.
    if (this.#lastLoad === load) {
      if (checkout !== null) this.sink.continueFrom(checkout);
      this.#holder = agent;
    }
    return loaded;
  }

  // What could not be recorded is in the agent, but not in the session.
  #isHeldBy(agent: AgentInfo, head: string | null): boolean {
    return this.#holder === agent && this.sink.failure === null &&
      head === (this.sink.head ?? null);
  }

  /** The agent no longer holds the conversation. */
  reset(): void {
    this.#holder = null;
    this.#lastLoad = undefined;
  }

  async #checkout(signal: AbortSignal): Promise<SessionCheckout | null> {
    const { sessionId, branchId } = this.sink;
    const options = { branchId, signal };
    const checkout = await this.#storage.checkout(sessionId, options);
    const isUnfinished = (checkout?.session.unfinishedRunIds.length ?? 0) > 0;
    if (!isUnfinished || this.#onUnfinished === "reject") return checkout;
    const recovery = await this.#storage.recoverInterruptedRun(
      sessionId,
      options,
    );
    return recovery.status === "recovered"
      ? recovery.checkout
      : await this.#storage.checkout(sessionId, options);
  }
}
