import { Agent } from "../../src/agent/agent.ts";
import type { AgentOptions } from "../../src/agent/options.ts";
import type { ControlReceipt } from "../../src/agent/steering.ts";
import { AgentConfigurationError, errorText } from "../../src/base/errors.ts";
import {
  consoleLogger,
  containedLogger,
  type Logger,
  systemClock,
} from "../../src/base/ports.ts";
import { requireInteger } from "../../src/base/require.ts";
import { CompositeAgentEventSink } from "../../src/events/sink.ts";
import { toEventStream } from "../../src/http/event_stream.ts";
import type { TaskInput } from "../../src/messages/content.ts";
import { SessionHistoryProvider } from "../../src/pipeline/session_history.ts";
import type { JournalOwner } from "../../src/session/export.ts";
import { SessionArgumentError } from "../../src/session/errors.ts";
import { DEFAULT_SESSION_BRANCH } from "../../src/session/ids.ts";
import type { SessionBranch } from "../../src/session/tree.ts";
import { type AgentObject, answerRequest } from "./agent_routes.ts";
import { begun } from "./begun_stream.ts";
import { ObjectBusyError } from "./object_busy.ts";
import { ObjectFacts } from "./object_facts.ts";
import type { ObjectMessage, ObjectRunResult } from "./rpc_types.ts";
import { isToBeResumed, ResumeAttempts } from "./resumption.ts";
import { RunAlarm } from "./run_alarm.ts";
import { DurableObjectSessionStorage } from "./session_storage.ts";
import type { ObjectState } from "./storage_types.ts";

/** The class `DurableObject` of `cloudflare:workers`, with the type of its environment. */
export type ObjectBase = abstract new (ctx: never, env: never) => object;

/** The environment of a class: the second parameter of its constructor. */
export type EnvironmentOf<Base extends ObjectBase> = ConstructorParameters<
  Base
>[1];

/** The options of an agent, but for its history, which is the session of the object. */
export type ObjectAgentOptions = Omit<AgentOptions, "history">;

/**
 * What an object knows of itself: given to what makes its agent, and a part of
 * `this` in a class that extends it, to fork the session for example. RPC does
 * not reach it.
 */
export interface AgentPlace {
  /** The session of the object. */
  readonly sessionId: string;
  /** The storage that holds it. */
  readonly sessions: DurableObjectSessionStorage;
}

/** How agents live in Durable Objects. */
export interface AgentObjectOptions<Env> {
  /**
   * Makes the options of the object's agent, when it is first needed. Bindings
   * and keys are in `env`; nothing of an agent belongs into a module's scope.
   */
  readonly agent: (env: Env, place: AgentPlace) => ObjectAgentOptions;
  /**
   * Names the session of an object; asked when the object is made and kept in it.
   *
   * A journal goes only into an object with its own session id. Objects that are
   * asked for by `newUniqueId` have no name, so their session is their id: say
   * `sessionId: () => "chat"` if journals shall move between them.
   *
   * @default {the name that the object was asked for by, else its id}
   */
  readonly sessionId?: ((id: ObjectState["id"]) => string) | undefined;
  /**
   * Whether a run that was interrupted goes on by itself once its open calls are
   * closed. It does not after three interruptions in a row, nor behind an answer
   * without calls. If the agent cannot be started it is tried six times, each
   * time after twice as many `alarmMs`.
   *
   * @default {false}
   */
  readonly resume?: boolean | undefined;
  /** Milliseconds after which an interrupted run is found. @default {30000} */
  readonly alarmMs?: number | undefined;
  /**
   * Told of requests that failed inside, and of what is odd about a stored
   * session; the agent has a logger of its own.
   *
   * @default {consoleLogger}
   */
  readonly logger?: Logger | undefined;
}

/** What {@linkcode defineAgentObject} makes: a class to extend and export. */
export type AgentObjectClass<Base extends ObjectBase> = new (
  ctx: ObjectState,
  env: EnvironmentOf<Base>,
) => AgentObject & AgentPlace & InstanceType<Base>;

