import { detach } from "../base/abort.ts";
import { errorText } from "../base/errors.ts";
import { EventQueue } from "../base/event_queue.ts";
import { deepFreeze } from "../base/freeze.ts";
import type { Clock, IdSource, Logger } from "../base/ports.ts";
import type { AgentEvent } from "../events/event.ts";
import {
  type AgentRunResult,
  runResult,
  type RunStatus,
} from "../messages/result.ts";
import type { AgentRunStream } from "../pipeline/agent_like.ts";
import type { A2ATaskStore } from "./tasks.ts";
import {
  type A2AArtifact,
  type A2AFrame,
  type A2ATask,
  type A2ATaskState,
  type A2ATaskStatus,
  textOfParts,
  textPart,
} from "./wire.ts";

/** What serving a run takes. */
export interface ServedRunOptions {
  /** Keeps the task. */
  readonly tasks: A2ATaskStore;
  /** Stamps states. */
  readonly clock: Clock;
  /** Makes the ids of messages. */
  readonly ids: IdSource;
  /** Told why a run was rejected. */
  readonly logger: Logger;
  /** Whether clients read why a run failed. */
  readonly exposeErrors: boolean;
}

const stateOfStatus: Readonly<Record<RunStatus, A2ATaskState>> = {
  completed: "TASK_STATE_COMPLETED",
  failed: "TASK_STATE_FAILED",
  rejected: "TASK_STATE_REJECTED",
  cancelled: "TASK_STATE_CANCELED",
};

const apologies: Readonly<Partial<Record<A2ATaskState, string>>> = {
  TASK_STATE_FAILED: "The agent failed",
  TASK_STATE_REJECTED: "The agent refused the task",
};

/**
 * A run that is shown as a task.
 *
 * It goes at its own speed, whether or not anybody reads the frames. Only the
 * text of answers is shown: no thinking, no tools, no control inputs.
 */
export class ServedRun {
  /** The task, then what becomes of it; fails if the task could not be kept. */
  readonly frames: EventQueue<A2AFrame> = new EventQueue();
  /** The task when the run has settled; rejects if it could not be kept. */
  readonly settled: Promise<A2ATask>;
  readonly #stream: AgentRunStream;
  readonly #options: ServedRunOptions;
  #task: A2ATask;

  /** Starts the run. @param task Submitted, and kept already. */
  constructor(
    stream: AgentRunStream,
    task: A2ATask,
    options: ServedRunOptions,
  ) {
    this.#stream = stream;
    this.#options = options;
    this.#task = task;
    this.settled = this.#follow();
    detach(this.settled);
  }

  /** The task as it is now. */
  get task(): A2ATask {
    return this.#task;
  }

  /** Cancels the run and waits for its end. */
  async cancel(reason: string): Promise<A2ATask> {
    await this.#stream.close(reason);
    return await this.settled;
  }

  async #follow(): Promise<A2ATask> {
    try {
      this.frames.push({ task: this.#task });
      this.#finish(await this.#run());
      await this.#options.tasks.save(this.#task);
      this.frames.end();
      return this.#task;
    } catch (error) {
      this.#options.logger.warn("A task could not be kept", {
        taskId: this.#task.id,
        error: errorText(error),
      });
      this.frames.fail(error);
      throw error;
    }
  }

  /** The result; a failed one of a run that was rejected. */
  async #run(): Promise<AgentRunResult> {
    const shown = new ShownText((artifact, append) =>
      this.#addArtifact(artifact, append)
    );
    try {
      for await (const event of this.#stream) {
        if (this.#task.status.state === "TASK_STATE_SUBMITTED") {
          this.#setStatus({ state: "TASK_STATE_WORKING" });
        }
        shown.take(event);
      }
      const result = await this.#stream.finalResult();
      if (result.succeeded) shown.complete(result.output ?? "");
      return result;
    } catch (error) {
      this.#options.logger.warn("A served run was rejected", {
        taskId: this.#task.id,
        error: errorText(error),
      });
      return runResult({
        stopReason: "runtime_error",
        error: errorText(error),
      });
    }
  }

  #finish({ status, error, output }: AgentRunResult): void {
    const state = stateOfStatus[status];
    const { exposeErrors, ids } = this.#options;
    const apology = apologies[state];
    if (apology === undefined) return this.#setStatus({ state });
    const reason = status === "rejected" ? output : error;
    const text = exposeErrors ? reason ?? apology : apology;
    this.#setStatus({
      state,
      message: {
        messageId: ids.next(),
        role: "ROLE_AGENT",
        parts: [textPart(text)],
        contextId: this.#task.contextId,
        taskId: this.#task.id,
      },
    });
  }

  #setStatus(change: A2ATaskStatus): void {
    const timestamp = new Date(this.#options.clock.now()).toISOString();
    const status = { ...change, timestamp };
    this.#task = deepFreeze({ ...this.#task, status });
    const { id, contextId } = this.#task;
    this.frames.push({ statusUpdate: { taskId: id, contextId, status } });
  }

  #addArtifact(piece: A2AArtifact, append: boolean): void {
    const { id, contextId, artifacts = [] } = this.#task;
    const { artifactId } = piece;
    const others = artifacts.filter((one) => one.artifactId !== artifactId);
    const known = artifacts.find((one) => one.artifactId === artifactId);
    const before = append && known ? textOfParts(known.parts) : "";
    const parts = [textPart(before + textOfParts(piece.parts))];
    this.#task = deepFreeze({
      ...this.#task,
      artifacts: [...others, { ...piece, parts }],
    });
    this.frames.push({
      artifactUpdate: {
        taskId: id,
        contextId,
        artifact: piece,
        ...(append && { append }),
      },
    });
  }
}

/** Turns the answers of a run into artifacts, one for each message. */
class ShownText {
  readonly #show: (artifact: A2AArtifact, append: boolean) => void;
  #messages = 1;
  #text = "";
  #last = "";

  constructor(show: (artifact: A2AArtifact, append: boolean) => void) {
    this.#show = show;
  }

  take(event: AgentEvent): void {
    if (event.kind === "assistant_text_delta") {
      this.#add(event.delta);
    } else if (event.kind === "message_completed") {
      this.#settle(event.message.content ?? "");
    }
  }

  /** What the run comes to, unless it is what the last message said. */
  complete(output: string): void {
    if (output !== this.#last) this.#settle(output);
  }

  #add(delta: string): void {
    const append = this.#text !== "";
    this.#text += delta;
    this.#show(this.#artifact(delta), append);
  }

  /** Deltas are provisional; the message itself counts. */
  #settle(content: string): void {
    if (content.startsWith(this.#text)) {
      const rest = content.slice(this.#text.length);
      if (rest !== "") this.#add(rest);
    } else {
      this.#show(this.#artifact(content), false);
    }
    this.#last = content;
    if (content !== "" || this.#text !== "") this.#messages += 1;
    this.#text = "";
  }

  #artifact(text: string): A2AArtifact {
    return {
      artifactId: `message-${this.#messages}`,
      parts: [textPart(text)],
    };
  }
}
