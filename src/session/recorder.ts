import { Gate } from "../base/gate.ts";
import { type IdSource, randomIds } from "../base/ports.ts";
import {
  requireBoolean,
  requireMethods,
  requireObject,
  requireType,
} from "../base/require.ts";
import type { AgentEvent } from "../events/event.ts";
import type { AgentEventSink } from "../events/sink.ts";
import type { ModelToolCall } from "../messages/tool.ts";
import { SessionStorageError, SessionUnsupportedError } from "./errors.ts";
import { changeOf, type EventChange } from "./event_records.ts";
import {
  DEFAULT_SESSION_BRANCH,
  requireBranchId,
  requireSessionId,
} from "./ids.ts";
import { applyRecord } from "./projection.ts";
import type { SessionRecord, SessionRecordDraft } from "./record.ts";
import { type AgentSession, sessionOf, stateOf } from "./session.ts";
import { emptyState, type SessionState } from "./state.ts";
import {
  isTreeStorage,
  type SessionCheckout,
  type SessionStorage,
  type SessionTreeStorage,
} from "./storage.ts";

/** How a {@linkcode SessionRecorder} works. */
export interface SessionRecorderOptions {
  /** Where the session is kept. One without branches is given the whole session after every event. */
  readonly storage: SessionStorage;
  /** The session; trimmed. It begins with the first event if it does not exist. */
  readonly sessionId: string;
  /** The branch; trimmed. It must exist unless it is `main`. @default {"main"} */
  readonly branchId?: string | undefined;
  /**
   * True if a run must not go on unrecorded.
   *
   * @default {true}
   */
  readonly required?: boolean | undefined;
  /**
   * Writes down, for every call or for those chosen, that a call is about to
   * begin, so that a recovery can tell calls that may have taken effect from
   * calls that never began. Costs one more append per call; choose the calls
   * with side effects.
   *
   * @default {false}
   */
  readonly journalToolStarts?:
    | boolean
    | ((call: ModelToolCall) => boolean)
    | undefined;
  /** Told once per run of the first failure. */
  readonly onFailure?: ((error: unknown) => void) | undefined;
  /** Names records; an id must never come again, not even after a restart. @default {randomIds} */
  readonly ids?: IdSource | undefined;
}

interface RecordedRun {
  readonly runId: string;
  /** Undefined until the first record: whatever the branch holds then is caught up with. */
  expectedHead: string | null | undefined;
  /** The session so far, for storages that take it whole. */
  state: SessionState | undefined;
  failure: { readonly error: unknown } | null;
}

/**
 * Records the runs of an agent as they happen.
 *
 * Each event that changes the session becomes one record, stored before the run
 * goes on: an answer with calls is durable before any of its tools starts. Within
 * a run nobody else may write to the branch; the first failure, a conflict
 * included, ends the recording of that run, so that the journal never has a hole.
 *
 * As an event sink of an agent it only records. To load the session as well, use
 * a `SessionHistoryProvider`.
 *
 * @example Record an agent
 * ```ts
 * import { Agent, MemorySessionStorage, SessionRecorder } from "@ejagent/core";
 * import { ScriptedModel, text } from "@ejagent/core/testing";
 * import { equal } from "node:assert/strict";
 *
 * const storage = new MemorySessionStorage();
 * const agent = new Agent({
 *   agentId: "helper",
 *   model: new ScriptedModel([text("Hi!")]),
 *   eventSink: new SessionRecorder({ storage, sessionId: "s1" }),
 * });
 * await agent.run("Hello?");
 * equal((await storage.load("s1"))?.messages.length, 2);
 * ```
 */
export class SessionRecorder implements AgentEventSink {
  /** The session. */
  readonly sessionId: string;
  /** The branch. */
  readonly branchId: string;
  /** Where the session is kept. */
  readonly storage: SessionStorage;
  /** True if a run must not go on unrecorded. */
  readonly required: boolean;
  readonly #tree: SessionTreeStorage | null;
  readonly #marksStart: (call: ModelToolCall) => boolean;
  readonly #onFailure: ((error: unknown) => void) | undefined;
  readonly #ids: IdSource;
  readonly #gate = new Gate();
  #run: RecordedRun | undefined;
  #startHead: string | null | undefined;
  #head: string | null | undefined;

  /**
   * Makes a recorder.
   *
   * @throws {TypeError} Wrong options. @throws {RangeError} Blank ids.
   * @throws {SessionUnsupportedError} Another branch than `main`, and the storage has none.
   */
  constructor(options: SessionRecorderOptions) {
    const { storage, onFailure, journalToolStarts = false, ids = randomIds } =
      requireObject("The options of a SessionRecorder", options);
    requireMethods("storage", storage, ["load", "save"]);
    requireMethods("ids", ids, ["next"]);
    requireType(
      onFailure === undefined || typeof onFailure === "function",
      "onFailure",
      "a function",
    );
    this.storage = storage;
    this.#tree = isTreeStorage(storage) ? storage : null;
    this.sessionId = requireSessionId(options.sessionId);
    this.branchId = requireBranchId(options.branchId);
    this.required = requireBoolean("required", options.required ?? true);
    this.#marksStart = markerOf(journalToolStarts);
    this.#onFailure = onFailure;
    this.#ids = ids;
    if (this.branchId !== DEFAULT_SESSION_BRANCH && this.#tree === null) {
      throw new SessionUnsupportedError(
        `The storage has no branches, so "${this.branchId}" cannot be recorded to; use a tree storage`,
      );
    }
  }

