import type { Logger } from "../base/ports.ts";
import {
  type Resource,
  rollBack,
  shutDownAll,
  startAll,
  startUpEnded,
} from "../tools/resources.ts";
import { AgentShutdownError } from "./errors.ts";
import type { Middleware } from "./middleware.ts";

/** Starts and stops the middleware of an agent: all of it, or none. */
export class MiddlewareLife {
  readonly #middleware: readonly Middleware[];
  readonly #logger: Logger;
  /** What has started or is starting. */
  readonly #started: Resource[] = [];
  #active: readonly Middleware[] | undefined;
  #starting: Promise<readonly Middleware[]> | undefined;
  /** A start-up that a shutdown has ended, until it is over. */
  #ending: Promise<void> | undefined;
  #hasBegun = false;

  /** Starts nothing yet. @param middleware May grow until the first start-up. */
  constructor(middleware: readonly Middleware[], logger: Logger) {
    this.#middleware = middleware;
    this.#logger = logger;
  }

  /** True since the first start-up. */
  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  /**
   * Starts what is enabled, or goes on with a start-up that was left.
   *
   * @returns What is started. @throws What failed, after a roll-back.
   */
  async start(agentId: string): Promise<readonly Middleware[]> {
    await this.#ending;
    return this.#active ?? await (this.#starting ??= this.#startAnew(agentId));
  }

  /** Stops what is started or starting. @throws {AgentShutdownError} Something failed to stop. */
  async shutdown(): Promise<void> {
    this.#ending = this.#starting?.then(ignore, ignore);
    this.#active = undefined;
    const errors = await shutDownAll(this.#started.splice(0));
    if (errors.length > 0) throw new AgentShutdownError(errors);
  }

  async #startAnew(agentId: string): Promise<readonly Middleware[]> {
    this.#hasBegun = true;
    const wanted = this.#middleware.filter((entry) => entry.enabled !== false);
    const started = this.#started;
    try {
      await startAll(wanted, started);
      // A shutdown may come between the last step and this one.
      if (started.length < wanted.length) throw startUpEnded();
      return this.#active = wanted;
    } catch (error) {
      await rollBack(started.splice(0), this.#logger, { agentId });
      throw error;
    } finally {
      this.#starting = undefined;
    }
  }
}

function ignore(): void {}
