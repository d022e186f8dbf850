import { AgentConfigurationError, errorText } from "../base/errors.ts";
import { AgentShutdownError } from "../pipeline/errors.ts";
import type { Middleware } from "../pipeline/middleware.ts";
import { ToolShutdownError } from "../tools/errors.ts";
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
    await config.model.startup?.();
    try {
      await tools.startup();
      try {
        this.#requireFinishingTool();
      } catch (error) {
        await this.#rollBack(() => tools.shutdown());
        throw error;
      }
    } catch (error) {
      await this.#rollBack(() => config.model.shutdown?.());
      throw error;
    }
    this.#core.modelLayers = this.#active.filter((entry) =>
      entry.aroundModel !== undefined
    );
    this.#core.agentLayers = this.#active.filter((entry) =>
      entry.aroundRun !== undefined
    );
  }

  /** Stops everything in reverse order; nothing if it is not started. @throws {AgentShutdownError} */
  async shutdown(): Promise<void> {
    if (this.#pending === null) return await this.#stop();
    // A start-up that ignored its abort may never end; it is undone if it does.
    this.#keepPending(
      this.#pending.then(() => this.#rollBack(() => this.#stop())),
    );
  }

  async #stop(): Promise<void> {
    if (this.#status !== "ready") return;
    this.#status = "stopping";
    const errors: unknown[] = [];
    for (
      const stop of [
        () => this.#core.tools.shutdown(),
        () => this.#core.config.model.shutdown?.(),
      ]
    ) {
      try {
        await stop();
      } catch (error) {
        errors.push(
          ...error instanceof ToolShutdownError ? error.errors : [error],
        );
      }
    }
    this.#status = "stopped";
    if (errors.length > 0) throw new AgentShutdownError(errors);
  }

  get #active(): readonly Middleware[] {
    return this.#core.tools.activeLayers as readonly Middleware[];
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
        "give it a tool that completes the run or switch requireExplicitFinish off",
    );
  }

  async #rollBack(stop: () => void | Promise<void> | undefined): Promise<void> {
    try {
      await stop();
    } catch (error) {
      this.#core.config.logger.warn(
        "A resource failed to shut down after a start-up that was given up",
        {
          agentId: this.#core.config.agentId,
          error: errorText(error),
        },
      );
    }
  }
}
