import { detach } from "../base/abort.ts";
import { errorText } from "../base/errors.ts";
import { frozen } from "../base/freeze.ts";
import { isJsonObject } from "../base/json.ts";
import type { Logger } from "../base/ports.ts";
import type { ToolProgressUpdate } from "../messages/tool.ts";

/** Tells observers of a run how far a tool is. */
export interface ToolProgressReporter {
  /**
   * Reports one update.
   *
   * Updates of a call are delivered one at a time, in the order of the reports
   * and before the call counts as completed, whether or not they are awaited.
   * After the call, or once it is aborted, a report does nothing.
   *
   * @param update A text that is not empty, or a text with data for observers.
   * @param data Data for observers if the update is a text; not to be changed afterwards.
   * @returns Fulfils when every observer has handled the update.
   * @throws {TypeError} As a rejection: the update has no text.
   */
  report(update: ToolProgressInput, data?: unknown): Promise<void>;
}

/** What may be reported. */
export type ToolProgressInput =
  | string
  | { readonly message: string; readonly data?: unknown };

/** Where a channel delivers to and what ends it. */
export interface ProgressChannelOptions {
  /** Delivers one update to the observers. */
  readonly deliver: (update: ToolProgressUpdate) => void | Promise<void>;
  /** Its `aborted` drops whatever is not being delivered yet. */
  readonly cancellation: { readonly aborted: boolean };
  /** Told when a delivery fails. */
  readonly logger: Logger;
}

/** The reporter of one call. */
export class ProgressChannel implements ToolProgressReporter {
  readonly #options: ProgressChannelOptions;
  #closed = false;
  #last: Promise<void> | undefined;

  constructor(options: ProgressChannelOptions) {
    this.#options = options;
  }

  /** Queues one update behind those before it. */
  report(input: ToolProgressInput, data?: unknown): Promise<void> {
    let update: ToolProgressUpdate;
    try {
      update = progressUpdate(input, data);
    } catch (error) {
      const rejection = Promise.reject(error);
      detach(rejection); // A tool that does not await it must not end the process.
      return rejection;
    }
    if (this.#closed || this.#options.cancellation.aborted) {
      return Promise.resolve();
    }
    this.#last = this.#last === undefined
      ? this.#deliver(update)
      : this.#last.then(() => this.#deliver(update));
    return this.#last;
  }

  /**
   * Refuses further updates.
   *
   * @returns Fulfils when the accepted ones are delivered; undefined if there were none.
   */
  close(): Promise<void> | undefined {
    this.#closed = true;
    return this.#last;
  }

  async #deliver(update: ToolProgressUpdate): Promise<void> {
    const { cancellation, deliver, logger } = this.#options;
    if (cancellation.aborted) return;
    try {
      await deliver(update);
    } catch (error) {
      logger.warn("Tool progress could not be delivered", {
        error: errorText(error),
      });
    }
  }
}

/** A reporter that nobody listens to. */
export const silentProgress: ToolProgressReporter = frozen({
  report(input: ToolProgressInput, data?: unknown): Promise<void> {
    return new ProgressChannel(silence).report(input, data);
  },
});

const silence: ProgressChannelOptions = {
  deliver() {},
  cancellation: { aborted: true },
  logger: { warn() {} },
};

function progressUpdate(
  input: ToolProgressInput,
  data: unknown,
): ToolProgressUpdate {
  const update = isJsonObject(input)
    ? { message: input.message, data: input.data }
    : { message: input, data };
  if (typeof update.message !== "string" || update.message === "") {
    throw new TypeError("A progress update must have a message");
  }
  return frozen({ message: update.message, data: update.data });
}
