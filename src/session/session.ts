import { deepFreeze, frozen, frozenCopy } from "../base/freeze.ts";
import {
  contentText,
  requireTask,
  type TaskInput,
} from "../messages/content.ts";
import type { AgentMessage } from "../messages/message.ts";
import type { AgentRunResult } from "../messages/result.ts";
import { requireId, requireSessionId } from "./ids.ts";
import { documentOf, type WireSessionDocument } from "./session_document.ts";
import {
  addMessage,
  applyCompaction,
  beginContinue,
  beginTask,
  bindAgent,
  conversationOf,
  emptyState,
  finishRun,
  lastRunOf,
  runsOf,
  type SessionCompaction,
  type SessionEntry,
  type SessionRun,
  type SessionState,
} from "./state.ts";
import { itemsOf } from "./strand.ts";

/** Where a run stands in its session. */
export interface SessionRunPoint {
  /** Id of the run. */
  readonly runId: string;
  /** Sequence of the event that brings the change; at least 1. */
  readonly sequence: number;
}

// Beside the objects, so that the rest of this floor can make and open sessions.
const states = new WeakMap<AgentSession, SessionState>();

/**
 * A whole conversation that belongs to one agent: its messages, its runs and
 * what compaction did to it.
 *
 * A session is the caller's own. Storages hand out independent objects, and
 * changing one changes neither what is stored nor any other. Lists and messages
 * that it gives are frozen.
 *
 * The changing methods serve those who write sessions by hand; a
 * {@linkcode SessionRecorder} does it for the runs of an agent. Each throws a
 * {@linkcode SessionSerializationError} and changes nothing if it would break a
 * rule: run ids are unique, one run is open at a time, sequences of a run never
 * go back.
 *
 * @example Write a session by hand and store it
 * ```ts
 * import { AgentSession, MemorySessionStorage, runResult } from "@ejagent/core";
 * import { equal } from "node:assert/strict";
 *
 * const session = new AgentSession("support-17", "helper");
 * session.beginRun({ runId: "r1", sequence: 1 }, "Hello?");
 * session.appendMessage({ runId: "r1", sequence: 3 }, { role: "assistant", content: "Hi!" });
 * session.finishRun({ runId: "r1", sequence: 5 }, runResult({ stopReason: "text_response" }));
 *
 * const storage = new MemorySessionStorage();
 * await storage.save(session);
 * equal((await storage.load("support-17"))?.messages.length, 2);
 * ```
 */
export class AgentSession {
  // What is derived from a state is kept as long as the state.
  #entries: readonly SessionEntry[] | undefined;
  #runs: readonly SessionRun[] | undefined;
  #compactions: readonly SessionCompaction[] | undefined;
  #messages: readonly AgentMessage[] | undefined;

  /**
   * Makes an empty session.
   *
   * @param sessionId Trimmed.
   * @param agentId Trimmed; null leaves the session to the first agent that uses it.
   * @throws {TypeError} Not a string. @throws {RangeError} Blank.
   */
  constructor(sessionId: string, agentId: string | null = null) {
    states.set(
      this,
      emptyState(
        requireSessionId(sessionId),
        agentId === null ? null : requireId("agentId", agentId),
      ),
    );
  }

  /** Id of the session. */
  get sessionId(): string {
    return this.#state.sessionId;
  }

  /** The agent that the session belongs to; null while it belongs to none. */
  get agentId(): string | null {
    return this.#state.agentId;
  }

  /** Every message that was ever added, oldest first; compaction removes none. */
  get entries(): readonly SessionEntry[] {
    return this.#entries ??= deepFreeze(itemsOf(this.#state.entries));
  }

  /** All runs, oldest first. */
  get runs(): readonly SessionRun[] {
    return this.#runs ??= deepFreeze(runsOf(this.#state));
  }

  /** All compactions, oldest first. */
  get compactions(): readonly SessionCompaction[] {
    return this.#compactions ??= deepFreeze(
      itemsOf(this.#state.compactions),
    );
  }

  /**
   * The conversation to go on with, oldest first: what the newest compaction
   * left, then every message added since. Without the agent's own system
   * messages.
   */
  get messages(): readonly AgentMessage[] {
    // One by one, so that whoever takes a message over need not copy it.
    return this.#messages ??= frozen(
      conversationOf(this.#state).map(deepFreeze),
    );
  }

  /** Ids of runs that have not finished; one at most unless the document says otherwise. */
  get unfinishedRunIds(): readonly string[] {
    return this.#state.openRuns.map((run) => run.runId);
  }

  /** The newest run; null if there is none. */
  get lastRun(): SessionRun | null {
    return deepFreeze(lastRunOf(this.#state));
  }

  /** Number literals that were rounded when the session was read, since no number of ours holds them. */
  get lossyNumbers(): readonly string[] {
    return this.#state.lossyNumbers;
  }

  /** Ties the session to an agent. @throws {SessionSerializationError} It belongs to another. */
  bindAgent(agentId: string): void {
    this.#set(bindAgent(this.#state, requireId("agentId", agentId)));
  }

  /** Begins a run; its task becomes a user message. */
  beginRun(point: SessionRunPoint, task: TaskInput): void {
    const content = requireContent(task);
    this.#set(
      beginTask(this.#state, { ...point, task: contentText(content) }, content),
    );
  }

  /** Begins a run that goes on without a task. */
  beginContinue(point: SessionRunPoint): void {
    this.#set(beginContinue(this.#state, point.runId, point.sequence));
  }

  /** Adds a message to the open run; several may share a sequence. */
  appendMessage(point: SessionRunPoint, message: AgentMessage): void {
    const { runId, sequence } = point;
    this.#set(
      addMessage(this.#state, {
        runId,
        sequence,
        message: frozenCopy(message),
      }),
    );
  }

  /** Ends the open run; its sequence must be higher than every one before. */
  finishRun(point: SessionRunPoint, result: AgentRunResult): void {
    const { runId, sequence } = point;
    this.#set(
      finishRun(this.#state, {
        runId,
        finishSequence: sequence,
        result,
        recovery: null,
      }),
    );
  }

  /** Replaces the conversation so far; entries stay. */
  applyCompaction(
    compaction: Omit<SessionCompaction, "coveredEntryCount">,
  ): void {
    const messages = frozenCopy(compaction.messages);
    this.#set(applyCompaction(this.#state, { ...compaction, messages }));
  }

  /**
   * The whole session as a JSON document, as `sessionToJson` gives it;
   * `JSON.stringify` calls it.
   *
   * @throws {SessionSerializationError} The session was read from a document that
   * contradicts itself.
   */
  toJSON(): WireSessionDocument {
    return documentOf(this.#state);
  }

  get #state(): SessionState {
    return stateOf(this);
  }

  #set(state: SessionState): void {
    states.set(this, state);
    this.#entries =
      this.#runs =
      this.#compactions =
      this.#messages =
        undefined;
  }
}

// A blank text is a task to a session, though no agent accepts it.
function requireContent(task: TaskInput): TaskInput {
  return typeof task === "string" ? task : requireTask(task);
}

/** The session of a state. */
export function sessionOf(state: SessionState): AgentSession {
  const session = new AgentSession(state.sessionId);
  states.set(session, state);
  return session;
}

/** What a session holds. */
export function stateOf(session: AgentSession): SessionState {
  return states.get(session)!;
}
