import { AgentConfigurationError } from "../base/errors.ts";
import { AgentShutdownError } from "../pipeline/errors.ts";
import type { Middleware } from "../pipeline/middleware.ts";
import { ToolShutdownError } from "../tools/errors.ts";
import {
  type Resource,
  rollBack,
  shutDownAll,
  startUpEnded,
} from "../tools/resources.ts";
import type { AgentCore } from "./core.ts";

/** What an agent's resources are doing. */
export type AgentLifecycle =
  | "new"
  | "starting"
  | "ready"
  | "running"
  | "stopping"
  | "stopped";

/** Options of a shutdown. */
export interface ShutdownOptions {
  /** Aborts what is active first, with this reason; without it the shutdown waits. */
  readonly abort?: string | undefined;
}

/**
 * Starts and stops what an agent owns: the model adapter, tools and middleware.
 *
 * Start-up is all or nothing: whatever was started before a failure is shut down
 * again, in reverse order.
 */
export class AgentResources {
  readonly #core: AgentCore;
  #status: "new" | "starting" | "ready" | "stopping" | "stopped" = "new";
  #skillsDiscovered = false;
  /** A start-up under way, for whoever comes after an aborted run; never rejects. */
  #pending: Promise<void> | null = null;

  /** Nothing is started yet. */
  constructor(core: AgentCore) {
    this.#core = core;
  }

  /** Where the resources are in their life. */
  get status(): Exclude<AgentLifecycle, "running"> {
    return this.#status;
  }

  /** Starts everything; nothing if it is started. @throws What failed, after the roll-back. */
  async startup(): Promise<void> {
    while (this.#pending !== null) await this.#pending;
    if (this.#status === "ready") return;
    const starting = this.#startOnce();
    this.#keepPending(starting.catch(() => {}));
    await starting;
  }

  async #startOnce(): Promise<void> {
    const before = this.#status;
    this.#status = "starting";
    try {
      await this.#start();
      this.#status = "ready";
    } catch (error) {
      this.#status = before;
      throw error;
    }
  }

  #keepPending(work: Promise<void>): void {
    const pending = work.then(() => {
      if (this.#pending === pending) this.#pending = null;
    });
    this.#pending = pending;
  }

  async #start(): Promise<void> {
    const { config, tools } = this.#core;
    if (config.skills !== null && !this.#skillsDiscovered) {
      await config.skills.discover();
      this.#skillsDiscovered = true;
    }
    this.#requireStarting();
    await config.model.startup?.();
    try {
      this.#requireStarting();
      await tools.startup();
      this.#requireFinishingTool();
    } catch (error) {
      await this.#rollBack(config.model, tools);
      throw error;
    }
    const active = tools.activeLayers as readonly Middleware[];
    this.#core.modelLayers = active.filter(({ aroundModel }) => aroundModel);
    this.#core.agentLayers = active.filter(({ aroundRun }) => aroundRun);
  }

  #requireStarting(): void {
    if (this.#status === "stopping") throw startUpEnded();
  }

  /**
   * Stops everything in reverse order, and ends a start-up that is under way; nothing if
   * there is neither. @throws {AgentShutdownError}
   */
  async shutdown(): Promise<void> {
    if (this.#pending === null) return await this.#stop();
    if (this.#status === "starting") this.#status = "stopping";
    // A start-up that does not mind may never end; it is undone if it does.
    this.#keepPending(
      this.#pending.then(() =>
        this.#rollBack({ shutdown: () => this.#stop() })
      ),
    );
    await this.#rollBack(this.#core.tools);
  }

  async #stop(): Promise<void> {
    if (this.#status !== "ready") return;
    this.#status = "stopping";
    const { config, tools } = this.#core;
    const failures = await shutDownAll([config.model, tools]);
    const errors = failures.flatMap((error) =>
      error instanceof ToolShutdownError ? error.errors : [error]
    );
    this.#status = "stopped";
    if (errors.length > 0) throw new AgentShutdownError(errors);
  }

  // Tools of context providers come later, so only an agent without either can never finish.
  #requireFinishingTool(): void {
    const { config, tools } = this.#core;
    if (!config.runtimePolicy.requireExplicitFinish) return;
    if (
      tools.toolDefinitions.length > 0 || config.contextProviders.length > 0
    ) return;
    throw new AgentConfigurationError(
      `Agent "${config.agentId}" must finish through a tool but has none; ` +
        "give it one or switch requireExplicitFinish off",
    );
  }

  async #rollBack(...resources: readonly Resource[]): Promise<void> {
    const { agentId, logger } = this.#core.config;
    await rollBack(resources, logger, { agentId });
  }
}