/**
 * A class of Durable Objects that are agents, one agent and one session each.
 *
 * Runs are recorded in the object while they happen. If the object is evicted or
 * crashes in the middle of one, its alarm brings it back: calls that were open
 * are answered as interrupted, no tool is run twice, and with `resume` the run
 * goes on. Between runs the object holds no timer and can hibernate.
 *
 * @param base `DurableObject` of `cloudflare:workers`; it is yours to import,
 * so that this package names no platform module.
 *
 * @example A Worker
 * ```ts ignore
 * import { ChatModelAdapter, createModelConfig } from "@ejagent/core/chat";
 * import { defineAgentObject } from "@ejagent/core/cloudflare";
 * import { DurableObject } from "cloudflare:workers";
 *
 * interface Env {
 *   CHAT: DurableObjectNamespace<Chat>;
 *   API_KEY: string;
 * }
 *
 * export class Chat extends defineAgentObject(DurableObject<Env>, {
 *   agent: (env) => ({
 *     agentId: "chat",
 *     model: new ChatModelAdapter(
 *       createModelConfig({ model: "gpt-5", apiKey: env.API_KEY }),
 *     ),
 *   }),
 *   resume: true,
 * }) {}
 *
 * export default {
 *   fetch: (request: Request, env: Env) =>
 *     env.CHAT.getByName("user-1").fetch(request),
 * };
 * ```
 */