  /** What ended the recording of the current or last run; null if nothing did. */
  get failure(): unknown {
    return this.#run?.failure?.error ?? null;
  }

  /**
   * The next run goes on from this checkout and from nothing newer: if the
   * branch has moved on by then, its first record is refused.
   *
   * Agents call it when they restore a session. A checkout of another session or
   * branch is ignored.
   */
  continueFrom({ branch, session, head }: SessionCheckout): void {
    if (
      session.sessionId !== this.sessionId || branch.branchId !== this.branchId
    ) return;
    this.expectHead(head.recordId);
  }

  /**
   * The next run goes on from this record and from nothing newer.
   *
   * @param recordId Newest record of the branch; null if it must have none.
   */
  expectHead(recordId: string | null): void {
    this.#startHead = this.#head = recordId;
  }

  /**
   * The newest record that this recorder wrote or was told to expect; null for
   * an empty branch, undefined before either.
   */
  get head(): string | null | undefined {
    return this.#head;
  }

  /** The session on the branch of this recorder; null if there is none. */
  async load(): Promise<AgentSession | null> {
    if (this.#tree === null) return await this.storage.load(this.sessionId);
    const checkout = await this.#tree.checkout(this.sessionId, {
      branchId: this.branchId,
    });
    return checkout?.session ?? null;
  }

  /**
   * Records one event, if it changes the session.
   *
   * @returns Nothing if the event leaves no record, else a promise that it is stored.
   * @throws What the storage throws, once; later events of the run are ignored.
   */
  emit(event: AgentEvent): Promise<void> | undefined {
    const change = changeOf(event, this.#marksStart);
    return change === null ? undefined : this.#record(event, change);
  }

  async #record(event: AgentEvent, change: EventChange): Promise<void> {
    const turn = this.#gate.enter();
    if (turn !== undefined) await turn;
    const run = this.#runOf(event);
    try {
      if (run.failure === null) await this.#store(event, change, run);
    } catch (error) {
      run.failure = { error };
      this.#onFailure?.(error);
      throw error;
    } finally {
      this.#gate.leave();
    }
  }

  #store(
    { agentId, sequence }: AgentEvent,
    { kind, data }: EventChange,
    run: RecordedRun,
  ): Promise<void> {
    const { sessionId, branchId } = this;
    const draft = {
      sessionId,
      branchId,
      agentId,
      sequence,
      kind,
      data,
    } as SessionRecordDraft;
    return this.#tree === null
      ? this.#saveWith(draft, run)
      : this.#append(this.#tree, draft, run);
  }

  #runOf({ runId }: AgentEvent): RecordedRun {
    if (this.#run?.runId !== runId) {
      const expectedHead = this.#startHead;
      this.#run = { runId, expectedHead, state: undefined, failure: null };
    }
    return this.#run;
  }

  async #append(
    storage: SessionTreeStorage,
    draft: SessionRecordDraft,
    run: RecordedRun,
  ): Promise<void> {
    const options = {
      expectedHead: run.expectedHead,
      recordId: this.#ids.next(),
    };
    this.#startHead = undefined;
    let record: SessionRecord;
    try {
      record = await storage.append(draft, { ...options, freshId: true });
    } catch (error) {
      if (!(error instanceof SessionStorageError && error.retryable)) {
        throw error;
      }
      // The same id, so that a record which was stored after all is not stored twice.
      record = await storage.append(draft, options);
    }
    run.expectedHead = this.#head = record.recordId;
    if (draft.kind === "run_finished") await this.#checkpoint(storage);
  }

  async #checkpoint(storage: SessionTreeStorage): Promise<void> {
    try {
      const checkpoint = await storage.checkpointIfDue?.(this.sessionId);
      if (checkpoint?.branchId === this.branchId) {
        this.#head = checkpoint.recordId;
      }
    } catch {
      // The run is recorded, and a checkpoint only saves reading time. If the
      // storage is broken, the next run is told.
    }
  }

  async #saveWith(draft: SessionRecordDraft, run: RecordedRun): Promise<void> {
    const place = {
      branchId: this.branchId,
      recordId: "",
      parentId: null,
      revision: 1,
    };
    const record = { ...draft, ...place, createdAt: null } as SessionRecord;
    const state = run.state ?? await this.#loadedState();
    run.state = applyRecord(state, record);
    await this.storage.save(sessionOf(run.state));
  }

  async #loadedState(): Promise<SessionState> {
    const session = await this.storage.load(this.sessionId);
    return session === null ? emptyState(this.sessionId) : stateOf(session);
  }
}

function markerOf(
  chosen: boolean | ((call: ModelToolCall) => boolean),
): (call: ModelToolCall) => boolean {
  if (typeof chosen === "function") return chosen;
  requireType(
    typeof chosen === "boolean",
    "journalToolStarts",
    "true, false or a function",
  );
  return () => chosen;
}
