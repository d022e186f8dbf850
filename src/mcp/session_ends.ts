import { withDeadline } from "../base/deadline.ts";
import type { Clock, Logger } from "../base/ports.ts";
import { serverFailure } from "./failure.ts";
import type { McpSession } from "./session.ts";

const terminateTimeoutMs = 2000;
// The SDK gives a program two seconds before each signal.
const closeTimeoutMs = 5000;

/** Ends the sessions of one server that are no longer used. */
export class SessionEnds {
  readonly #server: string;
  readonly #clock: Clock;
  readonly #logger: Logger;
  /** Sessions that wait for their last calls. */
  readonly #waiting = new Set<McpSession>();
  readonly #closing = new Set<Promise<void>>();

  /** Ends nothing yet. */
  constructor(
    server: string,
    { clock, logger }: { readonly clock: Clock; readonly logger: Logger },
  ) {
    this.#server = server;
    this.#clock = clock;
    this.#logger = logger;
  }

  /** Closes a session. Only `finish` waits for it: a program that hangs takes seconds to end. */
  close(session: McpSession): void {
    this.#waiting.delete(session);
    const closing: Promise<void> = withDeadline(() => session.close(), {
      clock: this.#clock,
      ms: closeTimeoutMs,
      what: `Closing the connection to MCP server ${this.#server}`,
    }).catch(() => {}).finally(() => this.#closing.delete(closing));
    this.#closing.add(closing);
  }

  /** Closes a session as soon as no call waits for an answer of it. */
  closeWhenIdle(session: McpSession): void {
    this.#waiting.add(session);
    void session.callsSettled().then(() => {
      if (this.#waiting.has(session)) this.close(session);
    });
  }

  /** Closes a session after telling a server that keeps it. */
  async terminate(session: McpSession): Promise<void> {
    const say = (error: unknown) =>
      this.#logger.info?.(
        "An MCP server could not be told that its session ends",
        {
          server: this.#server,
          error: serverFailure(error, this.#server).message,
        },
      );
    await withDeadline(() => session.terminate(), {
      clock: this.#clock,
      ms: terminateTimeoutMs,
      what: `Ending the session with MCP server ${this.#server}`,
    }).catch(say);
    this.close(session);
  }

  /** Closes what waits, and resolves when everything is closed. */
  async finish(): Promise<void> {
    for (const session of this.#waiting) this.close(session);
    await Promise.all(this.#closing);
  }
}
