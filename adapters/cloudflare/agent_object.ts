import { Agent } from "../../src/agent/agent.ts";
import type { AgentOptions } from "../../src/agent/options.ts";
import type { ControlReceipt } from "../../src/agent/steering.ts";
import { systemClock } from "../../src/base/ports.ts";
import { requireInteger } from "../../src/base/require.ts";
import { CompositeAgentEventSink } from "../../src/events/sink.ts";
import { toEventStream } from "../../src/http/event_stream.ts";
import type { TaskInput } from "../../src/messages/content.ts";
import type { AgentMessage } from "../../src/messages/message.ts";
import type { AgentRunResult } from "../../src/messages/result.ts";
import { SessionHistoryProvider } from "../../src/pipeline/session_history.ts";
import type { JournalOwner } from "../../src/session/export.ts";
import type { SessionBranch } from "../../src/session/tree.ts";
import { type AgentObject, answerRequest } from "./agent_routes.ts";
import { keptSessionId } from "./kept_session_id.ts";
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

/** What an object knows of itself when its agent is made. */
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
   * @default {the name that the object was asked for by, else its id}
   */
  readonly sessionId?: ((id: ObjectState["id"]) => string) | undefined;
  /**
   * Whether a run that was interrupted goes on by itself once its open calls are
   * closed. After three interruptions in a row it does not.
   *
   * @default {false}
   */
  readonly resume?: boolean | undefined;
  /** Milliseconds after which an interrupted run is found. @default {30000} */
  readonly alarmMs?: number | undefined;
}

/** What {@linkcode defineAgentObject} makes: a class to extend and export. */
export type AgentObjectClass<Base extends ObjectBase> = new (
  ctx: ObjectState,
  env: EnvironmentOf<Base>,
) => AgentObject & InstanceType<Base>;

const maxInterruptionCount = 3;

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

  abstract class ObjectWithAgent extends (base as ObjectBase)
    implements AgentObject {
    readonly #place: AgentPlace;
    readonly #alarm: RunAlarm;
    readonly #newAgent: () => Agent;
    #agent: Agent | undefined;

    constructor(ctx: ObjectState, env: EnvironmentOf<Base>) {
      super(ctx as never, env);
      const { id, storage } = ctx;
      const sessions = new DurableObjectSessionStorage(storage);
      const sessionId = keptSessionId(storage.sql, nameOf(id));
      const place = { sessionId, sessions };
      const alarm = new RunAlarm(storage, { alarmMs, clock: systemClock });
      this.#place = place;
      this.#alarm = alarm;
      this.#newAgent = () =>
        newAgent(options.agent(env, place), { place, alarm });
    }

    fetch(request: Request): Promise<Response> {
      const { sessionId, sessions } = this.#place;
      const journal: JournalOwner = sessions;
      return answerRequest(request, { object: this, journal, sessionId });
    }

    async run(task: TaskInput): Promise<AgentRunResult> {
      return await this.#present.run(task);
    }

    async stream(task: TaskInput): Promise<Response> {
      return await Promise.resolve(toEventStream(this.#present.stream(task)));
    }

    async continueStream(): Promise<Response> {
      return await Promise.resolve(
        toEventStream(this.#present.continueStream()),
      );
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

    async history(branchId?: string): Promise<readonly AgentMessage[]> {
      const { sessionId, sessions } = this.#place;
      const checkout = await sessions.checkout(sessionId, { branchId });
      return checkout?.session.messages ?? [];
    }

    async branches(): Promise<readonly SessionBranch[]> {
      const { sessionId, sessions } = this.#place;
      return await sessions.listBranches(sessionId);
    }

    async alarm(): Promise<void> {
      if (this.#agent?.lifecycle === "running") return await this.#alarm.set();
      const { sessionId, sessions } = this.#place;
      const recovery = await sessions.recoverInterruptedRun(sessionId, {
        reason: "object_evicted",
      });
      if (recovery.status === "clean" || !resume) return;
      const runs = recovery.checkout.session.runs.slice(-maxInterruptionCount);
      const isHopeless = runs.length === maxInterruptionCount &&
        runs.every((run) => run.recovery !== null);
      // Waited for, since the platform keeps an object whose alarm is not done.
      if (!isHopeless) await this.#present.continueRun();
    }

    get #present(): Agent {
      return this.#agent ??= this.#newAgent();
    }
  }
  return ObjectWithAgent as unknown as AgentObjectClass<Base>;
}

function newAgent(
  options: ObjectAgentOptions,
  { place, alarm }: { readonly place: AgentPlace; readonly alarm: RunAlarm },
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