export function defineAgentObject<Base extends ObjectBase>(
  base: Base,
  options: AgentObjectOptions<EnvironmentOf<Base>>,
): AgentObjectClass<Base> {
  const { resume = false } = options;
  const alarmMs = requireInteger("alarmMs", options.alarmMs ?? 30_000, 1);
  const nameOf = options.sessionId ?? ((id) => id.name ?? id.toString());

  const logger = containedLogger(options.logger ?? consoleLogger);

  abstract class ObjectWithAgent extends (base as ObjectBase)
    implements AgentObject, AgentPlace {
    readonly sessionId: string;
    readonly sessions: DurableObjectSessionStorage;
    readonly #alarm: RunAlarm;
    readonly #attempts: ResumeAttempts;
    readonly #newAgent: () => Agent;
    #agent: Agent | undefined;
    #isStoring = false;

    constructor(ctx: ObjectState, env: EnvironmentOf<Base>) {
      super(ctx as never, env);
      const { id, storage } = ctx;
      const sessions = new DurableObjectSessionStorage(storage, { logger });
      const facts = new ObjectFacts(storage.sql, nameOf(id));
      const { sessionId } = facts;
      const place = { sessionId, sessions };
      const attempts = new ResumeAttempts(facts);
      const alarm = new RunAlarm(storage, {
        alarmMs,
        clock: systemClock,
        attempts,
      });
      this.sessionId = sessionId;
      this.sessions = sessions;
      this.#alarm = alarm;
      this.#attempts = attempts;
      this.#newAgent = () =>
        newAgent(() => options.agent(env, place), { place, alarm });
    }

    fetch(request: Request): Promise<Response> {
      const journal: JournalOwner = this.sessions;
      return answerRequest(request, {
        object: this,
        journal,
        sessionId: this.sessionId,
        agentId: () => this.#present.agentId,
        storing: (work) => this.#storing(work),
        logger,
      });
    }

    async run(task: TaskInput): Promise<ObjectRunResult> {
      return await this.#present.run(task);
    }

    async stream(task: TaskInput): Promise<Response> {
      const stream = this.#present.stream(task);
      return await Promise.resolve(toEventStream(stream, { logger }));
    }

    async continueStream(): Promise<Response> {
      const stream = await begun(this.#present.continueStream());
      return toEventStream(stream, { logger });
    }

    async steer(content: string): Promise<ControlReceipt> {
      const receipt = this.#present.steer(content);
      return await Promise.resolve(plain(receipt));
    }

    async followUp(task: TaskInput): Promise<ControlReceipt> {
      const { receipt } = this.#present.followUp(task);
      return await Promise.resolve(plain(receipt));
    }

    async abort(reason?: string): Promise<boolean> {
      return await Promise.resolve(this.#agent?.abort(reason) ?? false);
    }

    async history(branchId?: string): Promise<readonly ObjectMessage[]> {
      const { sessionId, sessions } = this;
      const checkout = await sessions.checkout(sessionId, { branchId });
      if (checkout !== null) return checkout.session.messages;
      if ((branchId ?? DEFAULT_SESSION_BRANCH) === DEFAULT_SESSION_BRANCH) {
        return [];
      }
      throw new SessionArgumentError(
        "unknown_branch",
        `Session "${sessionId}" has no branch "${branchId}"`,
      );
    }

    async branches(): Promise<readonly SessionBranch[]> {
      return await this.sessions.listBranches(this.sessionId);
    }

    async alarm(): Promise<void> {
      if (this.#isBusy) return await this.#alarm.set();
      const { sessionId, sessions } = this;
      await sessions.recoverInterruptedRun(sessionId, {
        reason: "object_evicted",
      });
      if (!resume || !isToBeResumed(await sessions.load(sessionId))) return;
      if (this.#isBusy) return await this.#alarm.set();
      await this.#resume();
    }

    async #resume(): Promise<void> {
      const attempt = this.#attempts.begin();
      if (attempt === null) return;
      // Nothing else finds the run again if this start-up fails or never ends.
      await this.#alarm.set(2 ** attempt);
      try {
        // Waited for, since the platform keeps an object whose alarm is not done.
        await this.#present.continueRun();
      } catch (error) {
        const details = { sessionId: this.sessionId, error: errorText(error) };
        logger.warn("An interrupted run could not go on", details);
      }
    }

    /** Stores a journal with nobody else writing to it. */
    async #storing<T>(work: () => Promise<T>): Promise<T> {
      if (this.#isBusy) {
        throw new ObjectBusyError(
          "A run is active in this object; put the journal once it has ended",
        );
      }
      this.#isStoring = true;
      try {
        return await work();
      } finally {
        this.#isStoring = false;
      }
    }

    get #isBusy(): boolean {
      return this.#isStoring ||
        this.#agent?.continueRejectionReason === "agent_active";
    }

    get #present(): Agent {
      if (this.#isStoring) {
        throw new ObjectBusyError(
          "A journal is being stored in this object; ask again once that has ended",
        );
      }
      return this.#agent ??= this.#newAgent();
    }
  }
  return ObjectWithAgent as unknown as AgentObjectClass<Base>;
}

interface AgentParts {
  readonly place: AgentPlace;
  readonly alarm: RunAlarm;
}

function newAgent(
  optionsOf: () => ObjectAgentOptions,
  parts: AgentParts,
): Agent {
  try {
    return agentWith(optionsOf(), parts);
  } catch (cause) {
    // A wrong setting must not look like a wrong request.
    throw new AgentConfigurationError(
      `The agent of session "${parts.place.sessionId}" cannot be made: ${
        errorText(cause)
      }`,
      { cause },
    );
  }
}

function agentWith(
  options: ObjectAgentOptions,
  { place, alarm }: AgentParts,
): Agent {
  const { sessionId, sessions: storage } = place;
  const sinks = options.eventSink === undefined ? [] : [options.eventSink];
  return new Agent({
    ...options,
    eventSink: new CompositeAgentEventSink([alarm, ...sinks]),
    // Only this object writes here, so a run that is open is one that was interrupted.
    history: new SessionHistoryProvider({
      storage,
      sessionId,
      onUnfinished: "recover",
    }),
  });
}

/** A receipt without what cannot be sent: the promise of an outcome. */
function plain(
  { control, status, queueSize, accepted }: ControlReceipt,
): ControlReceipt {
  return { control, status, queueSize, accepted };
}
